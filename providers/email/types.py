"""Values of mail: servers, folders, messages, and failures."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from urllib.parse import quote, unquote

from core.errors import RefusedLogin, ToolFailed, ToolRetry


class MailFailure(StrEnum):
    """The reason why mail could not be read or sent."""

    BARRED = "barred"
    """Its server may not be reached from here."""
    UNREACHABLE = "unreachable"
    LOGIN = "login"
    """The server refuses the account's credentials."""
    REFUSED = "refused"
    GONE = "gone"
    """The message or folder no longer exists."""
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    EXCEEDED = "exceeded"
    """Its server sent more than it may."""
    WRONG = "wrong"
    """The stored data of the account is invalid."""


class MailFailed(ToolFailed):
    """Mail could not be read or changed; the message is a sentence for the person."""

    def __init__(
        self, message: str, failure: MailFailure, *, note: str = "", refused: RefusedLogin | None = None
    ) -> None:
        super().__init__(message, note=note, refused=refused)
        self.failure = failure


class FolderUse(StrEnum):
    """The use of a folder (RFC 6154)."""

    INBOX = "inbox"
    ALL = "all"
    ARCHIVE = "archive"
    DRAFTS = "drafts"
    JUNK = "junk"
    SENT = "sent"
    TRASH = "trash"


@dataclass(frozen=True, slots=True)
class MailFolder:
    """A folder of a mailbox, by its name there."""

    name: str
    use: FolderUse | None = None


_REF = re.compile(r"mail/([\w.%~-]{1,200})/([\w.%~-]{1,200})/([\w.%~-]{1,600})/([0-9]{1,10})/([0-9]{1,10})", re.ASCII)


@dataclass(frozen=True, slots=True)
class MailRef:
    """The place of a message; as text, the id by which a model names it.

    It never means another message (RFC 3501 2.3.1.1). `service` and `account` name the person's account.
    """

    service: str
    account: str
    folder: str
    validity: int
    uid: int

    def __str__(self) -> str:
        names = "/".join(quote(name, safe="") for name in (self.service, self.account, self.folder))
        return f"mail/{names}/{self.validity}/{self.uid}"

    @classmethod
    def parse(cls, text: str) -> "MailRef":
        """Parse the text form; raises `ToolRetry`."""
        match = _REF.fullmatch(text.strip())
        if match is None:
            raise ToolRetry(f"{text.strip()[:60]!r} is no id of a mail; search_mail has the ids, such as mail/….")
        return cls(unquote(match[1]), unquote(match[2]), unquote(match[3]), int(match[4]), int(match[5]))


@dataclass(frozen=True, slots=True)
class MailQuery:
    """Criteria of a search in a folder; an empty field does not restrict. `since` is inclusive, `before` is not."""

    sender: str = ""
    recipient: str = ""
    subject: str = ""
    text: str = ""
    since: date | None = None
    before: date | None = None
    unread: bool | None = None
    flagged: bool | None = None
    message_id: str | None = None
    reference: str | None = None
    """The Message-ID of a message that it answers, directly or further back."""


@dataclass(frozen=True, slots=True)
class StoredMail:
    """A message as its server keeps it. `data` may be only its beginning, of `size` bytes in all."""

    validity: int
    uid: int
    flags: frozenset[str]
    size: int
    received: datetime | None = None
    data: bytes = field(default=b"", repr=False)

    @property
    def unread(self) -> bool:
        return "\\seen" not in self.flags

    @property
    def flagged(self) -> bool:
        return "\\flagged" in self.flags

    @property
    def whole(self) -> bool:
        return len(self.data) >= self.size


@dataclass(frozen=True, slots=True)
class MailAddress:
    """An address, and its display name, which proves nothing."""

    name: str
    address: str

    def __str__(self) -> str:
        if not self.address:
            return self.name
        return f"{self.name} <{self.address}>" if self.name and self.name != self.address else self.address


@dataclass(frozen=True, slots=True)
class MailAttachment:
    """A file in a message, by its number there, from 1. `name` was given by its sender.

    `shown`: it is a picture that the text shows.
    """

    number: int
    name: str
    content_type: str
    size: int
    shown: bool = False


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A message as it was read; all of it was written by third parties.

    `message_id` and `references` are without their angle brackets. `cut`: there is more text than was read. `headers`
    are further headers, by their names in lower case: the proof of the sender, and whether a program sent it.
    `attached`: the texts of attached messages, which are files as well.
    """

    sender: tuple[MailAddress, ...] = ()
    to: tuple[MailAddress, ...] = ()
    cc: tuple[MailAddress, ...] = ()
    reply_to: tuple[MailAddress, ...] = ()
    subject: str = ""
    date: datetime | None = None
    message_id: str | None = None
    references: tuple[str, ...] = ()
    text: str = ""
    attached: str = ""
    cut: bool = False
    attachments: tuple[MailAttachment, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    readable: bool = True

    def header(self, name: str) -> Sequence[str]:
        """Return the values of a further header, the topmost first."""
        return [value for known, value in self.headers if known == name]


@dataclass(frozen=True, slots=True)
class MailFile:
    """A file that is sent or was received with a message."""

    name: str
    content_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class MailCalendar:
    """An iCalendar object that a message carries for calendar programs (RFC 6047). `method` is its METHOD."""

    method: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A message to be written; addresses without names, as DNS writes them.

    `message_id`, `in_reply_to` and `references` are without angle brackets.
    """

    sender: MailAddress
    to: Sequence[str]
    cc: Sequence[str]
    subject: str
    body: str
    date: datetime
    message_id: str
    in_reply_to: str | None = None
    references: Sequence[str] = ()
    files: Sequence[MailFile] = ()
    calendar: MailCalendar | None = None
