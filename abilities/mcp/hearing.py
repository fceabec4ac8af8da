"""The limits of an MCP server's output, and its values made storable: shared by pipes and HTTP.

An answer has an allowance of bytes, of values of JSON, of messages and of seconds. Over pipes, on which a server may
also send unrequested messages, its output between answers has a smaller allowance, renewed each minute.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from core.http.peer import Allowance, Hearing, PeerExceeded
from core.json_types import MAX_DEPTH, Json, JsonObject, storable

MAX_ANSWER = 8 * 1024 * 1024
"""Bytes of an answer, with all accompanying messages; also of a single line."""
_VALUES = 500_000
"""Values, lists and objects in it, which take more memory than the bytes in which they are written."""
_MESSAGES = 2_000
"""Messages that may come for a single request: progress, log messages, requests of the server."""
_REQUEST = 40
"""As how many messages a request of the server counts: each is refused, which costs an answer."""
_CONVERSATION = 4
"""Allowance of all output of a remote server in a conversation, in answers: tools listed, then called."""
_UNASKED, _UNASKED_VALUES, _UNASKED_MESSAGES = 256 * 1024, 20_000, 600
_MINUTE = 60.0
_IN_THREAD = 64 * 1024
"""Bytes with which a thread of its own is worth its while."""
_BITS = 1024
"""How large a whole number may be: as large as any other number."""


class Ear:
    """Counts a server's output over a connection. `seconds` are those of an answer."""

    def __init__(self, server: str, seconds: float, *, remote: bool) -> None:
        self._server = server
        self._seconds = seconds
        self._asked = 0
        self._fresh = 0
        self._within: Hearing | None = None
        if remote:
            whole = Allowance(MAX_ANSWER * _CONVERSATION, _VALUES * _CONVERSATION, seconds * _CONVERSATION)
            self._within = Hearing(whole, host=server)
        self.exceeded: PeerExceeded | None = None
        self._unasked()

    @contextmanager
    def answer(self) -> Iterator[None]:
        """Listen to an answer inside the block."""
        self._asked += 1
        # The seconds are counted by who waits for the answer; these are for a server that drips.
        allowed = Allowance(MAX_ANSWER, _VALUES, self._seconds * 2)
        self._wire = Hearing(allowed, self._within, host=self._server)
        self._messages = Hearing(Allowance(0, _MESSAGES, self._seconds * 2), host=self._server)
        try:
            yield
        finally:
            self._asked -= 1
            if not self._asked:
                self._unasked()

    async def heard(self, chunk: bytes) -> None:
        """Count bytes, and give others their turns. Raises `PeerExceeded`."""
        self._renew()
        self._fresh += len(chunk)
        values = sum(chunk.count(mark) for mark in (b"[", b"{", b",", b"\n"))
        with self._noted():
            await self._wire.heard(len(chunk), values)

    async def message(self, *, request: bool = False) -> None:
        """Count a message. `request`: the server asks something. Raises `PeerExceeded`."""
        self._renew()
        with self._noted():
            await self._messages.heard(pieces=_REQUEST if request else 1)

    async def lines(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the lines of the chunks, without their ends. Raises `PeerExceeded`."""
        held = bytearray()
        async for chunk in chunks:
            await self.heard(chunk)
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                yield bytes(held) + line
                held.clear()
            held += rest
            if len(held) > MAX_ANSWER:  # over the minutes
                with self._noted():
                    raise PeerExceeded("bytes", self._server)
        if held:
            yield bytes(held)

    def taken(self) -> int:
        """Return how many bytes were heard since this was asked last: about the size of the message at hand."""
        size, self._fresh = self._fresh, 0
        return size

    def _unasked(self) -> None:
        self._wire = Hearing(Allowance(_UNASKED, _UNASKED_VALUES, _MINUTE), self._within, host=self._server)
        self._messages = Hearing(Allowance(0, _UNASKED_MESSAGES, _MINUTE), host=self._server)

    def _renew(self) -> None:
        if not self._asked and not self._wire.seconds_left and not (self._within and not self._within.seconds_left):
            self._unasked()

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except PeerExceeded as error:
            self.exceeded = error
            raise


async def in_turns[**P, T](size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run work on `size` bytes; in a thread if they are many, so that other tasks run in the meantime."""
    return await asyncio.to_thread(work, *args, **kwargs) if size > _IN_THREAD else work(*args, **kwargs)


def sound_object(said: JsonObject) -> JsonObject:
    """Return an object in a form that can be stored and written again. Raises `ValueError` if there is none."""
    return {str(storable(name)): sound(value) for name, value in said.items()}


def sound(value: Json, depth: int = 1) -> Json:
    """Return a value in a form that can be stored and written again. Raises `ValueError` if there is none."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(name): sound(item, depth + 1) for name, item in value.items()}
        case list():
            return [sound(item, depth + 1) for item in value]
        case float() if not math.isfinite(value):
            raise ValueError("no number of JSON")
        case int() if value.bit_length() > _BITS:
            raise ValueError("a number too large")
    return value
