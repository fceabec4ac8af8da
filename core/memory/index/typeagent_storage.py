"""Parts of typeagent's SQLite storage, done anew for many memories: near terms, references, times, texts.

They give what the parts that they stand before give (`tests/core/memory/differential.py` compares), without reading a
row and its JSON for every reference that a query touches, or keeping vectors twice. Each belongs to one conversation
and to the thread that owns it.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

_KINDS = ("entity", "action", "topic", "tag", "sTag")
_FIRST_ROOM = 64


class NearTerms:
    """Terms and their vectors in one matrix. Stands in for the fuzzy index of related terms.

    Typeagent keeps a term twice that two messages of one batch share, which crowds others out of its ten nearest;
    here it is kept once, with how often it counts.
    """

    def __init__(self, numpy: ModuleType, models: Any, make_term: Any, least: float) -> None:
        self._numpy = numpy
        self._models = models
        self._make_term = make_term
        self._least = least
        self._terms: list[str] = []
        self._copies: Counter[int] = Counter()
        self._places: dict[str, int] = {}
        self._matrix: Any = None

    async def size(self) -> int:
        """Count the terms."""
        return len(self._terms)

    async def get_terms(self) -> list[str]:
        """Return all terms in order."""
        return sorted(self._terms)

    async def add_terms_with_embeddings(self, texts: Sequence[str], embeddings: Sequence[Any]) -> None:
        """Take in the terms of a batch of messages."""
        before = len(self._terms)
        for text, embedding in zip(texts, embeddings, strict=True):
            if not embedding.any():
                continue  # nobody could embed it: it is found by its own letters only
            place = self._places.get(text)
            if place is None:
                self._put(len(self._terms), embedding)
                self._places[text] = len(self._terms)  # whoever looks from another thread finds the row there
                self._terms.append(text)
            elif place >= before:
                self._copies[place] += 1

    def vector(self, text: str) -> Sequence[float]:
        """Return a term's vector, empty for one that is not there."""
        place = self._places.get(text)
        return () if place is None else tuple(self._matrix[place].tolist())

    async def lookup_terms(
        self, texts: list[str], max_hits: int | None = None, min_score: float | None = None
    ) -> list[list[Any]]:
        """Return the terms nearest to each, as typeagent does."""
        most, least = max_hits or 10, self._least if min_score is None else min_score
        found = self.nearest({one: await self._models.get_embedding(one) for one in texts}, most, least)
        out = []
        for text in texts:
            near = [one for one in found[text] for _ in range(1 + self._copies[self._places[one[0]]])]
            out.append([self._make_term(term, score) for term, score in near[:most]])
        return out

    def nearest(self, vectors: Mapping[str, Any], most: int, least: float) -> dict[str, list[tuple[str, float]]]:
        """Return the terms nearest to some vectors with their scores, (cosine + 1) / 2, the nearest first."""
        if not self._terms or not vectors:
            return {text: [] for text in vectors}
        numpy = self._numpy
        asked = numpy.stack(list(vectors.values()))
        # One pass over the matrix for all of them: it is larger than any cache of a processor.
        scores = (asked @ self._matrix[: len(self._terms)].T + 1.0) / 2.0
        out = {}
        for text, row in zip(vectors, scores, strict=True):
            near = numpy.flatnonzero(row >= least)
            near = near[numpy.argsort(-row[near], kind="stable")[:most]]
            out[text] = [(self._terms[place], min(float(row[place]), 1.0)) for place in near]
        return out

    def _put(self, place: int, embedding: Any) -> None:
        numpy = self._numpy
        if self._matrix is None:
            self._matrix = numpy.empty((_FIRST_ROOM, len(embedding)), dtype=numpy.float32)
        elif place >= len(self._matrix):
            room = numpy.empty((place + place // 2, self._matrix.shape[1]), dtype=numpy.float32)
            room[:place] = self._matrix[:place]
            self._matrix = room
        self._matrix[place] = embedding


@dataclass(slots=True)
class _Knowledge:
    """What a query asks of a reference's knowledge: its kind, and by what an entity is named."""

    knowledge_type: str
    name: str = ""
    type: Sequence[str] = ()


@dataclass(slots=True)
class _Reference:
    """A reference as queries need it. `range`: the message that it stands in."""

    semantic_ref_ordinal: int
    range: Any
    knowledge: Any


@dataclass(slots=True)
class QuickReferences:
    """Stands before the collection of references: where each one points, and of what kind it is, in five bytes.

    A message is one chunk here, so that its number is all of a reference's range. Of an entity, its name and types are
    kept as well, which a query compares.
    """

    rows: Any
    make_range: Any
    make_metadata: Any
    _messages: array[int] = field(default_factory=lambda: array("i"))
    _kinds: bytearray = field(default_factory=bytearray)
    _entities: dict[int, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    _ranges: dict[int, Any] = field(default_factory=dict)
    """The ranges made within one search."""

    @property
    def is_persistent(self) -> bool:
        """Return what the rows tell."""
        return bool(self.rows.is_persistent)

    def __aiter__(self) -> Any:
        return self.rows.__aiter__()

    async def size(self) -> int:
        """Count the references."""
        return len(self._messages)

    async def append(self, item: Any) -> None:
        """Take one in."""
        await self.extend([item])

    async def extend(self, items: Any) -> None:
        """Take some in."""
        items = list(items)
        await self.rows.extend(items)
        for place, one in enumerate(items, len(self._messages)):
            if one.knowledge.knowledge_type == "entity":
                self._entities[place] = (one.knowledge.name, tuple(one.knowledge.type))
        self._messages.extend(one.range.start.message_ordinal for one in items)
        self._kinds.extend(_KINDS.index(one.knowledge.knowledge_type) for one in items)

    async def get_item(self, arg: int) -> Any:
        """Return a reference as queries need it."""
        name, types = self._entities.get(arg, ("", ()))
        return _Reference(arg, self._range(arg), _Knowledge(_KINDS[self._kinds[arg]], name, types))

    async def get_slice(self, start: int, stop: int) -> Any:
        """Return whole references, from their rows."""
        return await self.rows.get_slice(start, stop)

    async def get_multiple(self, arg: list[int]) -> Any:
        """Return whole references, from their rows."""
        return await self.rows.get_multiple(arg)

    async def get_metadata_multiple(self, ordinals: list[int]) -> list[Any]:
        """Return where references point and of what kind they are."""
        return [self.make_metadata(one, self._range(one), _KINDS[self._kinds[one]]) for one in ordinals]

    def end_search(self) -> None:
        """Let go of what was made for one search."""
        self._ranges.clear()

    def _range(self, reference: int) -> Any:
        message = self._messages[reference]
        found = self._ranges.get(message)
        if found is None:
            found = self._ranges[message] = self.make_range(message)
        return found


@dataclass(slots=True)
class QuickTimes:
    """Stands before the index of times: messages that follow each other are one range, which queries go through."""

    rows: Any
    make_span: Any

    async def add_timestamps(self, message_timestamps: Any) -> None:
        """Hand on: the rows have the times."""
        await self.rows.add_timestamps(message_timestamps)

    async def lookup_range(self, date_range: Any) -> list[Any]:
        """Return the messages of a time, as few ranges as they make."""
        spans: list[list[int]] = []
        for one in await self.rows.lookup_range(date_range):
            number = one.range.start.message_ordinal
            if spans and spans[-1][1] == number:
                spans[-1][1] += 1
            else:
                spans.append([number, number + 1])
        return [self.make_span(start, end) for start, end in spans]


@dataclass(slots=True)
class CountedTexts:
    """Stands in for the index of messages' texts: their vectors are Postgres' to search, and only counted here."""

    count: int = 0

    async def size(self) -> int:
        """Count the messages."""
        return self.count

    async def add_messages_starting_at_with_embeddings(
        self, start_message_ordinal: int, messages: Sequence[Any], chunk_embeddings: Sequence[Any]
    ) -> None:
        """Count some more. Raises `ValueError` where they do not follow those that are counted."""
        if start_message_ordinal != self.count or len(messages) != len(chunk_embeddings):
            raise ValueError("messages and vectors do not follow those that are there")
        self.count += len(messages)


class QuickLookups:
    """Stands before the index from terms to references: it knows how many each term has without reading them, and
    within one search each term's rows are read once."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._counts: Counter[str] = Counter()
        self._known: dict[str, list[Any]] = {}

    async def add_term(self, term: str, semantic_ref_ordinal: Any) -> Any:
        """Hand on, and count."""
        self._counts[term.lower()] += 1
        return await self._rows.add_term(term, semantic_ref_ordinal)

    async def add_terms_batch(self, terms: Sequence[tuple[str, Any]]) -> None:
        """Hand on, and count."""
        self._counts.update(term.lower() for term, _ in terms)
        await self._rows.add_terms_batch(terms)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)

    async def lookup_term(self, term: str) -> list[Any]:
        """Return a term's references, as a list of the caller's own."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = await self._rows.lookup_term(term) or []
        return list(found)

    async def count(self, term: str) -> int:
        """Count a term's references; a term that is written otherwise where it is kept is looked up."""
        return self._counts.get(term) or len(await self.lookup_term(term))

    def end_search(self) -> None:
        """Let go of what was read."""
        self._known.clear()
