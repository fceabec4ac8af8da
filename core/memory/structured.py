"""The only module that knows typeagent: one person's conversation as an index over their memories.

It is loaded in a worker only, at its first use, in the thread that owns every index (`core.memory.owner`): a
conversation is SQLite's, in RAM, bound to the thread that made it. Models are injected as tables: what it asks for has
been computed before, so that an index catches up without any model. Only the streaming way of adding is used; the
other keeps vectors of messages whose transaction was rolled back.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import log
from typing import TYPE_CHECKING, Any

from core.json_types import JsonObject
from core.memory.store import Indexed
from core.memory.types import PERSON, Hit, Vector

if TYPE_CHECKING:
    from types import ModuleType

MOST_RELATED = 8
RELATED = 0.86
"""From what score on, (cosine + 1) / 2, a term counts as related: for the embedded sentence encoder."""


@dataclass(frozen=True, slots=True)
class StructuredQuery:
    """What is looked for: `terms` with their vectors, within a time if one was named."""

    terms: tuple[str, ...]
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    """What a term weighs that is not one of the question's own."""


class IndexBroken(Exception):
    """An index holds something else than what it was given."""


class PersonIndex:
    """The index of one person. Every method belongs to the thread that made it."""

    def __init__(self, embedder: str) -> None:
        self._embedder = embedder
        self._models = _Tables(embedder)
        self._conversation: Any = None
        self.ids: list[str] = []

    async def append(self, items: Sequence[Indexed], terms: Mapping[str, Vector]) -> None:
        """Take in memories in order, and check that all of it is there. Raises `IndexBroken`."""
        library = _library()
        if self._conversation is None:
            self._conversation = await self._open(library)
        items = [item for item in items if item.vector]
        self._models.give(items, terms)
        try:
            await self._conversation.add_messages_streaming(_messages(library, items), batch_size=len(items) + 1)
        finally:
            self._models.clear()
        self.ids += [item.memory.id for item in items]
        await self._check()

    async def search(self, query: StructuredQuery, most: int) -> list[Hit]:
        """Find memories by their entities, actions and topics, and by terms that are like those."""
        if self._conversation is None or not query.terms:
            return []
        library = _library()
        self._models.give((), query.vectors)
        try:
            weights = {term: await self._weight(term) * query.shares.get(term, 1.0) for term in query.terms}
            terms = [
                library.SearchTerm(library.Term(term, weight), await self._related(library, query, term, weight))
                for term, weight in weights.items()
            ]
            group = library.SearchTermGroup(boolean_op="or", terms=terms)
            options = library.SearchOptions(exact_match=True, max_message_matches=most)
            result = await library.search_conversation(self._conversation, group, _when(library, query), options)
        finally:
            self._models.clear()
        whole = sum(weight for term, weight in weights.items() if query.shares.get(term, 1.0) >= 1) or 1.0
        matches = result.message_matches if result else []
        return [Hit(self.ids[one.message_ordinal], one.score, min(one.score / whole, 1.0)) for one in matches]

    async def run(self, query: Any, when: Any, options: Any) -> Any:
        """Run a query of typeagent's own: what the comparison with its own storage asks."""
        return await _library().search_conversation(self._conversation, query, when, options)

    async def close(self) -> None:
        """Let go of it."""
        if self._conversation is not None:
            await self._conversation.storage_provider.close()
            self._conversation = None

    async def _open(self, library: "_Library") -> Any:
        settings = library.ConversationSettings(self._models)
        settings.semantic_ref_index_settings.knowledge_extractor = self._models
        settings.semantic_ref_index_settings.concurrency = 1
        # Its SQLite takes the messages' number for terms too.
        settings.related_term_index_settings.embedding_index_settings.min_score = RELATED
        settings.message_text_index_settings.embedding_index_settings.min_score = RELATED
        return await library.create_conversation(
            ":memory:", library.ConversationMessage, name="memory", settings=settings
        )

    async def _related(self, library: "_Library", query: StructuredQuery, term: str, weight: float) -> list[Any]:
        """Give the terms that mean nearly the same; typeagent by itself takes the ten nearest, however far they are."""
        if term not in query.vectors:
            return []
        index = self._conversation.secondary_indexes.term_to_related_terms_index.fuzzy_index
        # Terms that two messages of a batch share are kept twice: more are asked for than are taken.
        [found] = await index.lookup_terms([term], MOST_RELATED * 4, RELATED)
        near = {one.text: one.weight for one in reversed(found) if one.text not in query.terms}
        nearest = sorted(near.items(), key=lambda item: -item[1])[:MOST_RELATED]
        return [library.Term(text, weight * likeness * 0.8) for text, likeness in nearest]

    async def _weight(self, term: str) -> float:
        """Weigh a term the more the fewer memories it is filed under."""
        found = await self._conversation.semantic_ref_index.lookup_term(term)
        everything = len(self.ids) + 1
        return 10.0 * log(1 + everything / (1 + len(found or ()))) / log(1 + everything)

    async def _check(self) -> None:
        indexed = await self._conversation.messages.size()
        vectors = await self._conversation.storage_provider.message_text_index.size()
        if not indexed == vectors == len(self.ids):
            raise IndexBroken(f"{indexed} messages, {vectors} vectors, {len(self.ids)} memories")


@dataclass(slots=True)
class _Tables:
    """Stands in for typeagent's embedding model and its extractor: gives what has been worked out before."""

    model_name: str
    _vectors: dict[str, Any] = field(default_factory=dict)
    _knowledge: dict[str, list[JsonObject]] = field(default_factory=dict)

    def give(self, items: Sequence[Indexed], terms: Mapping[str, Vector]) -> None:
        numpy = _numpy()
        self._vectors = {term: numpy.array(vector, dtype=numpy.float32) for term, vector in terms.items()}
        for item in items:
            self._vectors[item.memory.text] = numpy.array(item.vector, dtype=numpy.float32)
            self._knowledge.setdefault(item.memory.text, []).append(item.memory.knowledge)

    def clear(self) -> None:
        self._vectors, self._knowledge = {}, {}

    def add_embedding(self, key: str, embedding: Any) -> None:
        """Remember nothing: what is forgotten must not live on in a cache."""

    async def get_embedding_nocache(self, input: str) -> Any:
        return self._vectors[input]

    async def get_embeddings_nocache(self, input: list[str]) -> Any:
        return _numpy().array([self._vectors[one] for one in input])

    async def get_embedding(self, key: str) -> Any:
        return self._vectors[key]

    async def get_embeddings(self, keys: list[str]) -> Any:
        return _numpy().array([self._vectors[one] for one in keys])

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
    Success: Any
    Failure: Any
    Term: Any
    WhenFilter: Any
    create_conversation: Any
    search_conversation: Any
    knowledge: Any
    """Reads a KnowledgeResponse from JSON, and writes it."""


_loaded: _Library | None = None


def loaded() -> bool:
    """Tell whether typeagent is there."""
    return _loaded is not None


def load() -> None:
    """Import typeagent now, in whatever thread this is: seconds of CPU the first time."""
    _library()


def _library() -> _Library:
    """Import typeagent; seconds of CPU the first time."""
    global _loaded
    if _loaded is None:
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
            typechat.Success,
            typechat.Failure,
            interfaces.Term,
            interfaces.WhenFilter,
            factory.create_conversation,
            search.search_conversation,
            TypeAdapter(knowledge_schema.KnowledgeResponse),
        )
    return _loaded


def _numpy() -> "ModuleType":
    import numpy

    return numpy


async def _messages(library: _Library, items: Sequence[Indexed]) -> AsyncIterator[Any]:
    for item in items:
        speaker = None if item.memory.speaker == PERSON else item.memory.speaker
        yield library.ConversationMessage(
            text_chunks=[item.memory.text],
            metadata=library.ConversationMessageMeta(speaker=speaker),
            timestamp=f"{item.memory.said_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
            source_id=item.memory.id,
        )


def _when(library: _Library, query: StructuredQuery) -> Any:
    if query.since is None:
        return None
    return library.WhenFilter(date_range=library.DateRange(query.since, query.until))


async def extract_with(complete: Any, text: str) -> JsonObject | None:
    """Have a model find the knowledge in a text with typeagent's own prompt; None where it gave nothing usable.

    `complete` is a coroutine function from a prompt to the model's words.
    """
    library = _library()

    class Model:
        """A TypeChat model over ours."""

        async def complete(self, prompt: Any) -> Any:
            """Answer a prompt: a text, or sections of a conversation."""
            text = prompt if isinstance(prompt, str) else "\n\n".join(str(one["content"]) for one in prompt)
            answer = await complete(text)
            return library.Success(answer) if answer else library.Failure("no answer")

    result = await library.KnowledgeExtractor(model=Model()).extract(text)
    if not isinstance(result, library.Success):
        return None
    found: JsonObject = library.knowledge.dump_python(result.value, mode="json", by_alias=True)
    return found
