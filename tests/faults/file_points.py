"""Points at which a worker dies with a file: a person's, while it is fetched, read, stored and heard, or a voice.

"fetch before" and "after", "fetch within" (the answer has begun, and the rest is kept back), "decode within" (the child
process reads), "store before" and "after" (the bytes), "transcribe before", "within" (it is asked for) and "after",
"speak before" and "after" (an answer). Those of the rows are statements: begin_file, end_file, keep_transcript,
hear_message.
"""

from collections.abc import Mapping
from typing import Any

from core.files.blobs import BlobStore
from core.files.types import FileFetcher, SentFile
from core.messaging.messages import Media
from tests.faults.hooking import IsDue, Reach, put_around, within

READING = 0.02
"""Seconds after which the child process is at work: the first one of a worker takes longer to start."""


def put_in_place(reach: Reach, is_due: IsDue) -> None:
    """Wrap what a worker fetches, reads, stores and hears files with."""
    import core.files.intake
    import onevalet.wiring.file_store
    import onevalet.wiring.files
    import providers.models.speech
    import providers.models.transcription

    wiring: Any = onevalet.wiring.files
    kept: Any = onevalet.wiring.file_store
    intake: Any = core.files.intake.FileIntake
    fetchers, build_blobs, read = wiring._fetchers, kept.build_blobs, intake.read

    async def reading(self: Any, data: bytes, kind: Any) -> Any:
        return await within(read(self, data, kind), "decode within", is_due, READING)

    def crashing_fetchers(settings: Any, stack: Any) -> Mapping[str, FileFetcher]:
        made: Mapping[str, FileFetcher] = fetchers(settings, stack)
        return {name: _CrashingFetcher(fetcher, reach, is_due) for name, fetcher in made.items()}

    transcriber: Any = providers.models.transcription.Transcriber
    transcribe = transcriber.transcribe

    async def transcribing(self: Any, recording: Any) -> Any:
        await reach("transcribe before")
        heard = await within(transcribe(self, recording), "transcribe within", is_due)
        await reach("transcribe after")
        return heard

    transcriber.transcribe = transcribing
    put_around(providers.models.speech.Speaker, "speak", "speak", reach)
    wiring._fetchers = crashing_fetchers
    kept.build_blobs = lambda settings: _crashing_store(build_blobs(settings), reach)
    intake.read = reading


class _CrashingFetcher:
    def __init__(self, inner: FileFetcher, reach: Reach, is_due: IsDue) -> None:
        self._inner = inner
        self._reach = reach
        self._is_due = is_due

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        await self._reach("fetch before")
        file = await within(self._inner.fetch(media, max_bytes), "fetch within", self._is_due)
        await self._reach("fetch after")
        return file


def _crashing_store(blobs: BlobStore, reach: Reach) -> BlobStore:
    put_around(blobs, "put", "store", reach)
    return blobs
