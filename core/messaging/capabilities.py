"""Optional capabilities of channels: each is a protocol, and callers check whether a channel implements it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from re import fullmatch
from typing import Protocol, runtime_checkable

from core import replies
from core.ids import IdMaker
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.messaging.channels import NotificationChannel, Part
from core.messaging.messages import Address, Media, OutboundKind, OutboundMessage

MAX_CHARACTERS = 30_000
"""Characters of a message at most, on any channel: nobody reads more in a chat."""
OVER = "I have sent you as many texts as I may today, so answers stop until tomorrow."
MOVED = "I have sent you as many texts as I may today. Until tomorrow my answers are in your other chat with me."


@dataclass(frozen=True, slots=True)
class SegmentBudget:
    """The limits on segments: of a message, of a person's day, and of all people's day.

    The rest of a longer message is kept until the person asks for it. A card is shown whole or not at all, so its limit
    is twice as high. `prices`: of a segment in dollars, by the beginnings of numbers, the longest first.
    """

    message: int = 12
    person_day: int = 200
    all_day: int = 5_000
    prices: tuple[tuple[str, Decimal], ...] = ()

    def price_of(self, number: str, segments: int) -> Decimal | None:
        """Return the price of segments to a number in dollars; None if the operator has not set it."""
        return next((segments * price for begins, price in self.prices if number.startswith(begins)), None)


def read_prices(entries: Iterable[str], per_dollar: Decimal = Decimal(1)) -> tuple[tuple[str, Decimal], ...]:
    """Read prices of a segment such as `+1=0.0083`, or `0.05` for all others, as dollars. Raises `ValueError`."""
    prices = dict[str, Decimal]()
    for entry in entries:
        begins, _, price = entry.rpartition("=")
        if not fullmatch(r"(\+[1-9]\d{0,14}=)?\d{1,6}(\.\d{1,8})?", entry) or begins in prices:
            raise ValueError(
                f"{entry!r} is no price of a segment: give entries such as +1=0.0083, or 0.05 for all others"
            )
        prices[begins] = Decimal(price) / per_dollar
    return tuple(sorted(prices.items(), key=lambda item: -len(item[0])))


@dataclass(frozen=True, slots=True)
class Bill:
    """The cost of a call that is about to leave, its price in dollars, and the moment that determines its day."""

    segments: int
    now: datetime
    budget: SegmentBudget
    price: Decimal | None = None

    def to_json(self, make_id: IdMaker) -> JsonObject:
        """Return the argument of `begin_delivery`, with ids for the message that it may have to send instead."""
        return {
            "segments": self.segments,
            "now": self.now.isoformat(),
            "limit_of_person": self.budget.person_day,
            "limit_of_all": self.budget.all_day,
            "price": None if self.price is None else str(self.price),
            "over": OVER,
            "moved": MOVED,
            "notice": make_id("out"),
            "copy": make_id("out"),
        }


@runtime_checkable
class Stalling(Protocol):
    """Optional capability of a way in: it notices by itself if nothing can come in."""

    name: str

    @property
    def stall(self) -> str:
        """Return why nothing comes in, without the provider's words; empty if all is well."""
        ...


def stalls_of(channels: Iterable[object]) -> dict[str, str]:
    """Return the problem, or an empty text, of each channel that notices by itself if nothing comes in."""
    return {channel.name: channel.stall for channel in channels if isinstance(channel, Stalling)}


@dataclass(frozen=True, slots=True)
class Reached:
    """A person who can be written to. `user_key`: the id that the provider vouches for; `name`: its name for them."""

    address: Address
    user_key: str
    name: str = ""


@runtime_checkable
class Reaching(Protocol):
    """Optional capability: write to a person who has never written to us."""

    async def reach(self, key: str) -> Reached:
        """Return the address of a person by the channel's key for people.

        Raises `core.errors.DeliveryError`: `Rejected` if there is no such person, or none who may be written to.
        """
        ...


@runtime_checkable
class Billed(Protocol):
    """Optional capability: each part is billed by its segments."""

    budget: SegmentBudget


@runtime_checkable
class Dividing(Billed, Protocol):
    """Optional capability of a billed channel: render a message in other portions than usual."""

    def portions(self, message: OutboundMessage, first: int | None = None) -> tuple[Part, ...]:
        """Render a message as a whole, or with a first portion of at most `first` segments and usual ones after it."""
        ...


def bill_of(channel: object, part: Part, now: datetime, to: Address) -> Bill | None:
    """Return the bill for sending a part; None on a channel that does not bill parts."""
    if not isinstance(channel, Billed):
        return None
    price = channel.budget.price_of(to.peer, part.segments) if channel.budget.prices else None
    return Bill(part.segments, now, channel.budget, price)


@runtime_checkable
class Pressable(Protocol):
    """Optional capability: show a message's buttons; pressing a button comes in as `Press`."""

    shows_buttons: bool


@runtime_checkable
class Locating(Protocol):
    """Optional capability: people can send the place where they are, and share it while they move.

    Such a place comes in as `InboundMessage.place` and `PlaceMove`. On any other channel a link asks their phone.
    """

    takes_places: bool


@runtime_checkable
class Grouping(Protocol):
    """Optional capability: take part in groups. On any other channel everybody writes to us alone."""

    async def may_invite(self, group: Address, user_key: str) -> tuple[bool, str]:
        """Return whether a member may decide that we take part, and the group's name if messages do not tell it.

        Raises `core.errors.DeliveryError`.
        """
        ...


@runtime_checkable
class Carrying(Protocol):
    """Optional capability: send files as files. Otherwise the person gets a link."""

    def carries(self, file: Media, to: Address) -> bool:
        """Return whether a file of this type and size can be sent there."""
        ...


@runtime_checkable
class Playing(Protocol):
    """Optional capability: play a recording in the chat. `plays`: the content type of recordings for that."""

    plays: str


@runtime_checkable
class Marking(Protocol):
    """Optional capability: mark a person's message while it is worked on, if nothing else shows that.

    Marks are hints: both calls return at once, log errors and never raise. `message`: the provider's id of the message.
    """

    def mark(self, to: Address, message: str) -> None:
        """Set the mark, if it is not set yet."""
        ...

    def unmark(self, to: Address, message: str) -> None:
        """Remove the mark, whichever process set it."""
        ...


@runtime_checkable
class Reacting(Protocol):
    """Optional capability: react to a person's message.

    There the person's reactions to ours come in as `Reaction`, by the message's id. On SMS they are texts of their
    phone; on other channels there are none.
    """

    async def react(self, to: Address, message: str, emoji: str) -> None:
        """Put our reaction on a person's message. Repeatable. Raises `core.errors.DeliveryError`."""
        ...


@runtime_checkable
class Unseen(Protocol):
    """Optional capability: tell a person who waits for long in words, if nothing shows that we are at work."""

    told_after: float
    """Seconds of a silent model after which the person is told, once a turn."""

    def unseen(self, to: Address) -> bool:
        """Return whether nothing there shows that we are at work."""
        ...


@runtime_checkable
class Telling(Protocol):
    """Optional capability: name the present work in a few words, instead of only showing that we are at work."""

    async def show_doing(self, to: Address, text: str) -> None:
        """Show the words until the next words or the answer. A hint: errors are logged, never raised."""
        ...


@runtime_checkable
class Preview(Protocol):
    """Optional capability: show a partial answer."""

    draft_every: float
    """Seconds between two drafts that the provider requires."""

    async def show_draft(self, to: Address, text: str, draft_id: str) -> None:
        """Show the text so far, Markdown that may end anywhere, in place of the previous draft of this `draft_id`.

        A hint: texts may be skipped, and the outbox sends the final message in any case. Raises
        `core.errors.DeliveryError`: `RateLimited` pauses the drafts of this turn, any other error ends them.
        """
        ...


@runtime_checkable
class Redrawing(Protocol):
    """Optional capability: redraw a sent part."""

    async def redraw(self, part: Part, provider_id: str, to: Address, line: str) -> None:
        """Redraw a sent part: the same text without its closing and buttons, and `line` (plain) below.

        Repeatable: a part in this state counts as done. Raises `core.errors.DeliveryError`: `Rejected` if the
        part can never be redrawn (too old, deleted).
        """
        ...


@runtime_checkable
class Streaming(Protocol):
    """Optional capability: let an answer grow in its final message.

    The streamed message becomes the answer only when `send` gets it as `Target.stream`. If it cannot hold the part,
    `send` sends the part anew and deletes the message, so the person has the part once. All methods but
    `streams_to` raise `core.errors.DeliveryError`.
    """

    stream_every: float
    """Seconds between two additions that the provider requires."""
    stream_limit: int
    """Characters of a growing message at most."""

    def streams_to(self, to: Address) -> bool:
        """Return whether answers to this address may grow."""
        ...

    async def start_stream(self, to: Address) -> str:
        """Begin an empty message and return the provider's id of it."""
        ...

    async def append_stream(self, to: Address, stream: str, text: str) -> None:
        """Add Markdown to a growing message."""
        ...

    async def find_stream(self, to: Address, since: datetime) -> str | None:
        """Find a message that was begun since then and stayed empty because its id was lost."""
        ...

    async def drop_stream(self, to: Address, stream: str) -> None:
        """Delete a message, if it is still there."""
        ...


def shortened(message: OutboundMessage) -> OutboundMessage:
    """Return a message cut to a readable length, with a note at the cut. A card is never cut."""
    if len(message.text) <= MAX_CHARACTERS or message.kind is OutboundKind.CARD:
        return message
    return replace(message, text=f"{message.text[:MAX_CHARACTERS].rstrip()}\n\n{gettext(replies.REST_LEFT_OUT)}")


def too_long(card: OutboundMessage, channel: NotificationChannel) -> bool:
    """Return whether a card is too long, or too expensive, to be shown in full on a channel."""
    if len(card.text) > MAX_CHARACTERS:
        return True
    most = 2 * channel.budget.message if isinstance(channel, Billed) else None
    return most is not None and sum(part.segments for part in channel.render(card)) > most
