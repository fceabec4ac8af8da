"""Requests and answers of the routes under /bench: JSON, with a sentence for an error."""

import json
from collections.abc import Awaitable, Callable
from functools import wraps

from aiohttp import web

from core.errors import RequestRefused, StoreUnavailable
from core.json_types import JsonObject

AWAY = "The database cannot be reached at the moment."

type Handler = Callable[[web.Request], Awaitable[JsonObject]]


def answered(handler: Handler) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Answer in JSON: with the handler's result, or with an "error" in a sentence."""

    @wraps(handler)
    async def run(request: web.Request) -> web.StreamResponse:
        try:
            return web.json_response(await handler(request))
        except RequestRefused as refusal:
            return web.json_response({"error": refusal.reason}, status=refusal.status)
        except StoreUnavailable:
            return web.json_response({"error": AWAY}, status=503)

    return run


async def object_of(request: web.Request) -> JsonObject:
    """Return the object in a request's body. Raises `RequestRefused`."""
    # A form or text/plain post needs no consent of the browser; JSON does.
    if request.content_type != "application/json":
        raise RequestRefused("The body must be JSON, sent as application/json.")
    try:
        values = json.loads(await request.read())
    except ValueError:
        raise RequestRefused("The body is not JSON.") from None
    if not isinstance(values, dict):
        raise RequestRefused("The body must be a JSON object.")
    return values
