"""Points at which a worker dies with a person's file: while it is fetched, read, stored and listened to.

"fetch before" and "after", "fetch within" (the answer has begun, and the rest is kept back), "decode within" (the child
process reads), "store before" and "after" (the bytes), "transcribe before", "within" (it is asked for) and "after".
Those of the rows are statements: begin_file, end_file, keep_transcript, hear_message.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from core.files.blobs import BlobStore
from core.files.types import FileFetcher, SentFile
from core.messaging.messages import Media

BEGUN = 0.7
"""Seconds after which a download that is kept back has begun."""
READING = 0.02
"""Seconds after which the child process is at work: it takes longer to start."""


def put_in_place(reach: Callable[[str], Awaitable[None]], is_due: Callable[[str], bool]) -> None:
    """Wrap what a worker fetches, reads, stores and hears files with."""
    import core.files.intake
    import core.llm.transcription
    import onevalet.wiring.file_store
    import onevalet.wiring.files

    wiring: Any = onevalet.wiring.files
    kept: Any = onevalet.wiring.file_store
    intake: Any = core.files.intake
    fetchers, build_blobs, read_content = wiring._fetchers, kept.build_blobs, intake.read_content

    async def reading(data: bytes, kind: Any) -> Any:
        return await _die_within(read_content(data, kind), "decode within", READING, is_due)

    def crashing_fetchers(settings: Any, stack: Any) -> Mapping[str, FileFetcher]:
        made: Mapping[str, FileFetcher] = fetchers(settings, stack)
        return {name: _CrashingFetcher(fetcher, reach, is_due) for name, fetcher in made.items()}

    transcriber: Any = core.llm.transcription.Transcriber
    transcribe = transcriber.transcribe

    async def transcribing(self: Any, recording: Any) -> Any:
        await reach("transcribe before")
        heard = await _die_within(transcribe(self, recording), "transcribe within", BEGUN, is_due)
        await reach("transcribe after")
        return heard

    transcriber.transcribe = transcribing
    wiring._fetchers = crashing_fetchers
    kept.build_blobs = lambda settings: _crashing_store(build_blobs(settings), reach)
    intake.read_content = reading


class _CrashingFetcher:
    def __init__(
        self, inner: FileFetcher, reach: Callable[[str], Awaitable[None]], is_due: Callable[[str], bool]
    ) -> None:
        self._inner = inner
        self._reach = reach
        self._is_due = is_due

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        await self._reach("fetch before")
        file = await _die_within(self._inner.fetch(media, max_bytes), "fetch within", BEGUN, self._is_due)
        await self._reach("fetch after")
        return file


def _crashing_store(blobs: BlobStore, reach: Callable[[str], Awaitable[None]]) -> BlobStore:
    put = blobs.put

    async def crashing(key: str, data: bytes) -> None:
        await reach("store before")
        await put(key, data)
        await reach("store after")

    changed: Any = blobs
    changed.put = crashing
    return blobs


async def _die_within[T](work: Awaitable[T], point: str, after: float, is_due: Callable[[str], bool]) -> T:
    if not is_due(point):
        return await work
    working = asyncio.ensure_future(work)
    await asyncio.wait([working], timeout=after)
    os.kill(os.getpid(), signal.SIGKILL)
    return await working
