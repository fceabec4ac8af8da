"""Files of a worker that kills itself while it takes one in, at the point that the person's text names.

"fetching"   the answer has begun, and the rest is kept back    "fetched"    nothing is stored
"decoding"   the child process reads                            "storing"    the row is there, without bytes
"stored"     the bytes are too                                  "recorded"   the turn would go on
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from core.files.access import Files
from core.files.blobs import BlobStore
from core.files.kinds import FileFailure, FileKind
from core.files.store import FileStore
from core.files.types import FileContent, FileFetcher, FileReader, SentFile
from core.messaging.messages import Media

type Die = Callable[[str], None]

FETCHING, READING = 0.3, 0.02
"""Seconds after which a download that is kept back has begun, and a child process that takes longer is at work."""


def dying(files: Files, die_at: Callable[[str, str], None]) -> Files:
    """Return the same, which kills its process where the text of the turn says so, if it is the one that dies."""
    turn = os.environ.get("KILLS_ONLY")
    if turn is None:
        return files

    def die(point: str) -> None:
        die_at(turn, point)

    intake = files.intake
    assert intake.reader is not None
    fetchers: Mapping[str, FileFetcher] = {
        name: DyingFetcher(fetcher, die) for name, fetcher in intake.fetchers.items()
    }
    store = DyingStore(intake.store.database, _dying_blobs(intake.store.blobs, die), intake.store.limits)
    store.deaths.append(die)
    reader = _reading(intake.reader, die)
    return replace(files, intake=replace(intake, fetchers=fetchers, store=store, reader=reader))


@dataclass(frozen=True, slots=True)
class DyingFetcher:
    """Fetches, and dies meanwhile or afterwards."""

    inner: FileFetcher
    die: Die

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Fetch a file."""
        file = await _within(self.inner.fetch(media, max_bytes), FETCHING, lambda: self.die("fetching"))
        self.die("fetched")
        return file


class DyingStore(FileStore):
    """Records what became of a file, and dies afterwards."""

    deaths: list[Die] = []  # noqa: RUF012 - one process, one worker

    async def record(self, tenant_id: str, inbound_id: str, number: int, outcome: str | FileFailure) -> None:
        """Write it down."""
        await super().record(tenant_id, inbound_id, number, outcome)
        self.deaths[0]("recorded")


def _dying_blobs(blobs: BlobStore, die: Die) -> BlobStore:
    put, changed = blobs.put, blobs

    async def dying_put(key: str, data: bytes) -> None:
        die("storing")
        await put(key, data)
        die("stored")

    changed.put = dying_put  # type: ignore[method-assign]
    return changed


def _reading(read: FileReader, die: Die) -> FileReader:
    async def reading(data: bytes, kind: FileKind) -> FileContent:
        return await _within(read(data, kind), READING, lambda: die("decoding"))

    return reading


async def _within[T](work: Awaitable[T], after: float, die: Callable[[], None]) -> T:
    working = asyncio.ensure_future(work)
    await asyncio.wait([working], timeout=after)
    die()
    return await working
