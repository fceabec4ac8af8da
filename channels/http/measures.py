"""How long requests take until they are answered, by route: of a webhook, the time until its provider may forget.

What is posted begins a trace. A sender's own `traceparent` is left alone: nobody outside may put words into our traces.
"""

import time
from http import HTTPStatus

from aiohttp import web
from aiohttp.typedefs import Handler

from core import metrics, tracing
from core.tracing import SpanKind


@web.middleware
async def measure_requests(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Time an answer. A stream, whose end says nothing, and a sender who hung up are left out."""
    if request.method != "POST" or not tracing.is_on():
        return await _measured(request, handler)
    route = _route(request)
    attributes = {"http.request.method": request.method, "http.route": route}
    with tracing.span(f"POST {route}", SpanKind.SERVER, attributes):
        return await _measured(request, handler)


async def _measured(request: web.Request, handler: Handler) -> web.StreamResponse:
    began = time.monotonic()
    try:
        response = await handler(request)
    except web.HTTPException as answer:
        _observe(request, answer.status, began)
        raise
    if not response.prepared:
        _observe(request, response.status, began)
    return response


def _observe(request: web.Request, status: int, began: float) -> None:
    metrics.ACKNOWLEDGEMENT_SECONDS.labels(_route(request), str(status)).observe(time.monotonic() - began)
    tracing.note(
        {"http.response.status_code": status}, error=str(status) if status >= HTTPStatus.INTERNAL_SERVER_ERROR else ""
    )


def _route(request: web.Request) -> str:
    # The pattern of the route, never the path: that may be a link with a secret, or anything that a stranger makes up.
    resource = request.match_info.route.resource
    return resource.canonical if resource is not None else metrics.UNKNOWN
