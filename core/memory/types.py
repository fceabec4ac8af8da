"""What memory is made of: statements with their source and time, and what a recall gives back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.json_types import JsonObject

type Vector = Sequence[float]
"""An embedding, of length one."""

PERSON = "person"
ASSISTANT = "assistant"


class Kind(StrEnum):
    """Where a memory comes from, which says what may be made of it."""

    TOLD = "told"
    """The person's own words: a fact that the assistant may act on."""
    INFERRED = "inferred"
    """What the assistant said by itself."""
    OUTSIDE = "outside"
    """From tools, mail or the web: never a fact about the person, never a wish of theirs."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message to remember. `key` is unique for ever: the same message handed over again changes nothing."""

    key: str
    text: str
    speaker: str
    kind: Kind
    said_at: datetime
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One memory about to be kept: its text, what the extractor found in it, and its vector where there is one.

    `knowledge` is in typeagent's own schema. `slot` names what can have one value only (`home`, `my sister`);
    statements of one slot and another value replace each other.
    """

    said: Said
    part: int
    text: str
    knowledge: JsonObject
    extractor: str
    slot: str = ""
    vector: Vector = ()

    @property
    def key(self) -> str:
        """Return what makes it the same statement when it is handed over again."""
        return f"{self.said.key}#{self.part}"


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it is kept. `number` is what the person is shown; `valid_to` None: it holds."""

    id: str
    number: int
    collection: str
    text: str
    speaker: str
    kind: Kind
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    superseded_by: str = ""
    slot: str = ""
    turn_id: str = ""
    knowledge: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Version:
    """Where a person's memory stands: the newest number, and how often something went."""

    number: int = 0
    epoch: int = 0


class Leg(StrEnum):
    """One way of finding a memory."""

    TEXT = "text"
    VECTOR = "vector"
    STRUCTURED = "structured"


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a leg found. `strength` says how sure that leg is, 0 to 1; legs rank by their own scores."""

    memory_id: str
    score: float
    strength: float


@dataclass(frozen=True, slots=True)
class LegReport:
    """How one leg did: what it found, in its order, how long it took, and why it gave nothing."""

    leg: Leg
    hits: tuple[Hit, ...] = ()
    took_ms: int = 0
    missed: str = ""
    """Empty: it answered. Otherwise `slow`, `off`, `catching up`, or the error's name."""

    def to_json(self) -> JsonObject:
        """Write it down for the trace: ids and times, never text."""
        found = [hit.memory_id for hit in self.hits]
        return {"leg": self.leg.value, "hits": list(found), "took_ms": self.took_ms, "missed": self.missed}


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that was recalled, with its fused score and the legs that found it."""

    memory: Memory
    score: float
    legs: tuple[Leg, ...]

    def line(self) -> str:
        """Write it for a prompt: number, date, source, words."""
        memory = self.memory
        about = f"{memory.said_at:%Y-%m-%d}, {_SOURCES[memory.kind]}"
        if memory.valid_to is not None:
            about += f", no longer so since {memory.valid_to:%Y-%m-%d}"
        return f"[{memory.number}] ({about}) {memory.text}"


_SOURCES = {Kind.TOLD: "told by the person", Kind.INFERRED: "said by you", Kind.OUTSIDE: "from outside content"}


@dataclass(frozen=True, slots=True)
class Recall:
    """What a question brought back, the most important first, and how each leg did."""

    found: tuple[Recalled, ...] = ()
    legs: tuple[LegReport, ...] = ()
    took_ms: int = 0

    @property
    def degraded(self) -> tuple[LegReport, ...]:
        """Return the legs that did not answer."""
        return tuple(leg for leg in self.legs if leg.missed)

    def lines(self) -> Sequence[str]:
        """Return a line for each memory."""
        return [one.line() for one in self.found]

    def to_json(self) -> JsonObject:
        """Write it down for the trace."""
        return {
            "legs": [leg.to_json() for leg in self.legs],
            "found": [one.memory.id for one in self.found],
            "took_ms": self.took_ms,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in words, with the memories that it rests on. Empty `text`: nothing is known of it."""

    text: str
    citations: tuple[Memory, ...] = ()
