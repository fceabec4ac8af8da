"""What a channel may be able to do besides: each is a protocol of its own, and callers ask whether a channel has it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, runtime_checkable

from core import replies
from core.ids import IdMaker
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.messaging.channels import NotificationChannel, Part
from core.messaging.messages import Address, Media, OutboundKind, OutboundMessage

MAX_CHARACTERS = 30_000
"""The most in one message, on any channel: no person reads more in a chat."""
OVER = "I have sent you as many texts as I may today, so answers stop until tomorrow."
MOVED = "I have sent you as many texts as I may today. Until tomorrow my answers are in your other chat with me."


@dataclass(frozen=True, slots=True)
class SegmentBudget:
    """The most segments of one message, of one person's day, and of all people's day.

    What is beyond a message's is kept until the person asks for it. A card is shown whole or not at all, so it may have
    twice as many.
    """

    message: int = 12
    person_day: int = 200
    all_day: int = 5_000

    @property
    def card(self) -> int:
        """Return the most segments of a card."""
        return 2 * self.message


@dataclass(frozen=True, slots=True)
class Bill:
    """What a call is about to cost, and the moment by which its day is told."""

    segments: int
    now: datetime
    budget: SegmentBudget

    def to_json(self, make_id: IdMaker) -> JsonObject:
        """Return what `begin_delivery` takes, with ids for what it may have to send instead."""
        return {
            "segments": self.segments,
            "now": self.now.isoformat(),
            "limit_of_person": self.budget.person_day,
            "limit_of_all": self.budget.all_day,
            "over": OVER,
            "moved": MOVED,
            "notice": make_id("out"),
            "copy": make_id("out"),
        }


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


def bill_of(channel: object, part: Part, now: datetime) -> Bill | None:
    """Return what sending a part is billed as; None on a channel that is paid otherwise."""
    return Bill(part.segments, now, channel.budget) if isinstance(channel, Billed) else None


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


def shortened(message: OutboundMessage) -> OutboundMessage:
    """Return a message cut to a readable length, with a note where it was cut. A card is never cut."""
    if len(message.text) <= MAX_CHARACTERS or message.kind is OutboundKind.CARD:
        return message
    return replace(message, text=f"{message.text[:MAX_CHARACTERS].rstrip()}\n\n{gettext(replies.REST_LEFT_OUT)}")


def too_long(card: OutboundMessage, channel: NotificationChannel) -> bool:
    """Return whether a card is too long to read, or too expensive, to be shown in full on a channel."""
    if len(card.text) > MAX_CHARACTERS:
        return True
    return isinstance(channel, Billed) and sum(part.segments for part in channel.render(card)) > channel.budget.card
