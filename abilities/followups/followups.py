"""A person's follow-ups: listed, kept, declined, taken back, turned off, by a word, a tool or a run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from abilities.followups.types import CATEGORY, EXECUTOR, NOES, PAUSE, FollowUp, Outcome, State
from abilities.tasks.codec import trigger_from_json
from abilities.tasks.service import TaskService
from core.db.database import Database

_OPEN = (
    "select f.memory_id, f.number, f.state, f.ask_at, f.task_id, m.text as words,"
    " f.decided_in is not distinct from $4 as here from followups f"
    " join memories m on m.tenant_id = f.tenant_id and m.id = f.memory_id and m.valid_to is null"
    " left join tasks k on k.tenant_id = f.tenant_id and k.id = f.task_id"
    " where f.tenant_id = $1 and f.ask_at > $3"
    " and (f.state = any ($2) and k.deleted_at is null or f.decided_in = $4)"
    " order by f.ask_at, f.number"
)


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether a person wants follow-ups proposed. `paused_until`: not before then."""

    is_off: bool = False
    paused_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class FollowUps:
    """One person's follow-ups, in a turn. Each deed may be repeated."""

    tasks: TaskService
    tenant_id: str
    turn_id: str

    async def choice(self) -> Choice:
        row = await self._database.tenant_row(
            self.tenant_id, "select is_off, paused_until from followup_choices where tenant_id = $1"
        )
        until = row["paused_until"] if row else None
        return Choice(bool(row and row["is_off"]), until if until and until > self._now else None)

    async def all(self, *states: State) -> Sequence[FollowUp]:
        """Return the follow-ups in these states that are still ahead, and those that this turn has decided."""
        rows = await self._database.tenant_rows(self.tenant_id, _OPEN, list(states), self._now, self.turn_id)
        return [FollowUp(**{**row, "state": State(row["state"])}) for row in rows]

    async def keep(self, followup: FollowUp) -> Outcome:
        """Keep a follow-up: its task asks the person at its time. Raises `TriggerError` if there are too many tasks."""
        if followup.state is State.KEPT:
            return Outcome.KEPT
        # First the task: after a crash its key finds it again.
        task = await self.tasks.create_task(
            tenant_id=self.tenant_id,
            trigger=trigger_from_json("schedule", {"at": followup.ask_at.isoformat()}),
            action={"followup": followup.memory_id},
            executor=EXECUTOR,
            output={"category": CATEGORY},
            title=followup.words,
            key=f"followup {followup.memory_id} {self.turn_id}",
        )
        outcome = await self._decide(followup, task.id)
        if outcome is not Outcome.KEPT:
            await self.tasks.delete_task(self.tenant_id, task.id)
        return outcome

    async def decline(self, followup: FollowUp) -> Outcome:
        """Decline a follow-up, or end one that was kept."""
        # First the task: after a crash this goes on where it was.
        await self._end_tasks([followup])
        return await self._decide(followup, None)

    async def drop(self, memory_id: str) -> bool:
        """Take back a kept follow-up; return False if the person was asked already."""
        await self._end_tasks(one for one in await self.all(State.KEPT) if one.memory_id == memory_id)
        return bool(await self._call("drop_followup($1,$2,$3)", memory_id, self._now))

    async def switch(self, *, on: bool) -> None:
        """Turn follow-ups on or off; off ends all of them."""
        if not on:
            await self._end_tasks(await self.all(State.KEPT))
        await self._call("switch_followups($1,$2,$3)::text", on, self._now)

    async def ask(self, memory_id: str, task_id: str) -> tuple[str, datetime] | None:
        """Note that a task asks the person; return their words and the time, None if it is no longer the task's."""
        statement = "select * from ask_followup($1,$2,$3,$4)"
        row = await self._database.call(statement, self.tenant_id, memory_id, task_id, self._now)
        return (row["words"], row["said_at"]) if row else None

    async def _end_tasks(self, followups: Iterable[FollowUp]) -> None:
        for followup in followups:
            if followup.task_id:
                await self.tasks.delete_task(self.tenant_id, followup.task_id)

    async def _decide(self, followup: FollowUp, task_id: str | None) -> Outcome:
        given = (followup.memory_id, task_id, self.turn_id, NOES, PAUSE, self._now)
        return Outcome(str(await self._call("decide_followup($1,$2,$3,$4,$5,$6,$7)", *given)))

    async def _call(self, call: str, *given: object) -> object:
        return (await self._database.one(f"select {call} as answer", self.tenant_id, *given))["answer"]

    @property
    def _database(self) -> Database:
        return self.tasks.store.database

    @property
    def _now(self) -> datetime:
        return self.tasks.clock.now()
