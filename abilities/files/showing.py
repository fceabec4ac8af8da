"""A stored file as a model is shown it: its text, a picture or its description, and the words of a recording."""

from dataclasses import dataclass, field

import structlog

from abilities.files.hearing import Hearing
from abilities.files.sentences import why_unsensed
from abilities.files.views import view_of
from abilities.files.vision import Vision
from core.files.kinds import FileFailure
from core.files.store import FileStore
from core.files.types import FileTurn, SeenFile, StoredFile
from core.messaging.messages import Media

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FileShowing:
    """Implements `core.files.showing.ShowsFiles`. An instance a worker."""

    vision: Vision = field(default_factory=Vision)
    hearing: Hearing = field(default_factory=Hearing)

    async def show(
        self, store: FileStore, turn: FileTurn, media: Media, file: StoredFile, named: tuple[str, int]
    ) -> SeenFile:
        if file.is_recording:
            return await self.hearing.hear(store, turn, media, file, named)
        if not file.is_picture:
            return view_of(file, await store.pages(turn.tenant_id, file.id))
        return await self._picture(store, turn, file, named)

    async def look(self, tenant_id: str, turn_id: str, picture: bytes, question: str = "") -> str | None:
        return await self.vision.describe(tenant_id, turn_id, picture, question)

    async def _picture(self, store: FileStore, turn: FileTurn, file: StoredFile, named: tuple[str, int]) -> SeenFile:
        try:
            picture = await store.bytes_of(turn.tenant_id, file.id)
        except OSError as error:
            _log.error("file_store_unreachable", cause=type(error).__name__)
            return SeenFile(file.id, failure=why_unsensed(FileFailure.UNREACHABLE, *named))
        if picture is None:
            return SeenFile(file.id, failure=why_unsensed(FileFailure.GONE, *named))
        if self.vision.sees():
            return view_of(file, picture=picture)
        caption = file.caption or await self.vision.describe(turn.tenant_id, turn.turn_id, picture)
        if not caption:
            return SeenFile(file.id, failure=why_unsensed(FileFailure.UNSEEN, *named))
        if not file.caption:
            await store.describe(turn.tenant_id, file.id, caption)
        return view_of(file, [caption])
