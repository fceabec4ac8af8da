"""The words of a recording: transcribed once and stored with the file; those of a voice note are the person's own."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from abilities.documents.file import read_content
from abilities.files.sentences import why_unsensed
from abilities.files.transcribing import BudgetedTranscriber
from abilities.files.views import view_of
from core.budgets.types import OutOfMoney
from core.errors import ModelError
from core.files.kinds import FileFailure, FileKind, sound_format
from core.files.store import FileStore
from core.files.types import MAX_SECONDS, FileTurn, FileUnreadable, SeenFile, StoredFile
from core.http.peer import Slots
from core.journal.types import StepKey
from core.llm.types import Recording
from core.messaging.messages import Media

MAX_WORDS = 20_000
"""Characters of a transcript: more than anybody says in the time that a recording may last."""
_PAGE = 4000
_A_SECOND = 2000
"""Bytes of a second of speech if the recording does not state its length."""
_NOTE = (
    "[The person said the words above in a voice note: {id}. A machine wrote them down, and may have misheard names "
    "and numbers.]"
)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Hearing:
    """`model`: the transcriber, if any. An instance a worker, which has `slots` for recordings."""

    model: BudgetedTranscriber | None = None
    slots: Slots = field(default_factory=lambda: Slots(4, 2))

    async def hear(
        self, store: FileStore, turn: FileTurn, media: Media, file: StoredFile, named: tuple[str, int]
    ) -> SeenFile:
        """Return a recording as the model is shown it, or the reason why it could not be transcribed."""
        pages = await store.pages(turn.tenant_id, file.id)
        if not file.page_count:
            try:
                pages = await self._transcribed(store, turn, file)
            except _Unheard as unheard:
                _log.info("recording_not_heard", file=file.id, cause=unheard.cause)
                failure = unheard.sentence or why_unsensed(unheard.failure, *named)
                return SeenFile(file.id, failure=failure, is_voice=media.voice)
        if not any(pages):
            return SeenFile(file.id, failure=why_unsensed(FileFailure.SILENT, *named), is_voice=media.voice)
        if not media.voice:
            return view_of(file, pages)
        return SeenFile(file.id, _NOTE.format(id=file.id), is_voice=True, words="\n".join(pages))

    async def _transcribed(self, store: FileStore, turn: FileTurn, file: StoredFile) -> Sequence[str]:
        if self.model is None:
            raise _Unheard(FileFailure.AUDIO)
        try:
            body = await store.bytes_of(turn.tenant_id, file.id)
        except OSError as error:
            raise _Unheard(FileFailure.UNHEARD, type(error).__name__) from error
        if body is None:
            raise _Unheard(FileFailure.GONE)
        async with self.slots.of(turn.tenant_id):
            recording = await self._recording(turn, body)
            key = StepKey(0, 0, f"#recording {file.id}")
            try:
                heard = await self.model.transcribe(turn.tenant_id, turn.turn_id, key, recording)
            except OutOfMoney as error:
                raise _Unheard(FileFailure.UNHEARD, "budget", str(error)) from error
            except ModelError as error:
                raise _Unheard(FileFailure.UNHEARD, type(error).__name__) from error
        pages = _paged(heard.strip()[:MAX_WORDS])
        await store.keep_transcript(turn.tenant_id, file.id, pages)
        return pages

    async def _recording(self, turn: FileTurn, body: bytes) -> Recording:
        try:
            seconds = (await read_content(body, FileKind.AUDIO)).seconds or len(body) / _A_SECOND
        except FileUnreadable as error:
            raise _Unheard(error.failure) from error
        if seconds > MAX_SECONDS:
            raise _Unheard(FileFailure.TOO_LONG)
        return Recording(body, f"recording.{sound_format(body)}", seconds, turn.language)


class _Unheard(Exception):
    """Nobody listened to a recording. `sentence`: the sentence for the person, if it is not the failure's."""

    def __init__(self, failure: FileFailure, cause: str = "", sentence: str = "") -> None:
        super().__init__(failure.value)
        self.failure = failure
        self.cause = cause or failure.value
        self.sentence = sentence


def _paged(text: str) -> list[str]:
    """Cut a transcript into pages between words; a single empty page if nothing was said."""
    pages: list[str] = []
    while len(text) > _PAGE:
        cut = text.rfind(" ", 1, _PAGE)
        cut = cut if cut > 0 else _PAGE
        pages.append(text[:cut])
        text = text[cut:].lstrip()
    return [*pages, text]
