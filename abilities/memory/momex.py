"""Momex: everybody's memory, short-term and long-term, over Postgres, with typeagent as its structured index."""

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from abilities.memory.answers import answer_from
from abilities.memory.config import MomexConfig, RecallMode
from abilities.memory.extraction.extractors import ModelExtractor, RuleExtractor
from abilities.memory.extraction.speech import spoken_of
from abilities.memory.index.embedder import SentenceEncoder
from abilities.memory.jobs import MemoryWork
from abilities.memory.long_term import LongTermMemory, MomexParts, make_embedder
from abilities.memory.model_calls import ModelCalls
from abilities.memory.recall.search import Wait
from abilities.memory.recall.shown import not_shown
from abilities.memory.sessions import Sessions
from abilities.memory.store.overview import ABILITY, Overview, read_overview
from abilities.memory.tools_api import TenantMemory
from abilities.memory.types import CitedAnswer, Memory, Recall, Recalled, Utterance
from core.budgets.budgeted_model import BudgetedModel, ChatClient, EmbeddingClient
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.errors import ConfigError, OneValetError
from core.json_types import Json
from core.llm.types import ChatMessage
from core.queue.wakeups import MEMORY, NoWakeups, Wakeups
from core.tools.memory_access import MemoryAccess
from core.turns.services import NOTHING_BROUGHT, RecalledFacts

_log = structlog.get_logger()


class Momex:
    """Remember and recall. An instance serves a worker and all its people; each call names whose memory.

    `collection` is the collection of memories if a call names none, such as `user:alice`. `llm_client` extracts
    knowledge and answers `query`; without it, rules extract. Its calls, and those of `embedding_client`, are paid from
    each person's budget in `budgets`.
    """

    def __init__(
        self,
        collection: str = "",
        config: MomexConfig | None = None,
        *,
        database: Database | None = None,
        llm_client: ChatClient | None = None,
        embedding_client: EmbeddingClient | None = None,
        wakeups: Wakeups | None = None,
        budgets: DailyBudgets | None = None,
        parts: MomexParts | None = None,
    ) -> None:
        self.collection = collection
        self.config = config or MomexConfig()
        parts = parts or MomexParts()
        self._make_id = parts.make_id
        self._owns_database = database is None
        self._database = database or _database(self.config)
        self.wakeups = wakeups or NoWakeups()
        asks = None if self.config.by_rules else llm_client
        self._asking = ModelCalls(BudgetedModel(asks, self._database, budgets), self._make_id) if asks else None
        embedder = parts.embedder or make_embedder(
            self.config, embedding_client, self._database, self._make_id, budgets
        )
        self._own_encoder = embedder if isinstance(embedder, SentenceEncoder) and not parts.embedder else None
        self.long_term = LongTermMemory.build(
            collection,
            self.config,
            self._database,
            embedder,
            parts.extractor or (ModelExtractor(self._asking) if self._asking else RuleExtractor()),
            parts,
        )
        self.clock = self.long_term.clock
        self.store = self.long_term.store
        self.embedder = self.long_term.embedder
        self.indexes = self.long_term.indexes
        self.retriever = self.long_term.retriever
        self.adder = self.long_term.adder
        self.shared = self.long_term.shared
        self.sessions = Sessions(self._database, self.config.session_life, self.config.max_messages)
        forgetter = self.long_term.forgetter
        self.work = MemoryWork(self.store, self.adder, forgetter, self.indexes, self._make_id, clock=self.clock)

    @property
    def as_tool(self) -> bool:
        return self.config.recall is not RecallMode.STATIC

    async def get_history(
        self, tenant_id: str, session: str = "main", max_messages: int | None = None
    ) -> list[ChatMessage]:
        """Return the newest messages of a session, the oldest first; empty if it has ended."""
        return await self.sessions.get(tenant_id, session, self.clock.now(), max_messages)

    async def save_history(self, tenant_id: str, messages: Sequence[ChatMessage], session: str = "main") -> None:
        await self.sessions.save(tenant_id, session, messages, self.clock.now())

    async def add(
        self, tenant_id: str, messages: Sequence[ChatMessage], *, infer: bool = True, collection: str = ""
    ) -> str:
        """Remember messages by a job: a row first, then a wakeup. Return the job's id, or "".

        `infer=False` stores the texts as they are. Secrets are left out before anything is written.
        """
        home, name = await self.shared.home_of(tenant_id, collection or self.collection)
        job_id, now = self._make_id("mjb"), self.clock.now()
        spoken = [spoken_of(f"{job_id}:{number}", message, now) for number, message in enumerate(messages)]
        if not await self.work.add(home, job_id, name, [message for each in spoken for message in each], infer=infer):
            return ""
        self.wakeups.wake(MEMORY, job_id)
        return job_id

    async def add_now(self, tenant_id: str, messages: Sequence[Utterance], *, collection: str = "") -> list[Memory]:
        """Remember messages at once, for a tool that reports the stored memories."""
        return await self.long_term.add_now(tenant_id, messages, collection=collection)

    async def search(self, tenant_id: str, query: str, *, limit: int = 0, collections: Sequence[str] = ()) -> Recall:
        """Search all that this person may see, or the collections named and those below them."""
        return await self.long_term.search(tenant_id, query, limit=limit, collections=collections)

    async def recall(
        self,
        tenant_id: str,
        query: str,
        *,
        turn_id: str | None = None,
        shown: Sequence[ChatMessage] = (),
        patience: float = 0.0,
        meanwhile: asyncio.Task[object] | None = None,
        brought: Mapping[str, Json] = NOTHING_BROUGHT,
    ) -> RecalledFacts:
        if self.config.recall is RecallMode.TOOL:
            return RecalledFacts()
        try:
            overview = (
                Overview.from_json(brought[ABILITY])
                if ABILITY in brought
                else await read_overview(self._database, tenant_id, turn_id)
            )
            wait = Wait(patience, meanwhile)
            recall = await self.long_term.search(tenant_id, query, shown=shown, wait=wait, overview=overview)
        except OneValetError as error:
            _log.warning("memory_away", turn=turn_id, cause=type(error).__name__)
            return RecalledFacts()
        if not recall.reports:
            return RecalledFacts()
        found = {recalled.memory.id for recalled in recall.found}
        more = not_shown((Recalled(memory, 0, ()) for memory in overview.unread if memory.id not in found), shown)
        lines = [*recall.lines(), *(recalled.line() for recalled in more)]
        return RecalledFacts(lines, {ABILITY: recall.to_json()})

    async def query(self, tenant_id: str, question: str, *, collections: Sequence[str] = ()) -> CitedAnswer:
        """Answer a question in words from memories, with citations; an empty text if nothing is known.

        Its recall may take `query_patience` of the configuration. Raises `core.errors.ModelError` or
        `core.budgets.types.OutOfMoney`; without a model the memories are the answer.
        """
        wait = Wait(self.config.query_patience, built=True)
        recall = await self.long_term.search(tenant_id, question, collections=collections, wait=wait)
        return await answer_from(question, recall, self._asking.of(tenant_id) if self._asking else None)

    def for_tenant(self, tenant_id: str, turn_id: str | None = None) -> MemoryAccess:
        return TenantMemory(self.long_term, tenant_id, turn_id)

    async def close(self) -> None:
        if self.indexes is not None:
            await self.indexes.close()
        if self._own_encoder is not None:
            self._own_encoder.close()
        if self._owns_database:
            await self._database.close()


def _database(config: MomexConfig) -> Database:
    if not config.database_url:
        raise ConfigError("Momex keeps memories in Postgres: give it a database, or set DATABASE_URL.")
    return Database(config.database_url, name="momex")
