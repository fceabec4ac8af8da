"""The values of answers by voice."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.json_types import JsonObject
from core.messaging.messages import Address

MAX_TRIES = 2
"""Workers that begin a recording: the second takes over from one that died."""


class SpeechState(StrEnum):
    """The outcomes of an answer that is to be spoken."""

    SPOKEN = "spoken"
    LEFT_OUT = "left_out"
    """There was nothing to be heard, or nowhere to send it."""
    FAILED = "failed"


class Asking(StrEnum):
    """The outcomes of asking for the last answer."""

    WAITING = "waiting"
    SPOKEN = "spoken"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ClaimedSpeech:
    """The right to have an answer spoken, until the lease ends."""

    tenant_id: str
    id: str
    owner: str


@dataclass(frozen=True, slots=True)
class DueSpeech:
    """A claimed answer with its words.

    `arrived`: whether its text did; `asked`: its person asked for this one; `number`: its place among the person's.
    """

    turn_id: str
    words: str
    arrived: bool
    tries: int
    asked: bool
    number: int
    language: str
    address: Address


@dataclass(frozen=True, slots=True)
class SpeechEnd:
    """The outcome of a claimed answer. `message`: the message after it, as `enqueue` takes it."""

    state: SpeechState
    reason: str = ""
    file_id: str | None = None
    seconds: float | None = None
    message: JsonObject | None = None

    def to_json(self) -> JsonObject:
        """Return the argument of `end_speech`."""
        told: JsonObject = {"state": self.state.value, "reason": self.reason, "file": self.file_id}
        told |= {} if self.seconds is None else {"seconds": round(self.seconds, 2)}
        return told if self.message is None else told | {"message": self.message}


@dataclass(frozen=True, slots=True)
class Sound:
    """A recording of words."""

    body: bytes = field(repr=False)
    seconds: float
