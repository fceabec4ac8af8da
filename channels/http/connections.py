"""The open connections, those that wait, and the choice of the connection to close if there are too many.

A connection waits while no whole request of it is being handled: before the first request, between two, in the middle
of an incomplete one, or while its client reads no answers. A client may hold any number until room is needed. Then a
source with many waiting connections loses the connection that has waited longest, so it cannot shut others out, and a
busy proxy, whose clients share an address, loses an idle one.

A request's proof is checked from memory alone: it must carry a secret that only we could have issued. A source that
sent too many bad requests is refused before any handler, unless the request carries such a proof: behind a proxy all
requests come from the same source, and a sender of rubbish must not shut out the others. A route that states no proof
is shut to a source beyond its limit.
"""

import functools
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from ipaddress import IPv6Address, ip_address
from weakref import WeakKeyDictionary

from aiohttp import web

SHARE = 8
"""A source whose share of the waiting connections is more than one in this many makes room first."""
PROVEN_REMEMBERED = 1000


class Connections[Connection: Hashable]:
    """Keep account of connections by source, and remember which sources have proved their origin.

    `limit` is how many are held at once.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sources: dict[Connection, str] = {}
        self._waiting: dict[str, OrderedDict[Connection, int]] = {}
        self._turn = 0
        self._proven: OrderedDict[str, None] = OrderedDict()

    @property
    def full(self) -> bool:
        return len(self._sources) >= self._limit

    def open(self, connection: Connection, source: str) -> None:
        """Count a connection that waits for its first request."""
        self._sources[connection] = source
        self.wait(connection)

    def close(self, connection: Connection) -> None:
        self.work(connection)
        self._sources.pop(connection, None)

    def wait(self, connection: Connection) -> None:
        """Note that a connection waits from now on, unless it already does or is closed."""
        source = self._sources.get(connection)
        if source is not None:
            self._turn += 1
            self._waiting.setdefault(source, OrderedDict()).setdefault(connection, self._turn)

    def work(self, connection: Connection) -> None:
        """Note that a connection no longer waits: a whole request of it is being handled."""
        source = self._sources.get(connection, "")
        waiting = self._waiting.get(source)
        if waiting is not None:
            waiting.pop(connection, None)
            if not waiting:
                del self._waiting[source]

    def prove(self, source: str) -> None:
        """Remember that a source has sent a request that only the genuine sender can send."""
        self._proven[source] = None
        self._proven.move_to_end(source)
        if len(self._proven) > PROVEN_REMEMBERED:
            self._proven.popitem(last=False)

    def proven(self, source: str) -> bool:
        return source in self._proven

    def to_close(self) -> Connection | None:
        """Return the connection to close for a new connection; None if all are busy."""
        if not self._waiting:
            return None
        source = min(self._waiting, key=self._rank)
        return next(iter(self._waiting[source]))

    def _rank(self, source: str) -> tuple[bool, bool, int, int]:
        waiting = self._waiting[source]
        within_share = len(waiting) * SHARE <= self._limit
        since = next(iter(waiting.values()))
        return within_share, within_share and self.proven(source), -len(waiting), since


def source_of(peer: object) -> str:
    """Return the key of a peer's source: its IPv4 address, or the /64 network of its IPv6 address."""
    if not isinstance(peer, tuple) or not peer:
        return ""
    try:
        address = ip_address(str(peer[0]).partition("%")[0])
    except ValueError:
        return ""
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))


type Proof = Callable[[web.Request], str | None]
"""Returns the proof in a request, by which its refusals are counted instead of by its source; None if it has no proof.

Empty: the handler itself refuses from memory, and is always asked.
"""

_PROOFS: WeakKeyDictionary[Callable[[web.Request], Awaitable[web.StreamResponse]], Proof] = WeakKeyDictionary()


def proven(route: web.RouteDef, proof: Proof) -> web.RouteDef:
    """Return a route whose requests carry this proof."""
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
