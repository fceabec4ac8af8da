"""Signals to a running turn: a request to stop, and further messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.files.types import SeenFile
from core.loop.stop_signal import StopSignal
from core.messaging.messages import Origin
from core.messaging.pointed import Pointed, any_of_others


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """One inbound message of the turn, its text as the person wrote it."""

    id: str
    text: str
    received_at: datetime
    media_count: int = 0
    about: str | None = None
    """The code of the approval whose card this message answers as a reply."""
    origin: Origin = Origin.OWN
    points: tuple[Pointed, ...] = ()
    """What the person points at with it."""
    files: tuple[SeenFile, ...] = ()
    """Its files, once they were taken in; what is said in voice notes among them then stands in `text`, too."""

    @property
    def is_own(self) -> bool:
        """Return whether all of its words are the person's: no words of others came with it."""
        return self.origin is Origin.OWN and not any_of_others(self.points)

    @property
    def heard(self) -> str:
        """Return what is said in its voice notes."""
        return "\n".join(file.words for file in self.files if file.words)


class TurnControl(Protocol):
    """Signals to a running turn, read before each model call and after tools."""

    @property
    def signal(self) -> StopSignal:
        """Return what is set where a stop, or what interrupts, comes while a model is asked."""
        ...

    async def stopped(self) -> str | None:
        """Return the message with which the person asked to stop, which may be empty; None to go on."""
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
    def signal(self) -> StopSignal:
        return self.control.signal

    async def stopped(self) -> str | None:
        return await self.control.stopped()

    async def absorb(self) -> Sequence[TurnMessage]:
        return ()
