"""Memory's jobs: turns and added messages become memories; forgotten words are redacted."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import structlog
from pydantic import ConfigDict, TypeAdapter

from abilities.memory.extraction.extractors import PASSING, STOOD_IN
from abilities.memory.extraction.ingest import Adder
from abilities.memory.extraction.secrets import is_secret
from abilities.memory.extraction.speech import said_in_turn
from abilities.memory.forgetting import Forgetter
from abilities.memory.index.cache import StructuredIndexes
from abilities.memory.store.memories import HeldJob, MemoryStore
from abilities.memory.store.reread import REREAD, delay_after
from abilities.memory.types import Utterance
from core.budgets.self_started import NotNow, check_self_started
from core.budgets.types import OutOfMoney
from core.clock import Clock
from core.errors import ModelError, StoreUnavailable
from core.ids import IdMaker
from core.queue.wakeups import NOBODY, Later

DUE = "memory"
"""The kind of work that `sql/due.sql` names if a job is due."""
LEASE = timedelta(seconds=15)
"""The wait of a dead worker's job until it is taken over; a worker at work keeps its own alive. Until then the last
messages are not remembered, and forgotten words remain in them."""
PEOPLE = 5
BATCH = 100
"""The number of people, and of memories of each, that are embedded again at a time."""
READ_AGAIN = 10
"""Memories that the model reads again at a time."""
READING_FOR = 120
"""Seconds after which the rest is left for the next time, so that the jobs of others are done in between."""
MAX_READINGS = 200
"""Attempts, in the end hourly, before the rules' findings are left as they are."""
TRIES = 5
"""Attempts of a job whose model is away, over seven minutes; at the last attempt rules replace it."""
MAX_FAILURES = 10
"""Failures, over some six hours, after which a job is set aside."""

# An error must not quote people's words: it ends in the log.
_MESSAGES = TypeAdapter(list[Utterance], config=ConfigDict(hide_input_in_errors=True))

_CLAIM = (
    "select c.*, j.* from claim_memory_job($1,$2,$3) c left join lateral read_memory_job(c.tenant_id, c.id) j on true"
)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed job. Only its `owner` may end it: another worker may have taken it over since.

    `given`: its data, as `read_memory_job` returns it.
    """

    tenant_id: str
    id: str
    attempts: int
    owner: str
    given: asyncpg.Record


@dataclass(frozen=True, slots=True)
class MemoryWork:
    """Add, claim and do jobs; every step may be repeated."""

    store: MemoryStore
    adder: Adder | None
    """None if memory is off: jobs are then cleared away, and `tidy` still redacts forgotten words."""
    forgetter: Forgetter
    indexes: StructuredIndexes | None
    make_id: IdMaker
    later: Adder | None = None
    """Stores the statements of turns at once, for a model to read them later; None if they are read in their job."""
    wakeups: Later = NOBODY
    """Has a job that is put off done at its moment."""
    reads_turns: bool = True
    """False if no model is configured: rules alone cannot tell a statement worth remembering from a request, so only
    statements that a person asks to remember are stored."""
    clock: Clock = field(default_factory=Clock)

    async def add(
        self, tenant_id: str, job_id: str, collection: str, messages: Sequence[Utterance], *, infer: bool
    ) -> bool:
        """Add a job that remembers messages; return False if nothing is left of them without their secrets."""
        safe = [message for message in messages if not any(is_secret(line) for line in message.text.splitlines())]
        if safe:
            await self.store.database.tenant_rows(
                tenant_id,
                "insert into memory_jobs (tenant_id, id, collection, messages, infer) values ($1, $2, $3, $4, $5)",
                job_id,
                collection,
                _MESSAGES.dump_python(safe, mode="json"),
                infer,
            )
        return bool(safe)

    async def claim(self, job_id: str | None, worker: str) -> Job | None:
        """Claim the named job, or the job that has waited longest; return None if there is none.

        If memory is off, jobs are cleared away, all in a single statement.
        """
        if self.adder is None:
            await self.store.database.rows("select clear_memory_jobs()")
            return None
        owner = f"{worker}/{self.make_id('own')}"
        row = await self.store.database.call(_CLAIM, job_id, owner, LEASE)
        if row is None or row["infer"] is None:  # no job, or one that is gone again
            return None
        return Job(row["tenant_id"], row["id"], row["attempts"], owner, row)

    async def keep(self, job: Job) -> bool:
        """Renew the lease of a job that is being done; return False if it is another's, or starts over."""
        kept = await self.store.database.tenant_row(
            job.tenant_id,
            "update memory_jobs set lease_until = clock_timestamp() + $4"
            " where tenant_id = $1 and id = $2 and owner = $3 returning id",
            job.id,
            job.owner,
            LEASE,
        )
        return kept is not None

    async def run(self, job: Job) -> None:
        """Do a job; a failed job is retried later."""
        try:
            if job.id != REREAD:
                await self._do(job)
            elif await self._read_again(job):
                await self.store.keep(job.tenant_id, "", (), "", HeldJob(job.id, job.owner))
            else:
                await self._put_off(job)
        except NotNow as quiet:
            await self._put_off(job, quiet.pause)
        except PASSING as error:
            _log.warning("memory_job_put_off", job=job.id, attempt=job.attempts, cause=type(error).__name__)
            await self._put_off(job)
            return
        except StoreUnavailable:
            await self._put_off(job)
            raise
        except Exception:
            limit = MAX_READINGS if job.id == REREAD else MAX_FAILURES
            await (self._put_off(job) if job.attempts < limit else self._set_aside(job))
            raise

    async def tidy(self, now: datetime) -> None:
        """End expired sessions and questions, and redact words that could not be redacted before."""
        for row in await self.store.database.rows("select * from tidy_memory($1)", now):
            await self.forgetter.redact(row["tenant_id"], now)

    async def embed_again(self) -> int:
        """Embed some memories without a vector of the embedder in use; return their number.

        If a provider fails, or a person's money is spent, their memories are left for later: until then they are
        found by their words.
        """
        if self.adder is None:
            return 0
        count = 0
        for tenant_id in await self.store.vectors.unembedded(self.adder.embedder.name, PEOPLE):
            try:
                await check_self_started(tenant_id)  # each round would count as one that was spared
                count += await self.adder.embed_again(tenant_id, BATCH)
            except NotNow:
                continue
            except (ModelError, OutOfMoney) as error:
                _log.warning("memory_not_embedded_again", cause=type(error).__name__)
        return count

    async def _read_again(self, job: Job) -> bool:
        """Reread the rules' statements by the model; return False while some are left."""
        if self.adder is None or not self.adder.reads_again or job.attempts > MAX_READINGS:
            return True
        until = time.monotonic() + READING_FOR
        while await self.adder.read_again(job.tenant_id, READ_AGAIN) == READ_AGAIN:
            if time.monotonic() >= until:
                break
        return not await self.store.read_by(job.tenant_id, STOOD_IN, 1)

    def _said(self, turn_id: str, rows: Sequence[Mapping[str, Any]]) -> list[Utterance]:
        """Return the words of a turn, at the moments of people's clock: their "tomorrow" counts from there."""
        said = said_in_turn(turn_id, rows)
        return [replace(each, said_at=self.clock.moment_of(each.said_at.timestamp())) for each in said]

    async def _do(self, job: Job) -> None:
        """Store the statements in a job's words, and end it; then redact those forgotten meanwhile."""
        adder, held, given = self.adder, HeldJob(job.id, job.owner), job.given
        turn_id = given["turn_id"]
        if turn_id:
            adder = (self.later or self.adder) if self.reads_turns else None
        if adder is None:
            stored = await self.store.keep(job.tenant_id, "", (), "", held)
        else:
            stored = await adder.add(
                job.tenant_id,
                given["collection"],
                self._said(turn_id, given["said"]) if turn_id else _MESSAGES.validate_python(given["messages"]),
                infer=given["infer"],
                kept=given["kept"] or (),
                patient=job.attempts < TRIES,
                known=(given["known"] or ()) if turn_id else None,
                ends=held,
            )
            _log.info("memory_added", job=job.id, count=len(stored.added))
            # An index waits for statements that a model is still to read.
            if stored.added and self.indexes is not None and adder is not self.later:
                self.indexes.soon(job.tenant_id)
        if stored.forgets:
            await self.forgetter.redact(job.tenant_id)

    async def _set_aside(self, job: Job) -> None:
        """Stop trying a job, unless its turn ends once more."""
        await self.store.database.tenant_rows(
            job.tenant_id,
            "update memory_jobs set owner = null, lease_until = null, not_before = 'infinity'"
            " where tenant_id = $1 and id = $2 and owner = $3",
            job.id,
            job.owner,
        )
        _log.error("memory_job_set_aside", job=job.id)

    async def _put_off(self, job: Job, pause: timedelta | None = None) -> None:
        pause = delay_after(job.attempts) if pause is None else pause
        await self.store.database.tenant_rows(
            job.tenant_id,
            "update memory_jobs set owner = null, lease_until = null, not_before = clock_timestamp() + $4"
            " where tenant_id = $1 and id = $2 and owner = $3",
            job.id,
            job.owner,
            pause,
        )
        # All people's rereading has the same id: any due person's is then done.
        self.wakeups.come_due(DUE, "" if job.id == REREAD else job.id, pause)
