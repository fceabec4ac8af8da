"""A tool's access to the person's data: their accounts, their profile, their preferences, and files they sent."""

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
        """Return the accounts that can do this, the preferred account first; all without a need."""
        ...

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        """Return the opened account, its token fresh.

        Raises `core.errors.AccountMissing` if none can do this, and `ToolRetry` if several can, none is
        preferred, and none is named.
        """
        ...


@runtime_checkable
class RefusedLogins(AccountAccess, Protocol):
    """Optional capability of the access to accounts: to note that a service refuses an account's password or grant."""

    async def refused(self, login: RefusedLogin) -> bool:
        """Note that an account is to be renewed; return False if it was renewed in the meantime."""
        ...


class ConsentAccess(Protocol):
    """The actions that a person lets the assistant take without asking: their standing consents."""

    async def shape(
        self, action: str, same: JsonObject, choices: JsonObject, ranges: JsonObject, texts: JsonObject
    ) -> JsonObject:
        """Return the shape of a tool's calls that are meant: a bound for every parameter.

        Parameters that are named nowhere stay as in the call that the person approved last. Raises `ToolRetry` if a
        parameter may not vary so, and `ToolFailed` if nothing can be agreed to now.
        """
        ...

    def in_words(self, shape: JsonObject) -> JsonObject:
        """Return a shape in the person's language: the `action`, and the bounds `within` which it stays."""
        ...

    async def grant(
        self, agent: str, shape: JsonObject, uses: int, days: int, told: Literal["at once", "digest"], key: str
    ) -> str:
        """Store the consent that the person has just approved as the fields of `agent`; return the text for the person.

        Raises `ToolFailed` if the person has not approved it.
        """
        ...

    async def overview(self) -> str:
        """Return the consents, with their bounds, uses and end, as text for the person."""
        ...

    async def withdraw(self, number: int | None = None) -> str:
        """End a consent, or all; return the text for the person. Raises `ToolRetry` if there is none."""
        ...


class PersonAccounts(AccountAccess, Protocol):
    """The accounts that a person has connected, and the changes that they can make to them."""

    async def connect(self, service: str = "", account_name: str = "", abilities: Sequence[str] = ()) -> str:
        """Return the text that asks the person to connect an account, with the link; without a service they choose it.

        Raises `ToolRetry` for a service that is not there.
        """
        ...

    async def overview(self) -> str:
        """Return the connected accounts, and the way to change them, as text for the person."""
        ...

    async def find(self, account_name: str) -> Sequence[Account]:
        """Return the accounts that the person can mean by a name, an address or a service."""
        ...

    async def prefer(self, account_name: str, kinds: Sequence[str] = ()) -> str:
        """Make an account the default for kinds of things (mail, calendar, contacts), or for all its kinds.

        Raises `ToolRetry` if the name fits several accounts, or the account has no such kind.
        """
        ...

    async def disconnect(self, account_name: str) -> str:
        """Forget an account, and end its grant at its service. Raises `ToolRetry` if the name fits several accounts."""
        ...


class DataAccess(Protocol):
    """All that is kept of a person."""

    async def export(self) -> str:
        """Return a link to it, as text for the person. Raises `ToolFailed` if there can be no link."""
        ...

    async def forget(self) -> str:
        """Delete the person with all of it, soon; return the text for the person."""
        ...


class FileAccess(Protocol):
    """The files of a person, by their ids; an unknown id raises `core.errors.ToolFailed`."""

    async def list(self) -> Sequence[StoredFile]:
        """Return the stored files, the last sent first."""
        ...

    async def find(self, file_id: str) -> StoredFile:
        """Return the description of a file."""
        ...

    async def pages(self, file_id: str) -> Sequence[str]:
        """Return its text, page by page; a picture has none."""
        ...

    async def look(self, file_id: str, question: str = "") -> str:
        """Return the contents of a picture, in words, or the answer to a question about it."""
        ...

    async def fetch(self, file_id: str) -> SentFile:
        """Return its stored copy; for a picture, a copy for models, without its place and time."""
        ...

    async def put(self, name: str, data: bytes, content_type: str | None = None) -> AttachedFile:
        """Store a file of up to 20 MB for the person, and send it with the reply. The same content is stored once.

        If `content_type` is None, the first bytes or the name determine it.
        """
        ...

    async def keep(self, name: str, data: bytes, content_type: str | None = None) -> StoredFile:
        """Store a file for the person as `put` does, and send it to nobody."""
        ...

    async def send(self, file_id: str) -> AttachedFile:
        """Send a stored file with the reply."""
        ...


class PersonAccess(Protocol):
    """The profile and the preferences of a tenant; all of it is returned as text for the model."""

    async def preferences(self) -> str:
        """List the person's preferences, a line each."""
        ...

    async def prefer(self, name: str, value: str) -> str:
        """Store a preference, and list all. Raises `core.errors.ToolRetry` with the possible preferences."""
        ...

    async def change(self, name: str, value: str, key: str) -> PreferenceChange:
        """Store a preference, and return the change to undo; a repeat with the same `key` changes nothing more.

        Raises `core.errors.ToolRetry` as `prefer` does.
        """
        ...

    async def change_back(self, name: str, before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
        """Store a preference as it was, and return it in words; None if it was changed again since."""
        ...

    async def needs_timezone(self) -> bool:
        """Return whether the person's timezone is unknown: they are asked for it before a first schedule is stored."""
        ...

    async def own_words(self) -> Sequence[str]:
        """Return the person's own words in this conversation, written or spoken, the newest first."""
        ...

    async def region(self) -> str | None:
        """Return the country, by two letters, in which the person's numbers are read; None if it is not known."""
        ...

    async def waiting(self) -> Sequence[WaitingNote]:
        """Return the requests for the person's consent or answer, the longest wait first."""
        ...

    async def profile(self) -> str:
        """List the facts about the person, a line each with its number."""
        ...

    async def learn(self, key: str, value: str) -> str:
        """Store a fact that the person stated. Raises `core.errors.ToolRetry`."""
        ...

    async def unlearn(self, number: int, key: str) -> FactTakenBack:
        """Delete a fact; a repeat with the same `key` deletes nothing more, and returns the same again."""
        ...

    async def fact(self, number: int) -> str:
        """Return a fact in words; empty if there is none of this number."""
        ...

    async def relearn(self, number: int) -> bool:
        """Let a deleted fact count again; return False if another counts in its place since."""
        ...
