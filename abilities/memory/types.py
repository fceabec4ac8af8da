"""The values of memory: statements with their source and time, and the result of a recall."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.json_types import Json, JsonObject

type Vector = Sequence[float]
"""An embedding, of length 1."""

PERSON = "person"
ASSISTANT = "assistant"


class Kind(StrEnum):
    """The source of a memory, which limits its use."""

    TOLD = "told"
    """The person's own words: a fact that the assistant may act on."""
    INFERRED = "inferred"
    """The assistant's own words."""
    OUTSIDE = "outside"
    """From tools, mail or the web: never a fact about the person or a wish of theirs."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message to remember. `key` never changes: adding the same message again has no effect."""

    key: str
    text: str
    speaker: str
    kind: Kind
    said_at: datetime
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory about to be stored: its text, the knowledge that the extractor found in it, and its vector, if any.

    `knowledge` has typeagent's own schema. `slot` names a property with a single value at a time (`home`, `my sister`):
    a statement with another value replaces the earlier statement.
    """

    said: Utterance
    part: int
    text: str
    knowledge: JsonObject
    extractor: str
    slot: str = ""
    vector: Vector = ()
    held: bool = False
    """Whether it is stored but neither recalled nor listed, until a model has read it."""

    @property
    def key(self) -> str:
        """Return the key by which the statement is recognised when it is added again."""
        return f"{self.said.key}#{self.part}"


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. The person is shown its `number`; it holds while `valid_to` is None."""

    id: str
    number: int
    collection: str
    text: str
    speaker: str
    kind: Kind
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    superseded_by: str | None = None
    slot: str = ""
    turn_id: str | None = None
    knowledge: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a person's memory: the newest number, and the number of removals.

    `settled`: the newest number that an index may hold: no memory up to it is held back or unread.
    """

    number: int = 0
    epoch: int = 0
    settled: int = 0


class RetrieverKind(StrEnum):
    """The ways of finding a memory."""

    TEXT = "text"
    VECTOR = "vector"
    STRUCTURED = "structured"


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a retriever found. `strength` is its certainty, 0 to 1; each retriever has scores of its own."""

    memory_id: str
    score: float
    strength: float


@dataclass(frozen=True, slots=True)
class RetrieverReport:
    """The result of a retriever: its hits in order, its time, and the reason if it did not answer."""

    kind: RetrieverKind
    hits: tuple[Hit, ...] = ()
    took_ms: int = 0
    missed: str | None = None
    """None: it answered. Otherwise `slow`, `off`, `catching up`, or the error's name."""

    def to_json(self) -> JsonObject:
        """Return the stored form, for the trace: ids and times, never text."""
        hits: list[Json] = [hit.memory_id for hit in self.hits]
        return {"leg": self.kind.value, "hits": hits, "took_ms": self.took_ms, "missed": self.missed or ""}


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recalled memory with its fused score and the retrievers that found it."""

    memory: Memory
    score: float
    found_by: tuple[RetrieverKind, ...]

    def line(self) -> str:
        """Return a line for a prompt: a number, and that something was said, by whom and when.

        Reported, so that no model takes an old wish for a present wish.
        """
        memory = self.memory
        said = f'[{memory.number}] On {memory.said_at:%Y-%m-%d} {_SAID[memory.kind]}: "{" ".join(memory.text.split())}"'
        return f"{said} (no longer so since {memory.valid_to:%Y-%m-%d})" if memory.valid_to is not None else said


_SAID = {Kind.TOLD: "the person said", Kind.INFERRED: "you said", Kind.OUTSIDE: "outside content said"}


@dataclass(frozen=True, slots=True)
class Recall:
    """The memories that a question found, the most important first, and a report of each retriever."""

    found: tuple[Recalled, ...] = ()
    reports: tuple[RetrieverReport, ...] = ()
    took_ms: int = 0

    @property
    def degraded(self) -> tuple[RetrieverReport, ...]:
        """Return the retrievers that did not answer."""
        return tuple(report for report in self.reports if report.missed)

    def lines(self) -> Sequence[str]:
        return [recalled.line() for recalled in self.found]

    def to_json(self) -> JsonObject:
        return {
            "legs": [report.to_json() for report in self.reports],
            "found": [recalled.memory.id for recalled in self.found],
            "took_ms": self.took_ms,
        }


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer in words with the memories that it cites. The text is empty if nothing is known."""

    text: str
    citations: tuple[Memory, ...] = ()
