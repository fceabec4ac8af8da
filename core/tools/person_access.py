"""What a tool is given about the person: their accounts, their profile, their preferences, and files they sent."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

from core.credentials.types import Account, OpenAccount
from core.errors import RefusedLogin
from core.files.types import AttachedFile, SentFile, StoredFile
from core.json_types import JsonObject
from core.people.preference_changes import PreferenceChange
from core.people.profile import FactTakenBack
from core.people.waiting import WaitingNote


class AccountAccess(Protocol):
    """The accounts that a person has connected. A `need` is an ability, such as `mail.read`, of any service.

    With a service before it (`google:calendar.read`), it is that service's only.
    """

    async def list(self, need: str = "") -> Sequence[Account]:
        """Return the accounts that can do this, the preferred one first; all without a need."""
        ...

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        """Return what opens an account now, its token fresh.

        Raises `core.errors.AccountMissing` where none can do this, and `ToolRetry` where several can, none is
        preferred, and none is named.
        """
        ...


@runtime_checkable
class RefusedLogins(AccountAccess, Protocol):
    """Optional capability of the access to accounts: to note that a service refuses what opens one."""

    async def refused(self, login: RefusedLogin) -> bool:
        """Note that an account is to be renewed; False where it was in the meantime."""
        ...


class ConsentAccess(Protocol):
    """What a person lets the assistant do without asking: their standing consents."""

    async def shape(
        self, action: str, same: JsonObject, choices: JsonObject, ranges: JsonObject, texts: JsonObject
    ) -> JsonObject:
        """Return the shape of the calls of a tool that are meant: a bound for every parameter.

        What is named nowhere stays as in the call that the person approved last. Raises `ToolRetry` where a parameter
        may not vary so, and `ToolFailed` where nothing can be agreed to now.
        """
        ...

    def in_words(self, shape: JsonObject) -> JsonObject:
        """Return a shape in the person's language: the `action`, and what it is kept `within`."""
        ...

    async def grant(
        self, agent: str, shape: JsonObject, uses: int, days: int, told: Literal["at once", "digest"], key: str
    ) -> str:
        """Store what the person has just approved as the fields of `agent`; return what they are told.

        Raises `ToolFailed` where no approval of theirs stands behind it.
        """
        ...

    async def overview(self) -> str:
        """Return what is agreed to, with its bounds, uses and end, as text for the person."""
        ...

    async def withdraw(self, number: int | None = None) -> str:
        """End one consent, or all; return what the person is told. Raises `ToolRetry` where there is none."""
        ...


class PersonAccounts(AccountAccess, Protocol):
    """The accounts that a person has connected, and what they can change about them."""

    async def connect(self, service: str = "", account_name: str = "", abilities: Sequence[str] = ()) -> str:
        """Return what the person is told to connect an account, with the link; without a service they choose on it.

        Raises `ToolRetry` for a service that is not there.
        """
        ...

    async def overview(self) -> str:
        """Return what is connected, and how that is changed, as text for the person."""
        ...

    async def find(self, account_name: str) -> Sequence[Account]:
        """Return the accounts that the person can mean by a name, an address or a service."""
        ...

    async def prefer(self, account_name: str, kinds: Sequence[str] = ()) -> str:
        """Have an account be used for kinds of things (mail, calendar, contacts) where none is named, else for all.

        Raises `ToolRetry` where it may be one of several, or has nothing of that.
        """
        ...

    async def disconnect(self, account_name: str) -> str:
        """Forget an account, and end its grant at its service. Raises `ToolRetry` where it may be one of several."""
        ...


class DataAccess(Protocol):
    """All that is kept of a person."""

    async def export(self) -> str:
        """Return a link to it, as text for the person. Raises `ToolFailed` where there can be none."""
        ...

    async def forget(self) -> str:
        """Have the person deleted with all of it, soon; return what they are told."""
        ...


class FileAccess(Protocol):
    """The files of a person, by their ids; an unknown one raises `core.errors.ToolFailed`."""

    async def list(self) -> Sequence[StoredFile]:
        """Return the files that are kept, the last sent first."""
        ...

    async def find(self, file_id: str) -> StoredFile:
        """Return what is known of a file."""
        ...

    async def pages(self, file_id: str) -> Sequence[str]:
        """Return its text, page by page; of a picture none."""
        ...

    async def look(self, file_id: str, question: str = "") -> str:
        """Return what is in a picture, in words, or the answer to a question about it."""
        ...

    async def fetch(self, file_id: str) -> SentFile:
        """Return what is kept of it: of a picture a copy for models, without its place and time."""
        ...

    async def put(self, name: str, data: bytes, content_type: str | None = None) -> AttachedFile:
        """Store a file of up to 20 MB for the person, and send it with the reply. The same content is stored once.

        `content_type` is told by the first bytes or the name where it is None.
        """
        ...

    async def keep(self, name: str, data: bytes, content_type: str | None = None) -> StoredFile:
        """Store a file for the person as `put` does, and send it to nobody."""
        ...

    async def send(self, file_id: str) -> AttachedFile:
        """Send a file that is kept already with the reply."""
        ...


class PersonAccess(Protocol):
    """What is known of one tenant, and what they prefer; what is given is text for the model."""

    async def preferences(self) -> str:
        """List what the person prefers, a line each."""
        ...

    async def prefer(self, name: str, value: str) -> str:
        """Store a preference, and list all. Raises `core.errors.ToolRetry` with the possible ones."""
        ...

    async def change(self, name: str, value: str, key: str) -> PreferenceChange:
        """Store a preference, and return what takes that back; a repeat with the same `key` changes nothing more.

        Raises `core.errors.ToolRetry` as `prefer` does.
        """
        ...

    async def change_back(self, name: str, before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
        """Store a preference as it was, and return it in words; None where it was changed again since."""
        ...

    async def needs_timezone(self) -> bool:
        """Return whether nobody knows the person's timezone yet: have them asked before a first schedule is kept."""
        ...

    async def own_words(self) -> Sequence[str]:
        """Return what the person wrote or said themselves in this conversation, the newest first."""
        ...

    async def region(self) -> str | None:
        """Return the country, by two letters, in which the person's numbers are read; None where it is not known."""
        ...

    async def waiting(self) -> Sequence[WaitingNote]:
        """Return what waits for the person's consent or answer, the longest wait first."""
        ...

    async def profile(self) -> str:
        """List what is known about the person, a line each with its number."""
        ...

    async def learn(self, key: str, value: str) -> str:
        """Store a fact that the person told. Raises `core.errors.ToolRetry`."""
        ...

    async def unlearn(self, number: int, key: str) -> FactTakenBack:
        """Delete a fact; a repeat with the same `key` deletes nothing more, and returns the same again."""
        ...

    async def fact(self, number: int) -> str:
        """Return a fact in words; empty where there is none of this number."""
        ...

    async def relearn(self, number: int) -> bool:
        """Let a deleted fact count again; return False where another counts in its place since."""
        ...
