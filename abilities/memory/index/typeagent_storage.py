"""Faster parts of typeagent's SQLite storage for many memories: near terms, references, times, texts.

They return the same results as the parts they wrap (`tests/abilities/memory/differential.py` compares), without
reading a row and its JSON for every reference that a query touches, and without storing vectors twice. Each belongs
to one conversation and to the thread that owns it.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

_KINDS = ("entity", "action", "topic", "tag", "sTag")
_INITIAL_ROWS = 64


class NearTerms:
    """Terms and their vectors in a single matrix, in place of the fuzzy index of related terms.

    Typeagent stores a term twice that two messages of a batch share, which crowds others out of its ten nearest;
    here it is stored once, with a count.
    """

    def __init__(self, numpy: ModuleType, models: Any, make_term: Any, min_score: float) -> None:
        self._numpy = numpy
        self._models = models
        self._make_term = make_term
        self._min_score = min_score
        self._terms: list[str] = []
        self._copies: Counter[int] = Counter()
        self._rows: dict[str, int] = {}
        self._matrix: Any = None

    async def size(self) -> int:
        return len(self._terms)

    async def get_terms(self) -> list[str]:
        return sorted(self._terms)

    async def add_terms_with_embeddings(self, texts: Sequence[str], embeddings: Sequence[Any]) -> None:
        before = len(self._terms)
        for text, embedding in zip(texts, embeddings, strict=True):
            if not embedding.any():
                continue  # it could not be embedded: it matches exactly only
            row = self._rows.get(text)
            if row is None:
                self._put(len(self._terms), embedding)
                self._rows[text] = len(self._terms)  # after the vector: other threads look up terms by `vector`
                self._terms.append(text)
            elif row >= before:
                self._copies[row] += 1

    def vector(self, text: str) -> Sequence[float]:
        """Return a term's vector, empty if there is none."""
        row = self._rows.get(text)
        return () if row is None else tuple(self._matrix[row].tolist())

    async def lookup_terms(
        self, texts: list[str], max_hits: int | None = None, min_score: float | None = None
    ) -> list[list[Any]]:
        """Return the terms nearest to each, as typeagent does."""
        limit, least = max_hits or 10, self._min_score if min_score is None else min_score
        nearest = self.nearest({text: await self._models.get_embedding(text) for text in texts}, limit, least)
        out = []
        for text in texts:
            near = [pair for pair in nearest[text] for _ in range(1 + self._copies[self._rows[pair[0]]])]
            out.append([self._make_term(term, score) for term, score in near[:limit]])
        return out

    def nearest(self, vectors: Mapping[str, Any], limit: int, least: float) -> dict[str, list[tuple[str, float]]]:
        """Return the terms nearest to some vectors with their scores, (cosine + 1) / 2, the nearest first."""
        if not self._terms or not vectors:
            return {text: [] for text in vectors}
        numpy = self._numpy
        asked = numpy.stack(list(vectors.values()))
        # A single pass over the matrix for all vectors: it is larger than any processor cache.
        scores = (asked @ self._matrix[: len(self._terms)].T + 1.0) / 2.0
        out = {}
        for text, similar in zip(vectors, scores, strict=True):
            near = numpy.flatnonzero(similar >= least)
            near = near[numpy.argsort(-similar[near], kind="stable")[:limit]]
            out[text] = [(self._terms[row], min(float(similar[row]), 1.0)) for row in near]
        return out

    def _put(self, row: int, embedding: Any) -> None:
        numpy = self._numpy
        if self._matrix is None:
            self._matrix = numpy.empty((_INITIAL_ROWS, len(embedding)), dtype=numpy.float32)
        elif row >= len(self._matrix):
            larger = numpy.empty((row + row // 2, self._matrix.shape[1]), dtype=numpy.float32)
            larger[:row] = self._matrix[:row]
            self._matrix = larger
        self._matrix[row] = embedding


@dataclass(slots=True)
class _Knowledge:
    """The part of a reference's knowledge that queries read: its kind, and an entity's name and types."""

    knowledge_type: str
    name: str = ""
    type: Sequence[str] = ()


@dataclass(slots=True)
class _Reference:
    """The part of a reference that queries read. `range` is its message."""

    semantic_ref_ordinal: int
    range: Any
    knowledge: Any


@dataclass(slots=True)
class QuickReferences:
    """Wraps the collection of references: the message and the kind of each in five bytes.

    A message is a single chunk here, so its number is the whole range of a reference. Of entities, the names and types
    are stored as well, which queries compare.
    """

    rows: Any
    make_range: Any
    make_metadata: Any
    _messages: array[int] = field(default_factory=lambda: array("i"))
    _kinds: bytearray = field(default_factory=bytearray)
    _entities: dict[int, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    _ranges: dict[int, Any] = field(default_factory=dict)
    """The ranges created within a search."""

    @property
    def is_persistent(self) -> bool:
        return bool(self.rows.is_persistent)

    def __aiter__(self) -> Any:
        return self.rows.__aiter__()

    async def size(self) -> int:
        return len(self._messages)

    async def append(self, item: Any) -> None:
        await self.extend([item])

    async def extend(self, items: Any) -> None:
        items = list(items)
        await self.rows.extend(items)
        for number, item in enumerate(items, len(self._messages)):
            if item.knowledge.knowledge_type == "entity":
                self._entities[number] = (item.knowledge.name, tuple(item.knowledge.type))
        self._messages.extend(item.range.start.message_ordinal for item in items)
        self._kinds.extend(_KINDS.index(item.knowledge.knowledge_type) for item in items)

    async def get_item(self, arg: int) -> Any:
        name, types = self._entities.get(arg, ("", ()))
        return _Reference(arg, self._range(arg), _Knowledge(_KINDS[self._kinds[arg]], name, types))

    async def get_slice(self, start: int, stop: int) -> Any:
        return await self.rows.get_slice(start, stop)

    async def get_multiple(self, arg: list[int]) -> Any:
        return await self.rows.get_multiple(arg)

    async def get_metadata_multiple(self, ordinals: list[int]) -> list[Any]:
        return [self.make_metadata(number, self._range(number), _KINDS[self._kinds[number]]) for number in ordinals]

    def end_search(self) -> None:
        """Drop the objects created for a search."""
        self._ranges.clear()

    def _range(self, reference: int) -> Any:
        message = self._messages[reference]
        if message not in self._ranges:
            self._ranges[message] = self.make_range(message)
        return self._ranges[message]


@dataclass(slots=True)
class QuickTimes:
    """Wraps the index of times: consecutive messages become a single range, since queries go through all ranges."""

    rows: Any
    make_span: Any

    async def add_timestamps(self, message_timestamps: Any) -> None:
        await self.rows.add_timestamps(message_timestamps)

    async def lookup_range(self, date_range: Any) -> list[Any]:
        """Return the messages of a period in as few ranges as possible."""
        spans: list[list[int]] = []
        for row in await self.rows.lookup_range(date_range):
            number = row.range.start.message_ordinal
            if spans and spans[-1][1] == number:
                spans[-1][1] += 1
            else:
                spans.append([number, number + 1])
        return [self.make_span(start, end) for start, end in spans]


@dataclass(slots=True)
class CountedTexts:
    """In place of the index of message texts, which only counts: Postgres searches their vectors."""

    count: int = 0

    async def size(self) -> int:
        return self.count

    async def add_messages_starting_at_with_embeddings(
        self, start_message_ordinal: int, messages: Sequence[Any], chunk_embeddings: Sequence[Any]
    ) -> None:
        """Count more messages. Raises `ValueError` if they do not follow those counted before."""
        if start_message_ordinal != self.count or len(messages) != len(chunk_embeddings):
            raise ValueError("messages and vectors do not follow those that are there")
        self.count += len(messages)


class QuickLookups:
    """Wraps the index from terms to references: counts are known without reading rows, and within a search each
    term's rows are read once."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._counts: Counter[str] = Counter()
        self._known: dict[str, list[Any]] = {}

    async def add_term(self, term: str, semantic_ref_ordinal: Any) -> Any:
        self._counts[term.lower()] += 1
        return await self._rows.add_term(term, semantic_ref_ordinal)

    async def add_terms_batch(self, terms: Sequence[tuple[str, Any]]) -> None:
        self._counts.update(term.lower() for term, _ in terms)
        await self._rows.add_terms_batch(terms)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)

    async def lookup_term(self, term: str) -> list[Any]:
        """Return a term's references, as a list that the caller may change."""
        if term not in self._known:
            self._known[term] = await self._rows.lookup_term(term) or []
        return list(self._known[term])

    async def count(self, term: str) -> int:
        """Return the number of a term's references; a term that is stored in another spelling is looked up."""
        return self._counts.get(term) or len(await self.lookup_term(term))

    def end_search(self) -> None:
        """Drop the rows read for a search."""
        self._known.clear()
