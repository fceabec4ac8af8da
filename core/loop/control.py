"""Signals to a running turn: a request to stop, which cuts off a call to a model, and further messages."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, Self, cast

from core.errors import Halted
from core.files.types import SeenFile
from core.json_types import JsonObject
from core.messaging.messages import Origin
from core.messaging.pointed import EDITED, POWERLESS, Pointed, Whose


class CutOff(Exception):
    """A call was cut off, as the person asked to stop. `words`: their message with it, which may be empty.

    `superseded`: they did not, but wrote again, and prefer that a new message ends the turn.
    """

    def __init__(self, words: str, *, superseded: bool = False) -> None:
        super().__init__("superseded" if superseded else "stopped")
        self.words = words
        self.superseded = superseded


class InterruptSignal:
    """Cuts off the calls of a turn, now and later, once it is set. Only calls: a tool that has begun is awaited."""

    def __init__(self) -> None:
        self._cut: CutOff | Halted | None = None
        self._calls: set[asyncio.Timeout] = set()

    def set(self, words: str | None, *, superseded: bool = False, halted: bool = False) -> None:
        """Cut off the calls that the turn waits for, now and later. None: no stop is stored.

        `halted`: all work is halted, so the turn stops here and goes on later, which comes before its person's wish.
        """
        if self._cut is not None or (words is None and not superseded and not halted):
            return
        self._cut = Halted() if halted else CutOff(words or "", superseded=words is None)
        now = asyncio.get_running_loop().time()
        for call in self._calls:
            call.reschedule(now)

    @asynccontextmanager
    async def cuts_off(self) -> AsyncIterator[None]:
        """Raise `CutOff`, or `Halted`, from the block as soon as the signal is set."""
        if self._cut is not None:
            raise self._cut
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._calls.add(limit)
                try:
                    yield
                finally:
                    self._calls.discard(limit)
        except TimeoutError:
            if limit.expired() and self._cut is not None:
                raise self._cut from None
            raise


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """An inbound message of the turn, its text as the person wrote it."""

    id: str
    text: str
    received_at: datetime
    media_count: int = 0
    about: str | None = None
    """The code of the approval whose card this message answers as a reply."""
    origin: Origin = Origin.OWN
    points: tuple[Pointed, ...] = ()
    """The message that the person points at with it."""
    goes_on: str | None = None
    """The characters between this part and the next if a provider cut the text; None if it did not."""
    continues: bool = False
    """Whether this is the rest of the message before it."""
    rest: tuple[str, ...] = ()
    """The ids of the parts that were put together with it."""
    amends: str = ""
    """The id of the message whose words these are to replace."""
    files: tuple[SeenFile, ...] = ()
    """Its files, once they were taken in; the words of voice notes among them are then in `text`, too."""

    @property
    def is_own(self) -> bool:
        """Return whether all of its words are the person's: no words of others came with it."""
        return self.origin is Origin.OWN and all(point.whose is not Whose.OTHERS for point in self.points)

    @property
    def powerless(self) -> bool:
        """Return whether its words decide and answer nothing: they were changed once sent, or said in a group."""
        return any(point.whose in POWERLESS for point in self.points)

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of all its inbound messages."""
        return (self.id, *self.rest)

    @property
    def heard(self) -> str:
        """Return the words of its voice notes."""
        return "\n".join(file.words for file in self.files if file.words)

    @classmethod
    def from_json(cls, row: JsonObject) -> Self:
        """Return an inbound message as the SQL function `turn_message` shows it, or as a journal's row holds it."""
        return cls(
            id=str(row["id"]),
            text=str(row["text"]),
            received_at=datetime.fromisoformat(str(row["received_at"])),
            media_count=cast(int, row.get("media_count", 0)),
            about=cast("str | None", row.get("about")) or None,
            origin=Origin(str(row.get("origin") or Origin.OWN)),
            points=tuple(map(Pointed.from_json, cast(list[JsonObject], row.get("points") or ()))),
            goes_on=cast("str | None", row.get("goes_on")),
            continues=bool(row.get("continues")),
            rest=tuple(cast(list[str], row.get("rest") or ())),
            amends=str(row.get("amends") or ""),
        )

    def to_json(self) -> JsonObject:
        """Return the row of a journal for a message that a running turn took in."""
        return {
            "id": self.id,
            "text": self.text,
            "received_at": self.received_at.isoformat(),
            "media_count": self.media_count,
            "origin": self.origin.value,
            "points": [point.to_json() for point in self.points],
            "rest": list(self.rest),
        }


def put_together(messages: Iterable[TurnMessage]) -> list[TurnMessage]:
    """Return messages in order, with the parts of each cut text put together, and changed words replaced."""
    whole: list[TurnMessage] = []
    for message in messages:
        if message.amends and (at := _amended_by(message, whole)) is not None:
            whole[at] = _with_words_of(message, whole[at])
            continue
        last = whole[-1] if whole else None
        if last is None or last.goes_on is None or not message.continues:
            whole.append(message)
            continue
        text = f"{last.text}{last.goes_on}{message.text}"
        whole[-1] = replace(last, text=text, goes_on=message.goes_on, rest=(*last.rest, *message.ids))
    return whole


def _amended_by(message: TurnMessage, whole: Sequence[TurnMessage]) -> int | None:
    """Return the place of the message whose words are replaced; None if it is not there, or is more than its words."""
    for at, one in enumerate(whole):
        cut = one.rest and not one.powerless
        if message.amends in (one.id, one.amends) and not (cut or one.media_count or message.media_count):
            return at
    return None


def _with_words_of(message: TurnMessage, one: TurnMessage) -> TurnMessage:
    mark = tuple(point for point in one.points if point.whose in POWERLESS) or (EDITED,)
    points = (*mark, *(point for point in message.points if point.whose not in POWERLESS))
    return replace(one, text=message.text, origin=message.origin, points=points, rest=(*one.rest, *message.ids))


type TakeIn = Callable[[TurnMessage], Awaitable[TurnMessage]]
"""Returns a message with its files."""


class TurnControl(Protocol):
    """Signals to a running turn, read before each model call and after tools."""

    @property
    def signal(self) -> InterruptSignal:
        """Return the signal that is set if a stop or an interruption comes while a model is asked."""
        ...

    async def stopped(self) -> str | None:
        """Return the message with which the person asked to stop, which may be empty; None to go on.

        Raises `Halted` if all work is halted.
        """
        ...

    async def absorb(self) -> Sequence[TurnMessage]:
        """Return the new messages that this turn takes in, in order.

        They stay waiting in the store until the turn commits, which names them in `TurnResult.absorbed`.
        After a take-over they may be returned again; the loop ignores those that it has recorded.
        """
        ...


@dataclass(frozen=True, slots=True)
class StopOnly:
    """Pass a stop on to an agent's own loop; further messages of the person belong to the turn's loop."""

    control: TurnControl

    @property
    def signal(self) -> InterruptSignal:
        return self.control.signal

    async def stopped(self) -> str | None:
        return await self.control.stopped()

    async def absorb(self) -> Sequence[TurnMessage]:
        return ()
