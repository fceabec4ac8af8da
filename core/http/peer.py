"""Limits of conversations with servers that others run: each client of such a server counts its answers here.

A person or an operator who names a server does not answer for it. Hence a conversation has an allowance of bytes as
unpacked, of pieces (lines, answers, pages, events) and of seconds, for a command, its connection and its person at
once; and a loop over a peer's data yields to other tasks, however fast the peer sends.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar, NamedTuple
from weakref import WeakSet

from core.errors import ToolFailed
from core.language.catalogue import gettext

TURN_BYTES, TURN_PIECES = 64 * 1024, 100
"""The bytes and the pieces after which other tasks get a turn of the event loop."""
FIRST_PAUSE, MAX_PAUSE = 2.0, 600.0
"""Seconds for which a peer that exceeded its allowance is left alone: doubling, up to the maximum."""
_PEACE = 1.0
"""Seconds by which the record that a peer kept to its allowance ends later than the peer's pause, at least."""
_MOST_PEERS = 10_000
"""The number of peers that are remembered: the latest that exceeded their allowance."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits of a peer: `size` in bytes as unpacked, `pieces`, and `seconds`."""

    size: int
    pieces: int
    seconds: float


class PeerExceeded(ConnectionError):
    """A peer sent more than it may, or for longer. `host`: its name for the person."""

    def __init__(self, what: str, host: str = "") -> None:
        super().__init__(f"more {what} than a peer may send")
        self.host = host


class Hearing:
    """The count of a command, connection or person. `within` is the hearing that it is a part of."""

    def __init__(
        self,
        allowance: Allowance,
        within: "Hearing | None" = None,
        *,
        host: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`host` is named in errors; that of `within` if it is empty."""
        self._allowance = allowance
        self._within = within
        self._host: str = host or (within._host if within else "")
        self._clock = clock
        self._ends = clock() + allowance.seconds
        self._size = self._pieces = 0
        self._turn_size = self._turn_pieces = 0

    @property
    def seconds_left(self) -> float:
        """Return the seconds that remain, here and in the hearing around it; never less than 0."""
        left = max(0.0, self._ends - self._clock())
        return min(left, self._within.seconds_left) if self._within else left

    @property
    def size_left(self) -> int:
        """Return the bytes that remain, here and in the hearing around it."""
        left = self._allowance.size - self._size
        return min(left, self._within.size_left) if self._within else left

    def count(self, size: int = 0, pieces: int = 0) -> None:
        """Count received data; safe in a thread. Raises `PeerExceeded`."""
        self._size += size
        self._pieces += pieces
        if self._size > self._allowance.size:
            raise PeerExceeded("bytes", self._host)
        if self._pieces > self._allowance.pieces:
            raise PeerExceeded("pieces", self._host)
        if self._clock() > self._ends:
            raise PeerExceeded("time", self._host)
        if self._within is not None:
            self._within.count(size, pieces)

    async def heard(self, size: int = 0, pieces: int = 0) -> None:
        """Count received data, and yield to other tasks now and then. Raises `PeerExceeded`."""
        self.count(size, pieces)
        self._turn_size += size
        self._turn_pieces += pieces
        if self._turn_size >= TURN_BYTES or self._turn_pieces >= TURN_PIECES:
            self._turn_size = self._turn_pieces = 0
            await asyncio.sleep(0)


PERSON: ContextVar[str] = ContextVar("person", default="")
"""The person for whom the current task works. Work for nobody, the default, has the share of a single person."""


class Slots:
    """Conversations that run at the same time in this process: `most` of all people, `each` of a single person."""

    def __init__(self, most: int, each: int = 1) -> None:
        self._all = asyncio.Semaphore(most)
        self._each = each
        self._people: dict[str, tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def of(self, person: str) -> AsyncIterator[None]:
        """Wait for a slot of a person, and hold it: a wait for the person's own slot holds no slot of all people."""
        own, users = self._people.get(person) or (asyncio.Semaphore(self._each), 0)
        self._people[person] = own, users + 1
        try:
            async with own, self._all:
                yield
        finally:
            own, users = self._people.pop(person)
            if users > 1:
                self._people[person] = own, users - 1


class LeftAlone(ToolFailed):
    """A peer that exceeded its allowance is not asked again yet; the message is for its person."""


def left_alone(host: str) -> LeftAlone:
    """Return the error for a peer that exceeded its allowance."""
    return LeftAlone(gettext("The server {host} sent too much data, so I leave it alone for now.", host=host))


class Pause(NamedTuple):
    """The pause of a peer: `times` that it exceeded its allowance in a row, and the end by the clock of its `Pauses`.

    `times` is 0 if the peer has kept to its allowance since.
    """

    times: int
    until: float


_NEVER = Pause(0, float("-inf"))


class Pauses:
    """Growing pauses of peers that exceeded their allowance, by any key, such as a person and a host.

    They start from the first again once the longest pause has passed in peace. The pauses of one `kind` are shared with
    other processes, including later processes (`onevalet.wiring.shared_pauses`).
    """

    shared: ClassVar["WeakSet[Pauses]"] = WeakSet()
    on_news: ClassVar[set[Callable[[], None]]] = set()
    """Called when a peer is left alone."""

    def __init__(self, kind: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._kind = kind
        self._known: OrderedDict[str, Pause] = OrderedDict()
        self.shared.add(self)

    @property
    def known(self) -> Mapping[str, Pause]:
        """Return all pauses by name. Names are hashed, since a key may hold a person's address."""
        return self._known

    def check(self, *key: str, host: str) -> None:
        """Raise `LeftAlone` while a peer is left alone."""
        last = self._of(key)
        if last.times and self.clock() < last.until:
            raise left_alone(host)

    def exceeded(self, *key: str) -> float:
        """Record that a peer exceeded its allowance; return the seconds for which it is left alone."""
        last, now = self._of(key), self.clock()
        times = 0 if now > last.until + MAX_PAUSE else last.times
        pause = min(FIRST_PAUSE * 2.0 ** min(times, 20), MAX_PAUSE)
        self._keep(self._name(key), Pause(times + 1, now + pause))
        for tell in tuple(self.on_news):
            tell()
        return pause

    def kept_to_it(self, *key: str) -> None:
        """Record that a peer kept to its allowance: its next pause is the first again, unless a pause lasts by now."""
        last, now = self._of(key), self.clock()
        if last.times and now >= last.until:
            # Later than that pause, by whichever clock it is read.
            self._keep(self._name(key), Pause(0, now + _PEACE))

    def learn(self, told: Mapping[str, Pause]) -> None:
        """Take over the pauses that other processes recorded, if they end later."""
        for name, pause in told.items():
            if name.startswith(f"{self._kind}:") and pause.until > self._known.get(name, _NEVER).until:
                self._keep(name, pause)

    def _of(self, key: tuple[str, ...]) -> Pause:
        return self._known.get(self._name(key), _NEVER)

    def _keep(self, name: str, pause: Pause) -> None:
        self._known[name] = pause
        self._known.move_to_end(name)
        while len(self._known) > _MOST_PEERS:
            self._known.popitem(last=False)

    def _name(self, key: tuple[str, ...]) -> str:
        return f"{self._kind}:{sha256(json.dumps(key).encode()).hexdigest()[:32]}"
