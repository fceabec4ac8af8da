"""What a route knows of a request from memory alone: whether whoever sends it shows something that only we could give.

A source that sent too many bad requests is refused before any handler, unless the request shows such a proof: behind a
proxy all come from one source, and a sender of rubbish must not shut out the others. A route that states no proof is
shut to a source beyond its limit.
"""

import functools
from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from aiohttp import web

type Proof = Callable[[web.Request], str | None]
"""Returns what a request shows, by which its refusals are counted instead of by its source; None where it is nothing.

Empty: the handler itself refuses from memory, and is always asked.
"""

_PROOFS: WeakKeyDictionary[Callable[[web.Request], Awaitable[web.StreamResponse]], Proof] = WeakKeyDictionary()


def proven(route: web.RouteDef, proof: Proof) -> web.RouteDef:
    """Return a route whose requests prove themselves so."""
    handler = route.handler

    @functools.wraps(handler)
    async def answer(request: web.Request) -> web.StreamResponse:
        response: web.StreamResponse = await handler(request)
        return response

    _PROOFS[answer] = proof
    return web.RouteDef(route.method, route.path, answer, route.kwargs)


def proves_in_its_handler(_: web.Request) -> str | None:
    """Leave the proof to the handler, which looks at nothing but memory before it has it: webhooks, events, health."""
    return ""


def shown_by(request: web.Request) -> str | None:
    """Return the proof that a request shows to its route, as `Proof` does."""
    proof = _PROOFS.get(request.match_info.handler)
    return proof(request) if proof is not None else None
