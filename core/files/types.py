"""Values of people's files: as they are fetched, as they are stored, and as a model sees them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.files.kinds import FileFailure, FileKind
from core.json_types import JsonObject
from core.messaging.messages import Media

MAX_BYTES = 20 * 1024 * 1024
"""Bytes of a file: the most that Telegram hands to a bot."""
MAX_SECONDS = 30 * 60
"""Seconds of the longest recording that is transcribed."""


@dataclass(frozen=True, slots=True)
class SentFile:
    """The bytes of a file. `content_type` is lower case, without parameters.

    `name` is set if only the provider knows it.
    """

    content_type: str
    body: bytes = field(repr=False)
    name: str = ""


class FileNotFetched(Exception):
    """A provider did not hand out a file."""

    def __init__(self, failure: FileFailure) -> None:
        super().__init__(failure.value)
        self.failure = failure


class FileFetcher(Protocol):
    """Fetch files of a channel, with our credentials there, from its provider alone."""

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        """Fetch a whole file. Raises `FileNotFetched`."""
        ...


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file: pages of text, or a picture as JPEG. `cut`: there is more than was read."""

    pages: tuple[str, ...] = ()
    page_count: int = 0
    cut: bool = False
    picture: bytes = b""
    width: int = 0
    height: int = 0
    seconds: float = 0.0
    """The length of a recording, as far as it states it."""


class FileUnreadable(Exception):
    """A file cannot be read."""

    def __init__(self, failure: FileFailure) -> None:
        super().__init__(failure.value)
        self.failure = failure


class FileReader(Protocol):
    """Read the content of a file."""

    async def __call__(self, data: bytes, kind: FileKind) -> FileContent:
        """Return the text of a file, or a copy of a picture. Raises `FileUnreadable`."""
        ...


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A person's file as it is stored. `name` was given by somebody: it proves nothing."""

    id: str
    kind: FileKind
    content_type: str
    name: str
    size: int
    page_count: int
    cut: bool
    caption: str
    sent_at: datetime
    kept_size: int = 0
    """Bytes of the file as it goes out, without the text that is kept beside it."""

    @property
    def is_picture(self) -> bool:
        return self.kind is FileKind.PICTURE

    @property
    def is_recording(self) -> bool:
        return self.kind is FileKind.AUDIO


@dataclass(frozen=True, slots=True)
class FileTurn:
    """The turn in which files are taken in; its person pays for the models that look at them and transcribe them."""

    tenant_id: str
    turn_id: str
    language: str | None = None
    """The person's, a BCP 47 tag."""


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file of a message as the model sees it, or the failure.

    `note` is our own description; `text` is third parties' text: the file's name and the beginning of its content.
    """

    id: str | None = None
    note: str = ""
    text: str = ""
    picture: bytes = field(default=b"", repr=False)
    """As JPEG, for a model that sees."""
    failure: str = ""
    """The sentence for the person, in their language."""
    is_voice: bool = False
    words: str = ""
    """The person's words in a voice note, which count as if they had typed them."""

    def to_json(self) -> JsonObject:
        """Return the part for the journal: never a file's content."""
        return {"id": self.id, "note": self.note, "failure": self.failure}

    @classmethod
    def from_json(cls, data: JsonObject) -> "SeenFile":
        found = data.get("id")
        return cls(str(found) if found else None, str(data.get("note", "")), failure=str(data.get("failure", "")))


@dataclass(frozen=True, slots=True)
class FileResult:
    """A file as a tool's result, alone or in a list: it goes out with the reply.

    If `content_type` is None, the first bytes or the name decide it.
    """

    name: str
    data: bytes
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that goes out with the reply."""

    id: str
    name: str
    content_type: str
    size: int

    def __str__(self) -> str:
        """Return the tool result for the model."""
        return f"The file {self.name} ({self.id}) goes out with your reply. Do not repeat what is in it."
