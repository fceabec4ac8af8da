"""Files that tools make for a person: stored like the person's own files, and attached to the reply."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from core.errors import ToolFailed, ToolRetry
from core.files.content_types import content_type_of
from core.files.intake import FileIntake
from core.files.kinds import kind_of
from core.files.names import clean_name
from core.files.store import StoreFull
from core.files.types import MAX_BYTES, FileContent, FileUnreadable, StoredFile
from core.language.catalogue import gettext
from core.messaging.messages import KEPT_FILE, Media

MAX_ATTACHED = 10
"""The most files that a call may attach."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FileOutlet:
    """Store the files of tools, and find the files of outgoing messages. An instance for each worker."""

    intake: FileIntake

    async def put(self, tenant_id: str, name: str, data: bytes, content_type: str | None) -> StoredFile:
        """Store a file as it is. Raises `ToolRetry` and `ToolFailed` in words."""
        name = clean_name(name)
        if not name or not data:
            raise ToolRetry("A file needs a name and content.")
        if len(data) > MAX_BYTES:
            limit = MAX_BYTES // 2**20
            raise ToolFailed(gettext("The file {name} is larger than {limit} MB.", name=f"“{name}”", limit=limit))
        store, now = self.intake.store, self.intake.clock.now()
        try:
            file_id = await store.known(tenant_id, data)
            if file_id is None:
                kind, told = kind_of(data), Media("", content_type_of(data, name, content_type), name)
                file_id = await store.keep(tenant_id, data, kind, await self._content(data), told, now)
            await store.keep_made(tenant_id, file_id, name, now)
        except StoreFull as error:
            _log.error("file_store_full")
            sentence = gettext("I have no room to keep the file {name} at the moment.", name=f"“{name}”")
            raise ToolFailed(sentence) from error
        except OSError as error:
            _log.error("file_store_unreachable", cause=type(error).__name__)
            raise ToolFailed(gettext("The files cannot be reached at the moment.")) from error
        stored = await store.find(tenant_id, file_id)
        if stored is None:
            raise ToolFailed(gettext("There is no such file. It may have been deleted."))
        return stored

    async def media(self, tenant_id: str, file_ids: Sequence[str]) -> tuple[Media, ...]:
        """Return files as an outgoing message holds them; files that were deleted meanwhile are left out."""
        found = [await self.intake.store.find(tenant_id, file_id) for file_id in file_ids]
        return tuple(
            Media(f"{KEPT_FILE}{file.id}", file.content_type, file.name, file.kept_size) for file in found if file
        )

    async def _content(self, data: bytes) -> FileContent:
        """Return the text of a file, by which it is searched and forgotten; a picture has none."""
        try:
            return replace(await self.intake.read(data, kind_of(data)), picture=b"")
        except FileUnreadable:
            return FileContent()
