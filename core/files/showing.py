"""The protocol by which an ability shows kept files to a model."""

from typing import Protocol

from core.files.store import FileStore
from core.files.types import FileTurn, SeenFile, StoredFile
from core.messaging.messages import Media


class ShowsFiles(Protocol):
    """Show the content of people's files, at their person's cost."""

    async def show(
        self, store: FileStore, turn: FileTurn, media: Media, file: StoredFile, named: tuple[str, int]
    ) -> SeenFile:
        """Return a file as the model sees it, or the failure. `named`: its name and its number in the message."""
        ...

    async def look(self, tenant_id: str, turn_id: str, picture: bytes, question: str = "") -> str | None:
        """Return a description of a picture; None if no model can see it."""
        ...
