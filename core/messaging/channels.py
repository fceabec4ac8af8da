"""The two borders of the product: a channel brings messages in, a notification channel takes them out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from core.errors import took_too_long
from core.json_types import JsonObject
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, Form, Inbound, OutboundMessage

if TYPE_CHECKING:
    from aiohttp.web import RouteDef


@dataclass(frozen=True, slots=True)
class Part:
    """One provider message, ready to send: an outbound message is sent in one or more of these.

    `text` is what the person reads, plain, and the fallback where the provider refuses `data`: the
    provider's own formatting (entities, blocks, a keyboard), which only its renderer and sender read.
    `segments` counts what is billed (SMS). Portions after the first, which is 0, wait until the person asks for more.
    """

    text: str
    data: JsonObject = field(default_factory=dict)
    segments: int = 1
    portion: int = 0

    @property
    def file(self) -> OutgoingFile | None:
        """Return the file that the part uploads; None for any other part."""
        file = self.data.get("file")
        return OutgoingFile.from_json(file) if isinstance(file, dict) else None

    @property
    def uploads(self) -> bool:
        """Return whether sending it takes as long as files do."""
        return self.file is not None or bool(self.data.get("attached"))


def file_part(file: OutgoingFile) -> Part:
    """Return the part that uploads a file; its text is said where the provider refuses it."""
    return Part(file.instead or file.name, {"file": file.to_json()})


type ReadFile = Callable[[str], Awaitable[bytes | None]]
"""Returns the content of one of a person's files by its id, None where it is gone. Raises `Unavailable`."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where one part goes. `ref` is our opaque id of it, never reused: it travels with the call where
    the provider has room for it (Twilio's StatusCallback, Slack's metadata): a lost answer can be found."""

    address: Address
    ref: str
    reply_to: str = ""
    subject: str = ""
    """What the message is about that `reply_to` names, where messages have subjects."""
    stream: str | None = None
    """The message that grew while this part was written (`Streaming`): the part takes its place."""
    read_file: ReadFile | None = None
    """Reads the files of the person it goes to, and of nobody else."""

    async def content_of(self, file: OutgoingFile) -> bytes | None:
        """Return a file's content; None where it is gone. Raises `core.errors.Unavailable`."""
        return await self.read_file(file.id) if self.read_file else None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The provider's word that it accepted a part. `moved_to` is set when it moved the conversation."""

    provider_id: str
    moved_to: str | None = None
    degraded: bool = False
    """The provider refused the formatting, so the plain text was sent."""


class NotificationChannel(Protocol):
    """The way out over one provider. One instance per process; methods are safe to call concurrently."""

    name: str
    can_find: bool
    """Whether `find` can answer. Where it cannot, an ambiguous part follows the channel's stated policy."""
    resend_unknown: bool
    """The stated policy for an ambiguous part that cannot be looked up: send again (may double) or leave."""

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        """Turn a message into the provider's parts, in order; pure, deterministic, never empty."""
        ...

    async def send(self, part: Part, to: Target) -> Receipt:
        """Make the provider call for one part.

        Raises one of `core.errors.DeliveryError`: `Ambiguous` whenever the provider may have accepted it.
        """
        ...

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        """Look up a part whose answer was lost. Return None if the provider shows that it never arrived.

        Raises `Unavailable` while that cannot be told.
        """
        ...

    async def show_working(self, to: Address) -> None:
        """Show that we are at work (typing, status). A hint: errors are logged, never raised."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that `channels setup` found or changed at the provider."""

    what: str
    before: str
    after: str
    by_hand: bool = False
    """Nothing was changed: the operator has to."""


def changes_of(names: Sequence[str], before: Sequence[str], after: Sequence[str]) -> tuple[Change, ...]:
    """Return the settings that differ."""
    rows = zip(names, before, after, strict=True)
    return tuple(Change(name, old, new) for name, old, new in rows if old != new)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`: what was looked at, whether it is well, and what to do when it is not."""

    what: str
    ok: bool
    detail: str
    fix: str = ""
    late: bool = False
    """No answer came in time: what was asked may be busy and not away. `doctor` asks it again, alone."""

    @classmethod
    def failed(cls, what: str, error: BaseException, detail: str, fix: str) -> "Check":
        """Return the line of a look that an error ended."""
        return cls(what, False, detail, fix, late=took_too_long(error))


@dataclass(frozen=True, slots=True)
class Received:
    """What became of something taken in: `duplicate` when we knew it already.

    For a press: `said` is shown to the presser at once where the provider can (a toast, at most 200 characters),
    and `form` is to be opened for them. Neither is owed: the press counts whether they are seen or not.
    """

    id: str | None
    """Ours, or else the provider's; None where nothing was taken."""
    duplicate: bool = False
    said: str | None = None
    form: Form | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with a form that was sent, by field; it was not taken, and stays open."""


class InboundSink(Protocol):
    """Where every channel hands in what it parsed: the core inbox."""

    async def accept(self, inbound: Inbound) -> Received:
        """Commit it; only after this returns may the provider be told that we have it.

        Repeating the call with the same keys adds nothing. Raises `StoreUnavailable` when it may not be kept.
        """
        ...


class Sweep:
    """How far a sweep of what was missed came, in the channel's own words; empty at its beginning.

    This one remembers nothing: a sweep that is done in one go.
    """

    place: str = ""

    async def reached(self, place: str) -> None:
        """Remember that all before this place is in the inbox; raises `LeaseLost` when somebody else sweeps by now."""


WHOLE = Sweep()


class Channel(Protocol):
    """The way in over one provider, in the web process."""

    name: str
    account: str

    def routes(self) -> Sequence["RouteDef"]:
        """Return the HTTP routes to serve; empty for sockets and polling."""
        ...

    async def identify(self) -> None:
        """Learn `account` where only the provider knows it; raises `Unavailable`. Needed before `catch_up`."""
        ...

    async def start(self) -> None:
        """Start sockets or polling, if this channel has any."""
        ...

    async def stop(self) -> None:
        """Stop taking in; what is being committed is finished first."""
        ...

    async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
        """Bring in through the inbox what the provider kept since then; return how many were new.

        It may be cut off anywhere: `sweep` says from where to go on, and is told what was reached. Never past
        anything that is not in the inbox yet.
        """
        ...

    async def setup(self) -> Sequence[Change]:
        """Set webhooks and commands at the provider; idempotent."""
        ...

    async def check(self) -> Sequence[Check]:
        """Look at the provider's side for `doctor`; never raises."""
        ...
