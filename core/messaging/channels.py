"""The two borders of the product: a channel brings messages in, a notification channel takes them out."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from core.json_types import JsonObject
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, Form, Inbound, Media, OutboundMessage
from core.messaging.segments import SegmentBudget

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


@runtime_checkable
class Stalling(Protocol):
    """Optional capability of a way in: it knows by itself when nothing comes in over it."""

    name: str

    @property
    def stall(self) -> str:
        """Return why nothing comes in, without the provider's words; empty where all is well."""
        ...


def stalls_of(channels: Iterable[object]) -> dict[str, str]:
    """Return the channels that know by themselves whether anything comes in, each with what is wrong or nothing."""
    return {channel.name: channel.stall for channel in channels if isinstance(channel, Stalling)}


@dataclass(frozen=True, slots=True)
class Reached:
    """Somebody who can be written to. `user_key` is what the provider vouches for, `name` its name for them."""

    address: Address
    user_key: str
    name: str = ""


@runtime_checkable
class Reaching(Protocol):
    """Optional capability: somebody who has not written to us can be written to."""

    async def reach(self, key: str) -> Reached:
        """Return where somebody is written to, by what the channel knows people by.

        Raises `core.errors.DeliveryError`: `Rejected` where there is nobody, or nobody who may be written to.
        """
        ...


@runtime_checkable
class Billed(Protocol):
    """Optional capability: each part costs money by its segments."""

    budget: SegmentBudget


@runtime_checkable
class Pressable(Protocol):
    """Optional capability: a message's buttons are shown, and pressing them comes in as `Press`."""

    shows_buttons: bool


@runtime_checkable
class Carrying(Protocol):
    """Optional capability: files are sent as files. Elsewhere, and where they are not carried, a link is said."""

    def carries(self, file: Media, to: Address) -> bool:
        """Return whether a file of this type and size can be sent there."""
        ...


@runtime_checkable
class Marking(Protocol):
    """Optional capability: mark a person's message while it is worked on, where nothing else shows that.

    Marks are hints: both calls return at once, log errors and never raise. `message` is the provider's id of it.
    """

    def mark(self, to: Address, message: str) -> None:
        """Set the mark; one that stands already stays."""
        ...

    def unmark(self, to: Address, message: str) -> None:
        """Take the mark away, whichever process has set it."""
        ...


@runtime_checkable
class Unseen(Protocol):
    """Optional capability: where nothing shows that we are at work, a person who waits for long is told in words."""

    told_after: float
    """Seconds of a silent model after which they are, once a turn."""

    def unseen(self, to: Address) -> bool:
        """Return whether nothing shows there."""
        ...


@runtime_checkable
class Telling(Protocol):
    """Optional capability: say in a few words what is done for the person, in place of only that we are at work."""

    async def show_doing(self, to: Address, text: str) -> None:
        """Show it until the next word or the answer. A hint: errors are logged, never raised."""
        ...


@runtime_checkable
class Preview(Protocol):
    """Optional capability: show a partial answer."""

    draft_every: float
    """Seconds to leave between two drafts, as the provider wants it."""

    async def show_draft(self, to: Address, text: str, draft_id: str) -> None:
        """Show the text so far, Markdown that may end anywhere, in place of what this `draft_id` showed before.

        A hint: not every text comes, and the final message is sent by the outbox all the same. Raises
        `core.errors.DeliveryError`: `RateLimited` pauses the drafts, any other ends those of this turn.
        """
        ...


@runtime_checkable
class Redrawing(Protocol):
    """Optional capability: change a part that was sent."""

    async def redraw(self, part: Part, provider_id: str, to: Address, line: str) -> None:
        """Redraw a sent part: its text as it was, without closing and buttons, and `line` (plain) below.

        Repeatable; already drawn so counts as done. Raises `core.errors.DeliveryError`: `Rejected` where it can
        never be drawn (too old, deleted).
        """
        ...


@runtime_checkable
class Streaming(Protocol):
    """Optional capability: an answer grows in the message that will hold it.

    That message is nobody's answer until `send` is given it as `Target.stream`: then it holds the part, or the part
    is sent again and the message is gone. Either way the person has the part once. All but `streams_to` raise
    `core.errors.DeliveryError`.
    """

    stream_every: float
    """Seconds to leave between two additions, as the provider wants it."""
    stream_limit: int
    """Characters that a growing message may have."""

    def streams_to(self, to: Address) -> bool:
        """Return whether answers there may grow."""
        ...

    async def start_stream(self, to: Address) -> str:
        """Begin an empty message and give the provider's id of it."""
        ...

    async def append_stream(self, to: Address, stream: str, text: str) -> None:
        """Add Markdown to a growing message."""
        ...

    async def find_stream(self, to: Address, since: datetime) -> str | None:
        """Find a message that was begun since then and never got a word, since its id was lost."""
        ...

    async def drop_stream(self, to: Address, stream: str) -> None:
        """Delete a message; one that is gone already is no error."""
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
