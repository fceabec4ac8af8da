"""The only module that knows typeagent: a person's conversation as an index over their memories.

It is loaded in workers only, before they serve, and used in the thread that owns every index
(`abilities.memory.index.thread`): a conversation is an SQLite database in RAM, bound to the thread that created it.
Models are injected as tables of results computed before, so that an index catches up without any model. Messages are
added by the streaming method only; the other keeps the vectors of messages whose transaction was rolled back.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import log
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from abilities.memory.index.no_models import replace_adapters
from abilities.memory.index.typeagent_storage import CountedTexts, NearTerms, QuickLookups, QuickReferences, QuickTimes
from abilities.memory.types import PERSON, Hit, Memory, Vector
from core.json_types import Json, JsonObject

if TYPE_CHECKING:
    from types import ModuleType

MAX_RELATED = 8
MAX_REFERENCES = 2000
"""References that a search goes through, the rarest terms first: a term of every other memory distinguishes nothing."""
RELATED = 0.86
"""The score, (cosine + 1) / 2, from which a term counts as related, for the embedded sentence encoder."""


@dataclass(frozen=True, slots=True)
class StructuredQuery:
    """A search for `terms` with their vectors, within a period if any was named."""

    terms: tuple[str, ...]
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    """The weight of each term; 1 for terms that are not listed."""


class IndexBroken(Exception):
    """An index lacks memories that it was given."""


class PersonIndex:
    """The index of a person. Its methods run in the thread that created it."""

    def __init__(self, embedder: str) -> None:
        self._embedder = embedder
        self._models = _Tables(embedder)
        self._conversation: Any = None
        self._near: NearTerms | None = None
        self._lookups: QuickLookups | None = None
        self.ids: list[str] = []

    async def append(self, items: Sequence[Memory], terms: Mapping[str, Vector]) -> None:
        """Add memories in order, and check that all are there. Raises `IndexBroken`."""
        library = _library()
        if self._conversation is None:
            self._conversation = await self._open(library)
        self._models.give(items, terms)
        try:
            await self._conversation.add_messages_streaming(_messages(library, items), batch_size=len(items) + 1)
        finally:
            self._models.clear()
        self.ids += [item.id for item in items]
        await self._check()

    async def search(self, query: StructuredQuery, limit: int) -> list[Hit]:
        """Return the memories with these entities, actions and topics, or with related terms."""
        if self._conversation is None or self._lookups is None or not query.terms:
            return []
        library = _library()
        try:
            weights = {
                term: await self._weight(self._lookups, term) * query.shares.get(term, 1.0) for term in query.terms
            }
            related = self._related(library, query, weights)
            weights = await self._without_common(self._lookups, weights, related)
            terms = [
                library.SearchTerm(library.Term(term, weight), related.get(term, []))
                for term, weight in weights.items()
            ]
            group = library.SearchTermGroup(boolean_op="or", terms=terms)
            options = library.SearchOptions(exact_match=True, max_message_matches=limit)
            result = await library.search_conversation(self._conversation, group, _when(library, query), options)
        finally:
            self._end_search()
        whole = sum(weight for term, weight in weights.items() if query.shares.get(term, 1.0) >= 1) or 1.0
        matches = result.message_matches if result else []
        return [Hit(self.ids[match.message_ordinal], match.score, min(match.score / whole, 1.0)) for match in matches]

    async def run(self, query: Any, when: Any, options: Any) -> Any:
        """Run a query of typeagent's own, for the comparison with its own storage."""
        try:
            return await _library().search_conversation(self._conversation, query, when, options)
        finally:
            self._end_search()

    async def close(self) -> None:
        if self._conversation is not None:
            await self._conversation.storage_provider.close()
            self._conversation = self._near = self._lookups = None

    async def _open(self, library: "_Library") -> Any:
        settings = library.ConversationSettings(self._models)
        settings.semantic_ref_index_settings.knowledge_extractor = self._models
        settings.semantic_ref_index_settings.concurrency = 1
        conversation = await library.create_conversation(
            ":memory:", library.ConversationMessage, name="memory", settings=settings
        )
        secondary = conversation.secondary_indexes
        self._near = NearTerms(_numpy(), self._models, library.Term, RELATED)
        aliases = secondary.term_to_related_terms_index.aliases
        secondary.term_to_related_terms_index = SimpleNamespace(aliases=aliases, fuzzy_index=self._near)
        secondary.timestamp_index = QuickTimes(secondary.timestamp_index, library.span)
        secondary.message_index = CountedTexts()
        conversation.messages.set_message_text_index(secondary.message_index)
        conversation.semantic_refs = QuickReferences(
            conversation.semantic_refs, library.point, library.SemanticRefMetadata
        )
        conversation.semantic_ref_index = self._lookups = QuickLookups(conversation.semantic_ref_index)
        return conversation

    def _related(
        self, library: "_Library", query: StructuredQuery, weights: Mapping[str, float]
    ) -> dict[str, list[Any]]:
        """Return related terms by term; typeagent by itself takes the ten nearest, however far they are."""
        asked = {
            term: _numpy().asarray(query.vectors[term], dtype=_numpy().float32)
            for term in weights
            if len(query.vectors.get(term, ()))
        }
        if self._near is None:
            return {}
        out = {}
        for term, near in self._near.nearest(asked, MAX_RELATED + len(query.terms), RELATED).items():
            nearest = [(text, score) for text, score in near if text not in query.terms][:MAX_RELATED]
            out[term] = [library.Term(text, weights[term] * score * 0.8) for text, score in nearest]
        return out

    async def _weight(self, lookups: QuickLookups, term: str) -> float:
        """Return the weight of a term: the more, the fewer memories have it."""
        everything = len(self.ids) + 1
        return 10.0 * log(1 + everything / (1 + await lookups.count(term))) / log(1 + everything)

    async def _without_common(
        self, lookups: QuickLookups, weights: Mapping[str, float], related: dict[str, list[Any]]
    ) -> dict[str, float]:
        """Return the terms to search for, without the commonest if a search would go through too many references.

        Related terms are counted too; those that are too common are removed from `related`.
        """
        counts = {term: await lookups.count(term) for term in weights}
        counts |= {term.text: await lookups.count(term.text) for near in related.values() for term in near}
        left, taken = MAX_REFERENCES, set[str]()
        for term, count in sorted(counts.items(), key=lambda item: item[1]):
            left -= count
            if left < 0 and taken:
                break
            taken.add(term)
        for term, near in related.items():
            related[term] = [near_term for near_term in near if near_term.text in taken]
        return {term: weight for term, weight in weights.items() if term in taken}

    def vectors(self, words: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of the words that are terms of this index."""
        if self._near is None:
            return {}
        return {word: vector for word in words if (vector := self._near.vector(word))}

    def _end_search(self) -> None:
        if self._conversation is not None and self._lookups is not None:
            self._lookups.end_search()
            self._conversation.semantic_refs.end_search()

    async def _check(self) -> None:
        indexed = await self._conversation.messages.size()
        counted = await self._conversation.secondary_indexes.message_index.size()
        if not indexed == counted == len(self.ids):
            raise IndexBroken(f"{indexed} messages, {counted} counted, {len(self.ids)} memories")


@dataclass(slots=True)
class _Tables:
    """Stands in for typeagent's embedding model and its extractor: returns results computed before."""

    model_name: str
    _vectors: dict[str, Any] = field(default_factory=dict)
    _knowledge: dict[str, list[JsonObject]] = field(default_factory=dict)
    _nothing: Any = None
    """The vector of a term that has none: it is like no other."""

    def give(self, items: Sequence[Memory], terms: Mapping[str, Vector]) -> None:
        numpy = _numpy()
        self._vectors = {term: numpy.asarray(vector, dtype=numpy.float32) for term, vector in terms.items()}
        size = len(next(iter(self._vectors.values()), ())) or 1
        self._nothing = numpy.zeros(size, dtype=numpy.float32)
        for item in items:
            self._knowledge.setdefault(item.text, []).append(item.knowledge)

    def clear(self) -> None:
        self._vectors, self._knowledge = {}, {}

    def add_embedding(self, key: str, embedding: Any) -> None:
        """Do nothing: forgotten texts must not survive in a cache."""

    async def get_embedding_nocache(self, input: str) -> Any:
        return self._vectors.get(input, self._nothing)

    async def get_embeddings_nocache(self, input: list[str]) -> Any:
        return _numpy().array([self._vectors.get(term, self._nothing) for term in input])

    async def get_embedding(self, key: str) -> Any:
        return await self.get_embedding_nocache(key)

    async def get_embeddings(self, keys: list[str]) -> Any:
        return await self.get_embeddings_nocache(keys)

    async def extract(self, message: str) -> Any:
        library = _library()
        return library.Success(library.knowledge.validate_python(self._knowledge[message].pop(0)))


@dataclass(frozen=True, slots=True)
class _Library:
    """The names of typeagent that are used here."""

    ConversationMessage: Any
    ConversationMessageMeta: Any
    ConversationSettings: Any
    DateRange: Any
    KnowledgeExtractor: Any
    SearchOptions: Any
    SearchTerm: Any
    SearchTermGroup: Any
    SemanticRefMetadata: Any
    Success: Any
    Failure: Any
    Term: Any
    WhenFilter: Any
    create_conversation: Any
    search_conversation: Any
    knowledge: Any
    """Parses and serialises a KnowledgeResponse."""
    interfaces: Any

    def point(self, message: int) -> Any:
        return self.interfaces.TextRange(self.interfaces.TextLocation(message))

    def span(self, start: int, end: int) -> Any:
        """Return a range of messages, without `end`."""
        location = self.interfaces.TextLocation
        return self.interfaces.TimestampedTextRange(
            range=self.interfaces.TextRange(location(start), location(end)), timestamp=""
        )


_loaded: _Library | None = None


def loaded() -> bool:
    return _loaded is not None


def load() -> None:
    """Import typeagent: a second of CPU the first time, in which no other thread gets far."""
    _library()


def _library() -> _Library:
    """Import typeagent once, and return the parts that are used."""
    global _loaded
    if _loaded is None:
        replace_adapters()
        import typechat
        from pydantic import TypeAdapter
        from typeagent.knowpro import convknowledge, factory, interfaces, knowledge_schema, search, universal_message
        from typeagent.knowpro.convsettings import ConversationSettings
        from typeagent.knowpro.interfaces_core import DateRange

        _loaded = _Library(
            universal_message.ConversationMessage,
            universal_message.ConversationMessageMeta,
            ConversationSettings,
            DateRange,
            convknowledge.KnowledgeExtractor,
            search.SearchOptions,
            interfaces.SearchTerm,
            interfaces.SearchTermGroup,
            interfaces.SemanticRefMetadata,
            typechat.Success,
            typechat.Failure,
            interfaces.Term,
            interfaces.WhenFilter,
            factory.create_conversation,
            search.search_conversation,
            TypeAdapter(knowledge_schema.KnowledgeResponse),
            interfaces,
        )
    return _loaded


def _numpy() -> "ModuleType":
    import numpy

    return numpy


async def _messages(library: _Library, items: Sequence[Memory]) -> AsyncIterator[Any]:
    for item in items:
        speaker = None if item.speaker == PERSON else item.speaker
        yield library.ConversationMessage(
            text_chunks=[item.text],
            metadata=library.ConversationMessageMeta(speaker=speaker),
            timestamp=f"{item.said_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
            source_id=item.id,
        )


def _when(library: _Library, query: StructuredQuery) -> Any:
    if query.since is None:
        return None
    return library.WhenFilter(date_range=library.DateRange(query.since, query.until))


def checked(knowledge: JsonObject) -> JsonObject | None:
    """Return knowledge that a model wrote without its malformed parts; None if no other parts are left."""
    library = _library()
    whole: JsonObject = {}
    for name in ("entities", "actions", "inverse_actions", "topics"):
        items = knowledge.get(name)
        good: list[Json] = []
        for item in items if isinstance(items, list) else ():
            empty: JsonObject = {"entities": [], "actions": [], "inverse_actions": [], "topics": []}
            try:
                parsed = library.knowledge.validate_python(empty | {name: [item]})
            except ValueError:
                continue
            good += library.knowledge.dump_python(parsed, mode="json", by_alias=True)[name]
        whole[name] = good
    return whole if any(whole.values()) or not any(knowledge.values()) else None


async def extract_with(complete: Any, text: str) -> JsonObject | None:
    """Extract the knowledge in a text by a model with typeagent's own prompt; None if the answer is unusable.

    `complete` is a coroutine function from a prompt to the model's words.
    """
    library = _library()

    class Model:
        """A TypeChat model over ours."""

        async def complete(self, prompt: Any) -> Any:
            text = prompt if isinstance(prompt, str) else "\n\n".join(str(section["content"]) for section in prompt)
            answer = await complete(text)
            return library.Success(answer) if answer else library.Failure("no answer")

    result = await library.KnowledgeExtractor(model=Model()).extract(text)
    if not isinstance(result, library.Success):
        return None
    knowledge: JsonObject = library.knowledge.dump_python(result.value, mode="json", by_alias=True)
    return knowledge
