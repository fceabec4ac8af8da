"""Momex: the memory of all people, short and long, over Postgres, with typeagent as its structured index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from core.budgets.budgeted_model import BudgetedModel, ChatClient
from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError, OneValetError
from core.ids import IdMaker, make_id
from core.json_types import JsonObject, storable
from core.llm.types import ChatMessage
from core.memory.access import MemoryAccess
from core.memory.answers import answer_from
from core.memory.config import Extraction, MomexConfig, RecallMode
from core.memory.extraction.extractors import Extractor, ModelExtractor, RuleExtractor
from core.memory.extraction.ingest import Adder
from core.memory.extraction.secrets import is_secret
from core.memory.forgetting import Forgetter
from core.memory.index.cache import StructuredIndexes
from core.memory.index.embedder import CachedEmbedder, Embedder, EmbeddingClient, ModelEmbedder, SentenceEncoder
from core.memory.jobs import MemoryWork, spoken_of
from core.memory.model_calls import Asking
from core.memory.recall.search import Searcher
from core.memory.sessions import Sessions
from core.memory.shared_collections import SharedCollections
from core.memory.store.memories import MemoryStore
from core.memory.types import Answer, Memory, Recall, Recalled, Said
from core.queue.wakeups import NoWakeups, Wakeups

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class MomexParts:
    """What a Momex is made of, for whoever replaces a part; None: as the configuration says."""

    embedder: Embedder | None = None
    extractor: Extractor | None = None
    make_id: IdMaker = make_id


class Momex:
    """Remember and recall. One instance serves a worker and all its people; each call names whose memory.

    `collection` is where memories are filed when a call names none, such as `user:alice`. `llm_client` reads what
    was said and answers `query`, out of each person's budget of `budgets`; without one, rules do the first.
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
        clock: Clock | None = None,
        budgets: DailyBudgets | None = None,
        parts: MomexParts | None = None,
    ) -> None:
        self.collection = collection
        self.config = config or MomexConfig()
        self.clock = clock or Clock()
        parts = parts or MomexParts()
        self._own_database = None if database else _database(self.config)
        self._database = database or self._own_database or _database(self.config)
        self._make_id = parts.make_id
        self.wakeups = wakeups or NoWakeups()
        asks = llm_client if self.config.extraction is not Extraction.RULES else None
        self._asking = Asking(BudgetedModel(asks, self._database, budgets), self._make_id) if asks else None
        self._encoder, plain = _embedder(self.config, embedding_client, parts.embedder)
        self.embedder = CachedEmbedder(plain)
        self.store = MemoryStore(self._database, self._make_id)
        self.indexes = StructuredIndexes(self.store, self.embedder, self.config) if self.config.structured else None
        self.searcher = Searcher(self.store, self.embedder, self.indexes, self.config)
        self.adder = Adder(self.store, self.embedder, parts.extractor or self._extractor())
        self.forgetter = Forgetter(self._database, self._make_id)
        self.sessions = Sessions(self._database, self.config.session_life, self.config.max_messages)
        self.shared = SharedCollections(self._database, self._make_id)
        self.work = MemoryWork(self.store, self.adder, self.forgetter, self.indexes, self._make_id)

    @property
    def as_tool(self) -> bool:
        """Return whether the model may ask memory by itself."""
        return self.config.recall is not RecallMode.STATIC

    async def get_history(
        self, tenant_id: str, session: str = "main", max_messages: int | None = None
    ) -> list[ChatMessage]:
        """Return the newest messages of a session, the oldest first; nothing of one that has ended."""
        return await self.sessions.get(tenant_id, session, self.clock.now(), max_messages)

    async def save_history(self, tenant_id: str, messages: Sequence[ChatMessage], session: str = "main") -> None:
        """Add messages to a session."""
        await self.sessions.save(tenant_id, session, messages, self.clock.now())

    async def add(
        self, tenant_id: str, messages: Sequence[ChatMessage], *, infer: bool = True, collection: str = ""
    ) -> str:
        """Have messages remembered, in a job of its own: a row first, then a wakeup. Return the job's id, or "".

        `infer=False` keeps the texts as they are. Secrets are left out before anything is written.
        """
        home, name = await self.shared.home_of(tenant_id, collection or self.collection)
        job_id, now = self._make_id("mjb"), self.clock.now()
        said = [one for place, each in enumerate(messages) for one in spoken_of(f"{job_id}:{place}", each, now)]
        safe = [_to_json(one) for one in said if not any(is_secret(line) for line in one.text.splitlines())]
        if not safe:
            return ""
        async with self._database.tenant(home) as connection:
            await connection.execute(
                "insert into memory_jobs (tenant_id, id, collection, messages, infer) values ($1, $2, $3, $4, $5)",
                home, job_id, name, safe, infer,
            )  # fmt: skip
        self.wakeups.wake_memory(job_id)
        return job_id

    async def add_now(self, tenant_id: str, messages: Sequence[Said], *, collection: str = "") -> list[Memory]:
        """Remember messages at once, for a tool that says what it kept."""
        home, name = await self.shared.home_of(tenant_id, collection or self.collection)
        ids = await self.adder.add(home, name, messages)
        found = await self.store.memories(home, ids)
        return [found[one] for one in ids if one in found]

    async def search(
        self, tenant_id: str, query: str, *, most: int = 0, collections: Sequence[str] = (), turn_id: str = ""
    ) -> Recall:
        """Find what may matter, over all that this person may see or what lies under the named collections."""
        scopes = await self.shared.scopes(tenant_id, collections)
        now = self.clock.now()
        recalls = [await self.searcher.search(scope, query, now, most=most) for scope in scopes]
        recall = joined(recalls, most or self.config.max_recalled)
        if turn_id and recall.legs:
            await self.store.record(tenant_id, turn_id, recall)
        return recall

    async def recall(self, tenant_id: str, query: str, *, turn_id: str = "") -> Sequence[str]:
        """Return what is known and may matter for a turn, a line each; nothing while memory is away."""
        if self.config.recall is RecallMode.TOOL:
            return ()
        try:
            recall = await self.search(tenant_id, query, turn_id=turn_id)
        except OneValetError as error:
            _log.warning("memory_away", turn=turn_id, cause=type(error).__name__)
            return ()
        return recall.lines()

    async def query(self, tenant_id: str, question: str, *, collections: Sequence[str] = ()) -> Answer:
        """Answer a question in words from what is remembered, with citations; an empty text where nothing is known.

        Raises `core.errors.ModelError` or `core.budgets.types.OutOfMoney`; without a model the memories are the answer.
        """
        recall = await self.search(tenant_id, question, collections=collections)
        return await answer_from(question, recall, self._asking.of(tenant_id) if self._asking else None)

    def for_tenant(self, tenant_id: str, turn_id: str = "") -> MemoryAccess:
        """Return a tool access to this tenant's memory only."""
        from core.memory.tools_api import TenantMemory

        return TenantMemory(self, tenant_id, turn_id)

    async def close(self) -> None:
        """End the index's thread and the encoder's."""
        if self.indexes is not None:
            await self.indexes.close()
        if self._encoder is not None:
            self._encoder.close()
        if self._own_database is not None:
            await self._own_database.close()

    def _extractor(self) -> Extractor:
        return ModelExtractor(self._asking) if self._asking else RuleExtractor()


def joined(recalls: Sequence[Recall], most: int) -> Recall:
    """Put the recalls of several scopes together; one memory never stands in two."""
    if len(recalls) == 1:
        return recalls[0]
    found: list[Recalled] = sorted((one for each in recalls for one in each.found), key=lambda one: -one.score)
    legs = tuple(leg for each in recalls for leg in each.legs)
    return replace(Recall(), found=tuple(found[:most]), legs=legs, took_ms=sum(each.took_ms for each in recalls))


def _database(config: MomexConfig) -> Database:
    if not config.database_url:
        raise ConfigError("Momex keeps memories in Postgres: give it a database, or set DATABASE_URL.")
    return Database(config.database_url, name="momex")


def _embedder(
    config: MomexConfig, client: EmbeddingClient | None, given: Embedder | None
) -> tuple[SentenceEncoder | None, Embedder]:
    if given is not None:
        return None, given
    if config.embedding_model:
        if client is None:
            raise ConfigError("ONEVALET_EMBEDDING_MODEL is set, but nothing reaches a provider.")
        return None, ModelEmbedder(client, config.embedding_model)
    encoder = SentenceEncoder()
    return encoder, encoder


def _to_json(said: Said) -> Mapping[str, str]:
    whole: JsonObject = {
        "key": said.key,
        "text": said.text,
        "speaker": said.speaker,
        "kind": said.kind.value,
        "said_at": _iso(said.said_at),
    }
    return {name: str(value) for name, value in storable(whole).items()}


def _iso(moment: datetime) -> str:
    return moment.isoformat()
