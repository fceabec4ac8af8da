"""The append-only record of every call between the gateway and the emulated providers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

type Json = None | bool | int | float | str | list[Json] | dict[str, Json]


@dataclass(frozen=True, slots=True)
class Call:
    """An HTTP exchange: `direction` "in" is the provider calling the gateway, "out" the reverse.

    `about` ties it to a bubble on the page: the provider's message id, if the call has any. `status` 0 means that no
    answer came.
    """

    at: float
    provider: str
    direction: str
    endpoint: str
    status: int
    request: Json
    answer: Json
    about: str = ""
    duration_ms: float = 0.0
    number: int = 0
    """Its place in the journal, from 1."""


class Journal:
    """Keep calls in memory and, given a path, as JSON lines on disk, each flushed."""

    def __init__(self, path: Path | None = None) -> None:
        self._calls: list[Call] = []
        self._file = path.open("a", encoding="utf-8") if path else None
        self._listeners: set[asyncio.Queue[None]] = set()

    def add(self, call: Call) -> Call:
        """Append a call, numbered, and wake the page."""
        call = replace(call, number=len(self._calls) + 1)
        self._calls.append(call)
        if self._file:
            self._file.write(json.dumps(asdict(call)) + "\n")
            self._file.flush()
        self.touch()
        return call

    def calls(self, *, provider: str = "", about: str = "", after: int = 0) -> list[Call]:
        """List calls in order, narrowed."""
        return [
            call
            for call in self._calls[after:]
            if (not provider or call.provider == provider) and (not about or call.about == about)
        ]

    def touch(self) -> None:
        """Wake every listener: something changed."""
        for queue in self._listeners:
            if queue.empty():
                queue.put_nowait(None)

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[asyncio.Queue[None]]:
        """Yield a queue that gets an item after changes; several changes may give a single item."""
        queue: asyncio.Queue[None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)

    def close(self) -> None:
        if self._file:
            self._file.close()
