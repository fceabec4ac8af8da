"""How a kept file is shown to a model, by the ability that does."""

from typing import Protocol

from core.files.store import FileStore
from core.files.types import FileTurn, SeenFile, StoredFile
from core.messaging.messages import Media


class ShowsFiles(Protocol):
    """Show what is in people's files; whom it is done for pays for it."""

    async def show(
        self, store: FileStore, turn: FileTurn, media: Media, file: StoredFile, named: tuple[str, int]
    ) -> SeenFile:
        """Return a file as the model is shown it, or why it is not. `named`: its name and its number in the message."""
        ...

    async def look(self, tenant_id: str, turn_id: str, picture: bytes, question: str = "") -> str | None:
        """Return what is in a picture, in words; None where nobody can tell."""
        ...
