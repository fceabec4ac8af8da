"""The two borders of the product: a channel brings messages in, a notification channel takes them out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from core.errors import took_too_long
from core.json_types import JsonObject
from core.messaging.files import OutgoingFile
from core.messaging.inbound import Inbound
from core.messaging.messages import Address, Form, OutboundMessage

if TYPE_CHECKING:
    from aiohttp.web import RouteDef


@dataclass(frozen=True, slots=True)
class Part:
    """A provider's message, ready to send: an outbound message is sent in one or more parts.

    `text`: the plain text, which is sent if the provider refuses `data`. `data`: the provider's own formatting
    (entities, blocks, a keyboard), which only its renderer and sender read. `segments`: billed segments (SMS).
    `portion`: portions after the first, which is 0, wait until the person asks for more.
    """

    text: str
    data: JsonObject = field(default_factory=dict)
    segments: int = 1
    portion: int = 0

    @property
    def file(self) -> OutgoingFile | None:
        """Return the file that the part uploads; None if it uploads none."""
        file = self.data.get("file")
        return OutgoingFile.from_json(file) if isinstance(file, dict) else None

    @property
    def uploads(self) -> bool:
        """Return whether sending the part takes as long as an upload."""
        return self.file is not None or bool(self.data.get("attached"))


def file_part(file: OutgoingFile) -> Part:
    """Return the part that uploads a file; its text is sent if the provider refuses the file."""
    return Part(file.instead or file.name, {"file": file.to_json()})


type ReadFile = Callable[[str], Awaitable[bytes | None]]
"""Returns the content of a person's file by its id; None if it is gone. Raises `Unavailable`."""


@dataclass(frozen=True, slots=True)
class Target:
    """The destination of a part. `ref`: our opaque id of the part, never reused. It travels with the call if the
    provider has room for it (Twilio's StatusCallback, Slack's metadata), so that a lost answer can be found."""

    address: Address
    ref: str
    reply_to: str = ""
    subject: str = ""
    """The subject of the message that `reply_to` names, if messages have subjects."""
    stream: str | None = None
    """The message that grew while this part was written (`Streaming`), which the part replaces."""
    read_file: ReadFile | None = None
    """Reads the files of the recipient, and of nobody else."""

    async def content_of(self, file: OutgoingFile) -> bytes | None:
        """Return a file's content; None if it is gone. Raises `core.errors.Unavailable`."""
        return await self.read_file(file.id) if self.read_file else None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The provider's confirmation that it accepted a part. `moved_to`: where it moved the conversation, if it did."""

    provider_id: str
    moved_to: str | None = None
    degraded: bool = False
    """The provider refused the formatting, so the plain text was sent."""


class NotificationChannel(Protocol):
    """The way out over a provider. A single instance per process; methods are safe to call concurrently."""

    name: str
    can_find: bool
    """Whether `find` can answer. If not, an ambiguous part follows the channel's stated policy."""
    resend_unknown: bool
    """The policy for an ambiguous part that cannot be looked up: send it again (it may double), or leave it."""

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        """Turn a message into the provider's parts, in order; pure, deterministic, never empty."""
        ...

    async def send(self, part: Part, to: Target) -> Receipt:
        """Make the provider call for a part.

        Raises a subclass of `core.errors.DeliveryError`: `Ambiguous` whenever the provider may have accepted it.
        """
        ...

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        """Look up a part whose answer was lost. Return None if the provider shows that it never arrived.

        Raises `Unavailable` while the provider cannot tell.
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
    """A setting that `channels setup` found or changed at the provider."""

    what: str
    before: str
    after: str
    by_hand: bool = False
    """Nothing was changed: the operator has to change it."""


def changes_of(names: Sequence[str], before: Sequence[str], after: Sequence[str]) -> tuple[Change, ...]:
    """Return the settings that differ."""
    rows = zip(names, before, after, strict=True)
    return tuple(Change(name, old, new) for name, old, new in rows if old != new)


@dataclass(frozen=True, slots=True)
class Check:
    """A line of `doctor`: the name of the check, its result, and the fix."""

    what: str
    ok: bool
    detail: str
    fix: str = ""
    late: bool = False
    """No answer came in time: the server may be busy, not away. `doctor` asks it again, alone."""

    @classmethod
    def failed(cls, what: str, error: BaseException, detail: str, fix: str) -> "Check":
        """Return the line of a check that an error ended."""
        return cls(what, False, detail, fix, late=took_too_long(error))


@dataclass(frozen=True, slots=True)
class Received:
    """The result of receiving something. `duplicate`: it had been received before.

    For a press: `said` is shown to the presser at once if the provider can (a toast, at most 200 characters), and
    `form` is opened for them. Neither is guaranteed: the press counts whether they are seen or not.
    """

    id: str | None
    """Our id, or else the provider's; None if nothing was taken in."""
    duplicate: bool = False
    said: str | None = None
    form: Form | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    """The errors of a sent form, by field. It was not taken in, and stays open."""


class InboundSink(Protocol):
    """The core inbox, as channels see it: each hands in here all that it parsed."""

    async def accept(self, inbound: Inbound) -> Received:
        """Commit it. Only after this returns may the provider be told that we have it.

        A repeat with the same keys adds nothing. Raises `StoreUnavailable` if it may not have been stored.
        """
        ...


class Sweep:
    """The checkpoint of a sweep for missed messages, in the channel's own form; empty at its beginning.

    This class stores none: a sweep that runs without a break.
    """

    place: str = ""

    async def reached(self, place: str) -> None:
        """Store that all before this place is in the inbox. Raises `LeaseLost` if another process sweeps by now."""


WHOLE = Sweep()


class Channel(Protocol):
    """The way in over a provider, in the web process."""

    name: str
    account: str

    def routes(self) -> Sequence["RouteDef"]:
        """Return the HTTP routes to serve; empty for sockets and polling."""
        ...

    async def identify(self) -> None:
        """Ask for `account` if only the provider knows it. Raises `Unavailable`. Needed before `catch_up`."""
        ...

    async def start(self) -> None:
        """Start the sockets or the polling of this channel, if any."""
        ...

    async def stop(self) -> None:
        """Stop taking in, after all commits that are under way."""
        ...

    async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
        """Bring the provider's messages since then into the inbox; return the number of new messages.

        It may be cut off anywhere: `sweep` says from where to continue, and stores each place that was reached, never
        a place past a message that is not in the inbox yet.
        """
        ...

    async def setup(self) -> Sequence[Change]:
        """Set webhooks and commands at the provider; idempotent."""
        ...

    async def check(self) -> Sequence[Check]:
        """Check the provider's side for `doctor`; never raises."""
        ...
