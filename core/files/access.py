"""The door of this room: the access of a turn and its tools to people's files."""

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.errors import ToolFailed
from core.files.intake import FileIntake
from core.files.outgoing import MAX_ATTACHED, FileOutlet
from core.files.showing import ShowsFiles
from core.files.types import AttachedFile, FileTurn, SeenFile, SentFile, StoredFile
from core.language.catalogue import gettext
from core.messaging.messages import Media


@dataclass(frozen=True, slots=True)
class Files:
    """The files of all people; hands out a single person's files at a time."""

    intake: FileIntake
    shows: ShowsFiles | None = None

    def shown_by(self, shows: ShowsFiles | None) -> "Files":
        """Return the same files, shown to a model by `shows`."""
        return replace(self, shows=shows)

    async def take_in(
        self, tenant_id: str, turn_id: str, inbound_id: str, channel: str | None, language: str | None = None
    ) -> tuple[SeenFile, ...]:
        """Fetch and read the files of a message; return them as the model sees them. `language`: the person's."""
        turn = FileTurn(tenant_id, turn_id, language)
        return await self.intake.take_in(turn, inbound_id, channel or "", self.shows)

    def for_turn(self, tenant_id: str, turn_id: str, attached: list[str] | None = None) -> "TenantFiles":
        """Return a person's files; `attached` takes the ids of the files that go out with the reply."""
        return TenantFiles(self, tenant_id, turn_id, [] if attached is None else attached)

    async def media(self, tenant_id: str, file_ids: Sequence[str]) -> tuple[Media, ...]:
        """Return a person's files as an outgoing message holds them."""
        return await self.outlet.media(tenant_id, file_ids)

    @property
    def outlet(self) -> FileOutlet:
        return FileOutlet(self.intake)


@dataclass(frozen=True, slots=True)
class TenantFiles:
    """The files of a single person. Implements `core.tools.person_access.FileAccess`."""

    files: Files
    tenant_id: str
    turn_id: str
    attached: "builtins.list[str]" = field(default_factory=builtins.list)

    async def list(self) -> Sequence[StoredFile]:
        return await self.files.intake.store.list(self.tenant_id)

    async def find(self, file_id: str) -> StoredFile:
        file = await self.files.intake.store.find(self.tenant_id, file_id.strip())
        if file is None:
            raise ToolFailed(gettext("There is no such file. It may have been deleted."))
        return file

    async def pages(self, file_id: str) -> Sequence[str]:
        file = await self.find(file_id)
        return await self.files.intake.store.pages(self.tenant_id, file.id)

    async def fetch(self, file_id: str) -> SentFile:
        file = await self.find(file_id)
        return SentFile(file.content_type, await self._bytes(file))

    async def look(self, file_id: str, question: str = "") -> str:
        file = await self.find(file_id)
        if not file.is_picture:
            raise ToolFailed(gettext("That file is not a picture."))
        if file.caption and not question:
            return file.caption
        shows = self.files.shows
        told = await shows.look(self.tenant_id, self.turn_id, await self._bytes(file), question) if shows else None
        if told is None:
            raise ToolFailed(gettext("I cannot look at pictures at the moment."))
        if not question:
            await self.files.intake.store.describe(self.tenant_id, file.id, told)
        return told

    async def put(self, name: str, data: bytes, content_type: str | None = None) -> AttachedFile:
        self._check_room()
        return self._attach(await self.files.outlet.put(self.tenant_id, name, data, content_type))

    async def keep(self, name: str, data: bytes, content_type: str | None = None) -> StoredFile:
        return await self.files.outlet.put(self.tenant_id, name, data, content_type)

    async def send(self, file_id: str) -> AttachedFile:
        self._check_room()
        return self._attach(await self.find(file_id))

    def _check_room(self) -> None:
        if len(self.attached) >= MAX_ATTACHED:
            raise ToolFailed(gettext("I can send at most {count} files at once.", count=MAX_ATTACHED))

    def _attach(self, file: StoredFile) -> AttachedFile:
        if file.id not in self.attached:
            self.attached.append(file.id)
        return AttachedFile(file.id, file.name, file.content_type, file.kept_size)

    async def _bytes(self, file: StoredFile) -> bytes:
        try:
            body = await self.files.intake.store.bytes_of(self.tenant_id, file.id)
        except OSError as error:
            raise ToolFailed(gettext("The files cannot be reached at the moment.")) from error
        if body is None:
            raise ToolFailed(gettext("There is no such file. It may have been deleted."))
        return body
