"""Long-term memory: its parts over a single database, and adding and searching across all that a person may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from abilities.memory.config import MomexConfig
from abilities.memory.extraction.extractors import Extractor
from abilities.memory.extraction.ingest import Adder
from abilities.memory.forgetting import Forgetter
from abilities.memory.index.budgeted_embeddings import BudgetedEmbeddings
from abilities.memory.index.cache import StructuredIndexes
from abilities.memory.index.embedder import CachedEmbedder, Embedder, ModelEmbedder, SentenceEncoder
from abilities.memory.recall.search import NO_LONGER, Retriever, Wait
from abilities.memory.shared_collections import SharedCollections, scopes_of
from abilities.memory.store.memories import MemoryStore
from abilities.memory.store.overview import Overview, read_overview
from abilities.memory.types import Memory, Recall, Utterance
from core.budgets.budgeted_model import EmbeddingClient
from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError
from core.ids import IdMaker, make_id
from core.llm.types import ChatMessage


@dataclass(frozen=True, slots=True)
class MomexParts:
    """Parts of a Momex that a caller replaces; None: as the configuration says."""

    embedder: Embedder | None = None
    extractor: Extractor | None = None
    make_id: IdMaker = make_id
    clock: Clock | None = None


@dataclass(frozen=True, slots=True)
class LongTermMemory:
    """Everybody's memories with the parts that add, find and forget them; each call names the person."""

    collection: str
    """The collection of memories if a call names none."""
    config: MomexConfig
    clock: Clock
    store: MemoryStore
    embedder: CachedEmbedder
    indexes: StructuredIndexes | None
    retriever: Retriever
    adder: Adder
    forgetter: Forgetter
    shared: SharedCollections

    @classmethod
    def build(
        cls,
        collection: str,
        config: MomexConfig,
        database: Database,
        embedder: Embedder,
        extractor: Extractor,
        parts: MomexParts,
    ) -> Self:
        cached = CachedEmbedder(embedder)
        store = MemoryStore(database, parts.make_id)
        indexes = StructuredIndexes(store, cached, config) if config.structured else None
        return cls(
            collection=collection,
            config=config,
            clock=parts.clock or Clock(),
            store=store,
            embedder=cached,
            indexes=indexes,
            retriever=Retriever(store, cached, indexes, config),
            adder=Adder(store, cached, extractor),
            forgetter=Forgetter(database, parts.make_id),
            shared=SharedCollections(database, parts.make_id),
        )

    async def add_now(self, tenant_id: str, messages: Sequence[Utterance], *, collection: str = "") -> list[Memory]:
        """Remember messages at once, for a tool that reports the stored memories."""
        home, name = await self.shared.home_of(tenant_id, collection or self.collection)
        ids = (await self.adder.add(home, name, messages, asked=True)).added
        memories = await self.store.memories(home, ids)
        return [memories[memory_id] for memory_id in ids if memory_id in memories]

    async def search(
        self,
        tenant_id: str,
        query: str,
        *,
        limit: int = 0,
        collections: Sequence[str] = (),
        shown: Sequence[ChatMessage] = (),
        wait: Wait = NO_LONGER,
        overview: Overview | None = None,
    ) -> Recall:
        """Search all that this person may see, or the collections named and those below them.

        `overview`: the overview of the person's memory, if it was read already.
        """
        overview = overview or await read_overview(self.store.database, tenant_id)
        now = self.clock.now()
        recalls = [
            await self.retriever.search(
                scope,
                query,
                now,
                limit=limit,
                shown=shown,
                wait=wait,
                version=overview.version if scope.tenant_id == tenant_id else None,
            )
            for scope in scopes_of(tenant_id, overview.shared, collections)
        ]
        return recalls[0] if len(recalls) == 1 else _joined(recalls, limit or self.config.max_recalled)


def make_embedder(
    config: MomexConfig,
    client: EmbeddingClient | None,
    database: Database,
    make_id: IdMaker,
    budgets: DailyBudgets | None,
) -> Embedder:
    """Return the embedder of the configured model, paid from people's budgets, else the encoder that ships with us.

    Raises `ConfigError`.
    """
    if not config.embedding_model:
        return SentenceEncoder()
    if client is None:
        raise ConfigError("ONEVALET_EMBEDDING_MODEL is set, but nothing reaches a provider.")
    return ModelEmbedder(BudgetedEmbeddings(client, database, make_id, budgets), config.embedding_model)


def _joined(recalls: Sequence[Recall], limit: int) -> Recall:
    """Join the recalls of several scopes; no memory lies in two of them."""
    recalled = sorted((memory for recall in recalls for memory in recall.found), key=lambda memory: -memory.score)
    reports = tuple(report for recall in recalls for report in recall.reports)
    return Recall(tuple(recalled[:limit]), reports, sum(recall.took_ms for recall in recalls))
