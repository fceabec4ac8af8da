"""Profiles: after people were answered, facts about them are extracted from what they wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from core.budgets.budgeted_model import BudgetedModel
from core.budgets.types import OutOfMoney
from core.clock import Clock
from core.db.database import Database
from core.errors import ModelError, StoreUnavailable
from core.ids import IdMaker
from core.journal.types import StepKey
from core.people.profile import ProfileStore
from core.people.profile_extraction import question, read_changes

LEASE = timedelta(minutes=2)
RETRY = timedelta(minutes=1)
MAX_TURNS = 20
"""Turns of one person that are read together."""
_STEP = StepKey(0, 0, "profile")

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ProfileJob:
    """The unread turns of one person, claimed until the lease ends."""

    owner: str
    tenant_id: str
    turns: tuple[str, ...]


class ProfileRunner:
    """Ask the model for changes of profiles, and store them. A failed job is tried three times at most."""

    def __init__(self, database: Database, model: BudgetedModel, make_id: IdMaker, clock: Clock) -> None:
        self._database = database
        self._model = model
        self._make_id = make_id
        self._clock = clock
        self._profile = ProfileStore(database, make_id)

    async def drain(self) -> None:
        """Read the turns of everybody who is due now."""
        while await self.once():
            pass

    async def once(self) -> bool:
        """Read the turns of one person; return False when nobody is due."""
        job = await self._claim()
        if job is None:
            return False
        try:
            kept = await self._look(job)
        except OutOfMoney:
            _log.info("profile_skipped", tenant=job.tenant_id, reason="budget")
        except ModelError as error:
            _log.warning("profile_delayed", tenant=job.tenant_id, cause=type(error).__name__)
            return await self._leave(job)
        except StoreUnavailable:
            raise
        except Exception:
            # One person's profile must not hold up the others: its job is retried, and dropped in the end.
            _log.exception("profile_failed", tenant=job.tenant_id)
            return await self._leave(job)
        else:
            _log.info("profile_looked_at", tenant=job.tenant_id, turns=len(job.turns), kept=kept)
        await self._database.call("select end_profile($1,$2)", job.tenant_id, job.owner)
        return True

    async def _leave(self, job: ProfileJob) -> bool:
        await self._database.call("select leave_profile($1,$2,$3)", job.tenant_id, job.owner, RETRY)
        return True

    async def _claim(self) -> ProfileJob | None:
        owner = self._make_id("own")
        rows = await self._database.rows("select * from claim_profile($1,$2,$3)", owner, LEASE, MAX_TURNS)
        return ProfileJob(owner, rows[0]["tenant_id"], tuple(row["turn_id"] for row in rows)) if rows else None

    async def _look(self, job: ProfileJob) -> int:
        rows = await self._database.rows("select * from read_profile_words($1,$2)", job.tenant_id, list(job.turns))
        words = [row["text"] for row in rows]
        if not words:
            return 0
        request = question(await self._profile.read(job.tenant_id), words)
        # Paid on the account of the first turn that is looked at.
        answer = await self._model.ask(job.tenant_id, job.turns[0], _STEP, request)
        return await self._keep(job, rows[-1]["turn_id"], answer.text, words)

    async def _keep(self, job: ProfileJob, turn_id: str, answer: str, words: Sequence[str]) -> int:
        kept = 0
        for change in read_changes(answer, words):
            number = await self._profile.keep(
                job.tenant_id, change.key, change.value, change.source, turn_id, self._clock.now()
            )
            kept += number is not None
        return kept
