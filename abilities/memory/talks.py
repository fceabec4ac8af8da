"""Reading people's messages, once they are quiet: a single model call for their memories and their profile."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import asyncpg
import structlog

from abilities.memory.extraction.profile_changes import Change, read_changes
from abilities.memory.extraction.statements import statements, worth_keeping
from abilities.memory.extraction.talk import MAX_READ, Talk, read_statements, request_for
from abilities.memory.reading import MemoryReader, lines_of
from abilities.memory.store.overview import memory_in
from abilities.memory.types import Memory
from core.budgets.budgeted_model import BudgetedModel
from core.budgets.self_started import NotNow
from core.budgets.types import OutOfMoney
from core.clock import Clock, zone_or_utc
from core.db.database import Database
from core.errors import LeaseLost, ModelError, StoreUnavailable
from core.ids import IdMaker
from core.journal.types import StepKey
from core.language.asking import asks
from core.people.profile import ProfileStore, facts_of
from core.queue.lease_keepalive import kept_alive
from core.queue.wakeups import NOBODY, Later

DUE = "talks"
"""The kind of work that `sql/due.sql` names if any are unread."""
LEASE = timedelta(seconds=30)
"""The wait of a dead worker's talk until it is read again; a worker at work keeps its own alive."""
RETRY = timedelta(minutes=1)
TRIES = 3
"""Attempts to read a talk before the rules' reading must do for now."""
AT_ONCE = 8
"""People whose talks a worker reads at the same time."""
MAX_TURNS = 40
"""Turns of a person that are read together."""
_STEP = StepKey(0, 0, "reading")
_CLAIM = (
    "select t.*, r.* from (select c.tenant_id, array_agg(c.turn_id) as turns, max(c.attempts) as attempts"
    " from claim_talk($1,$2,$3,$4,$5) c group by c.tenant_id) t, read_talk(t.tenant_id, t.turns, $6) r"
)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Gathering:
    """When a talk is read: after a pause, or as soon as it has this number of messages."""

    pause: timedelta = timedelta(minutes=5)
    messages: int = 10


@dataclass(frozen=True, slots=True)
class TalkJob:
    """The unread turns of a person, claimed until the lease ends. `given`: as `read_talk` returns it."""

    owner: str
    tenant_id: str
    turns: tuple[str, ...]
    attempts: int
    given: asyncpg.Record


@dataclass(frozen=True, slots=True)
class TalkReader:
    """Lets a model read people's messages, and stores its findings. `memory`: None if memory is off."""

    database: Database
    model: BudgetedModel
    make_id: IdMaker
    clock: Clock
    memory: MemoryReader | None = None
    profile: ProfileStore | None = None
    """None if no profile is kept."""
    gathering: Gathering = Gathering()
    later: Later = NOBODY

    async def drain(self) -> None:
        """Read the turns of everybody who is due now, some people at the same time."""
        reading: set[asyncio.Task[None]] = set()
        try:
            while (job := await self.claim()) is not None:
                reading.add(asyncio.create_task(self.run(job), name="talk"))
                if len(reading) == AT_ONCE:
                    _, reading = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            for task in reading:
                task.cancel()
            raise
        finally:
            await asyncio.gather(*reading, return_exceptions=True)

    async def run(self, job: TalkJob) -> None:
        """Read a talk, and keep its lease alive meanwhile."""
        try:
            async with kept_alive(lambda: self._extend(job), LEASE):
                await self._run(job)
        except LeaseLost:
            _log.info("talk_lease_lost", tenant=job.tenant_id)

    async def claim(self) -> TalkJob | None:
        """Claim the talk of a person who is due; return None if nobody is."""
        owner, gathering = self.make_id("own"), self.gathering
        row = await self.database.call(_CLAIM, owner, LEASE, MAX_TURNS, gathering.pause, gathering.messages, MAX_READ)
        return TalkJob(owner, row["tenant_id"], tuple(row["turns"]), row["attempts"], row) if row else None

    async def _run(self, job: TalkJob) -> None:
        """Read a talk. A talk that fails is read again later, without holding up the others."""
        try:
            if job.attempts <= TRIES:
                if not await self._read(job):
                    return
            else:  # its workers died
                await self._give_up(job)
        except NotNow as quiet:
            await self._leave(job, quiet.pause, tried=False)
            return
        except OutOfMoney:
            _log.info("talk_not_read", tenant=job.tenant_id, reason="budget")
            await self._give_up(job)
        except StoreUnavailable as error:
            _log.warning("talk_delayed", tenant=job.tenant_id, cause=str(error))
            return
        except Exception as error:
            if isinstance(error, ModelError):
                _log.warning("talk_delayed", tenant=job.tenant_id, cause=type(error).__name__)
            else:
                _log.exception("talk_failed", tenant=job.tenant_id)
            if job.attempts < TRIES:
                await self._leave(job, RETRY)
                return
            await self._give_up(job)
        await self.database.call("select end_talk($1,$2)", job.tenant_id, job.owner)

    async def _leave(self, job: TalkJob, pause: timedelta, *, tried: bool = True) -> None:
        await self.database.call("select leave_talk($1,$2,$3,$4)", job.tenant_id, job.owner, pause, tried)
        self.later.come_due(DUE, "", pause)

    async def _give_up(self, job: TalkJob) -> None:
        if self.memory is not None:
            await self.memory.give_up(job.tenant_id)

    async def _read(self, job: TalkJob) -> bool:
        """Read a talk; return whether it is still to be ended. One whose lease was lost is not: another has it."""
        tenant_id, words = job.tenant_id, job.given["words"]
        # No model call for greetings and questions; a request may tell the person's wishes for good.
        said = [piece for text in words for piece in statements(text, whole=True)]
        tells = any(worth_keeping(piece) and not asks(piece) for piece in said)
        profile = self.profile if tells else None
        lines = lines_of(job.given["said"])
        given: Sequence[Memory] | None = [memory_in(row) for row in job.given["unread"]]
        calls, more, left = 0, True, True
        while more:
            unread = await self.memory.unread(tenant_id, given) if self.memory is not None else ()
            if not unread and profile is None:
                break
            if calls and not await self._extend(job):
                return False
            near = await self.memory.near(tenant_id, unread) if self.memory is not None and unread else {}
            facts = facts_of(job.given["facts"]) if profile else None
            talk = Talk(lines, unread, _earlier(unread, near), facts, zone_or_utc(job.given["timezone"]))
            answer = (await self.model.ask(tenant_id, self.make_id("mask"), _STEP, request_for(talk))).text
            calls, more, given = calls + 1, len(unread) >= MAX_READ, None
            if profile is not None and (changes := read_changes(answer, words)):
                if not await self._extend(job):
                    return False
                await self._keep_changes(profile, job, changes)
            profile = None
            if self.memory is not None and unread:
                left, found = more, read_statements(answer, talk)
                if not await self.memory.keep(tenant_id, talk, near, found, owner=job.owner, ends=not more):
                    return False
        _log.info("talk_read", tenant=tenant_id, turns=len(job.turns), calls=calls)
        return left

    async def _extend(self, job: TalkJob) -> bool:
        row = await self.database.call("select extend_talk($1,$2,$3) as kept", job.tenant_id, job.owner, LEASE)
        return bool(row and row["kept"])

    async def _keep_changes(self, profile: ProfileStore, job: TalkJob, changes: Sequence[Change]) -> None:
        for change in changes:
            await profile.keep(job.tenant_id, change.key, change.value, change.source, job.turns[-1], self.clock.now())


def _earlier(unread: Sequence[Memory], near: Mapping[int, Sequence[Memory]]) -> list[Memory]:
    """Return the memories that the statements may contradict, but for these themselves."""
    own = {memory.number for memory in unread}
    found = {memory.number: memory for others in near.values() for memory in others if memory.number not in own}
    return [found[number] for number in sorted(found)]
