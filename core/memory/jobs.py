"""Memory's jobs: what a turn said, or what was handed over, becomes memories; what was forgotten is blotted out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from core.db.database import Connection
from core.errors import ModelError, StoreUnavailable
from core.ids import IdMaker
from core.llm.types import ChatMessage, Role
from core.memory.extraction.extractors import PASSING, STOOD_IN
from core.memory.extraction.ingest import Adder
from core.memory.forgetting import Forgetter
from core.memory.index.cache import StructuredIndexes
from core.memory.store.memories import READING, MemoryStore, delay_after
from core.memory.types import ASSISTANT, PERSON, Kind, Said

LEASE = timedelta(minutes=5)
"""How long a dead worker's job waits to be taken over: longer than a model takes over a message."""
PEOPLE = 5
BATCH = 100
"""Of how many people, and how many memories of each, one look embeds what has no vector."""
READ_AGAIN = 10
"""How many memories the model reads at a time that was away."""
READING_FOR = 120
"""Seconds after which the rest is left for the next time: else another worker takes the job over, and pays again."""
MAX_READINGS = 200
"""Times that this is tried, in the end once an hour, before what the rules found is left at that."""
TRIES = 5
"""Of a job whose model is away, over seven minutes; at the last, rules stand in for it."""

MAX_FAILURES = 10
"""After so many failures, over some six hours, a job is tried no more."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Job:
    """A job that is ours to do."""

    tenant_id: str
    id: str
    attempts: int


@dataclass(frozen=True, slots=True)
class MemoryWork:
    """Claim jobs and do them; every step may be repeated."""

    store: MemoryStore
    adder: Adder | None
    """None where memory is off: jobs are then only cleared away."""
    forgetter: Forgetter
    indexes: StructuredIndexes | None
    make_id: IdMaker

    async def claim(self, job_id: str | None, worker: str) -> Job | None:
        """Take the named job, or the one that waits longest; None where there is none."""
        row = await self.store.database.call(
            "select * from claim_memory_job($1, $2, $3)", job_id, f"{worker}/{self.make_id('own')}", LEASE
        )
        return Job(row["tenant_id"], row["id"], row["attempts"]) if row else None

    async def run(self, job: Job) -> None:
        """Do a job; one that fails comes back later."""
        try:
            done = await self._read_again(job) if job.id == READING else await self._do(job)
        except PASSING as error:
            _log.warning("memory_job_put_off", job=job.id, attempt=job.attempts, cause=type(error).__name__)
            await self._put_off(job)
            return
        except StoreUnavailable:
            await self._put_off(job)
            raise
        except Exception:
            most = MAX_READINGS if job.id == READING else MAX_FAILURES
            await (self._put_off(job) if job.attempts < most else self._set_aside(job))
            raise
        await (self._done(job) if done else self._put_off(job))

    async def tidy(self, now: datetime) -> None:
        """End sessions and questions that have run out, and blot out what could not be blotted out before."""
        for row in await self.store.database.rows("select * from tidy_memory($1)", now):
            await self.forgetter.blot_out(row["tenant_id"], now)

    async def embed_again(self) -> int:
        """Embed a small batch of some people's memories that the embedder in use has no vector of; return how many.

        A provider that fails is left for later: until then those memories are found by their words.
        """
        if self.adder is None:
            return 0
        count = 0
        for tenant_id in await self.store.unembedded(self.adder.embedder.name, PEOPLE):
            try:
                count += await self.adder.embed_again(tenant_id, BATCH)
            except ModelError as error:
                _log.warning("memory_not_embedded_again", cause=type(error).__name__)
        return count

    async def _read_again(self, job: Job) -> bool:
        """Have the model read what rules read while it was away; False while something of it is left."""
        if self.adder is None or not self.adder.reads_again or job.attempts > MAX_READINGS:
            return True
        until = time.monotonic() + READING_FOR
        while await self.adder.read_again(job.tenant_id, READ_AGAIN) == READ_AGAIN:
            if time.monotonic() >= until:
                break
        return not await self.store.read_by(job.tenant_id, STOOD_IN, 1)

    async def _do(self, job: Job) -> bool:
        async with self.store.database.tenant(job.tenant_id) as connection:
            row = await connection.fetchrow(
                "select turn_id, collection, messages, infer from memory_jobs where tenant_id = $1 and id = $2",
                job.tenant_id, job.id,
            )  # fmt: skip
            if row is None:
                return True
            said, kept = handed_over(row["messages"]), list[str]()
            if row["turn_id"] and self.adder is not None:
                said = await said_in_turn(connection, job.tenant_id, row["turn_id"])
                kept = await kept_by_tools(connection, job.tenant_id, row["turn_id"])
        if self.adder is not None:
            added = await self.adder.add(
                job.tenant_id, row["collection"], said, infer=row["infer"], kept=kept, patient=job.attempts < TRIES
            )
            _log.info("memory_added", job=job.id, count=len(added))
            if added and self.indexes is not None:
                self.indexes.soon(job.tenant_id)
        async with self.store.database.tenant(job.tenant_id) as connection:
            confirmed = await connection.fetchval(
                "select exists (select from memory_forgettings where tenant_id = $1 and confirmed)", job.tenant_id
            )
        if confirmed:
            await self.forgetter.blot_out(job.tenant_id)
        return True

    async def _done(self, job: Job) -> None:
        async with self.store.database.tenant(job.tenant_id) as connection:
            # A turn that ended once more meanwhile has set its attempts back: its job stays.
            await connection.execute(
                "delete from memory_jobs where tenant_id = $1 and id = $2 and attempts = $3",
                job.tenant_id, job.id, job.attempts,
            )  # fmt: skip

    async def _set_aside(self, job: Job) -> None:
        """Try it no more, unless its turn ends once more."""
        async with self.store.database.tenant(job.tenant_id) as connection:
            await connection.execute(
                "update memory_jobs set owner = null, lease_until = null, not_before = 'infinity'"
                " where tenant_id = $1 and id = $2",
                job.tenant_id, job.id,
            )  # fmt: skip
        _log.error("memory_job_set_aside", job=job.id)

    async def _put_off(self, job: Job) -> None:
        async with self.store.database.tenant(job.tenant_id) as connection:
            await connection.execute(
                "update memory_jobs set owner = null, lease_until = null, not_before = clock_timestamp() + $3"
                " where tenant_id = $1 and id = $2",
                job.tenant_id, job.id, delay_after(job.attempts),
            )  # fmt: skip


async def said_in_turn(connection: Connection, tenant_id: str, turn_id: str) -> list[Said]:
    """Return what was said in a turn, for memory; nothing of one that was about forgetting."""
    rows = await connection.fetch(
        "select conversation_id, position, message, created_at from history where tenant_id = $1 and turn_id = $2"
        " and not exists (select from memory_forgettings f where f.tenant_id = $1 and f.turn_id = $2)"
        " order by position",
        tenant_id, turn_id,
    )  # fmt: skip
    messages = [(row, ChatMessage.from_json(row["message"])) for row in rows]
    used_tools = any(message.role is Role.TOOL for _, message in messages)
    said: list[Said] = []
    for row, message in messages:
        key = f"history:{row['conversation_id']}:{row['position']}"
        said += spoken_of(key, message, row["created_at"], turn_id, used_tools=used_tools)
    return said


async def kept_by_tools(connection: Connection, tenant_id: str, turn_id: str) -> list[str]:
    """Return what tools kept in a turn, because the person asked for it."""
    rows = await connection.fetch(
        "select text from memories where tenant_id = $1 and turn_id = $2 and source_key not like 'history:%'",
        tenant_id, turn_id,
    )  # fmt: skip
    return [row["text"] for row in rows]


def handed_over(messages: Sequence[dict[str, str]]) -> list[Said]:
    """Read the messages of a job that was made by `Momex.add`."""
    return [
        Said(
            one["key"],
            one["text"],
            one["speaker"],
            Kind(one["kind"]),
            datetime.fromisoformat(one["said_at"]),
            one.get("turn_id", ""),
        )
        for one in messages
    ]


def spoken_of(
    key: str, message: ChatMessage, at: datetime, turn_id: str = "", *, used_tools: bool = False
) -> list[Said]:
    """Return what a chat message says, marked with where it comes from; nothing of what is not speech.

    What a person quotes or forwards is not their own word, and what the assistant says after it looked something up
    is not either's.
    """
    match message.role:
        case Role.USER if not message.internal:
            own, quoted = without_quotes(message.text)
            own = "" if message.outside else own
            said = [Said(key, own, PERSON, Kind.TOLD, at, turn_id)] if own else []
            return said + ([Said(f"{key}:quoted", quoted, "someone else", Kind.OUTSIDE, at, turn_id)] if quoted else [])
        case Role.ASSISTANT if message.text and not message.tool_calls:
            kind = Kind.OUTSIDE if used_tools else Kind.INFERRED
            return [Said(key, message.text, ASSISTANT, kind, at, turn_id)]
    return []


def without_quotes(text: str) -> tuple[str, str]:
    """Part a message into a person's own words and what they quote: lines with `>`, and all after a forward's head."""
    own: list[str] = []
    quoted: list[str] = []
    forwarded = False
    for line in text.splitlines():
        head = line.strip(" -*_").lower()
        forwarded = forwarded or head.startswith(("forwarded message", "original message", "begin forwarded message"))
        (quoted if forwarded or line.lstrip().startswith(">") else own).append(
            line.lstrip("> ") if line[:1] == ">" else line
        )
    return "\n".join(own).strip(), "\n".join(quoted).strip()
