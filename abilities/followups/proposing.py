"""Proposing follow-ups in people's digests, from memories that a model has read; no model is asked here."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from abilities.followups import sentences
from abilities.followups.types import NOES, PAUSE, moment_to_ask
from abilities.tasks.service import TaskService
from core.clock import zone_or_utc
from core.db.database import Database
from core.json_types import JsonObject
from core.language.catalogue import speaking
from core.notifications.types import PersonNotifier
from core.people.access_policy import PersonRole
from core.people.tiers import Tiers
from core.queue.rounds import take_each
from core.tools.sharing import Sharing

DUE = "followups"
"""The kind of work that `sql/due.sql` names if something is to be proposed or ended."""
EVERY = timedelta(minutes=10)
_AT_ONCE = 50
_UNTOLD = (
    "select f.task_id from followups f where f.tenant_id = $1 and f.state = 'kept' and not exists ("
    " select from memories m where m.tenant_id = f.tenant_id and m.id = f.memory_id and m.valid_to is null)"
)
"""The tasks of kept follow-ups whose memory is gone or no longer holds."""
DECIDES = "decide_followup"
"""The tool through which people decide: a tier that names its tools and not this one has no proposals."""


@dataclass(frozen=True, slots=True)
class Proposals:
    """Propose follow-ups to everybody. `sharing`: a person's part in a household, None if there are none."""

    tasks: TaskService
    notifier: PersonNotifier
    tiers: Tiers
    sharing: Callable[[str], Sharing | None]

    async def propose(self) -> None:
        """Propose follow-ups on coming events, and end those that are over. Any number of workers may do so at once."""
        now = await self.tasks.clock.sound_now()
        if now is None:
            return
        people = await self._database.rows("select * from claim_followups($1,$2)", now, _AT_ONCE)
        await take_each(people, self._look, "followups_failed")

    async def _look(self, person: asyncpg.Record) -> None:
        tenant_id = person["tenant_id"]
        for row in await self._database.tenant_rows(tenant_id, _UNTOLD):
            await self.tasks.delete_task(tenant_id, row["task_id"])
        await self._database.call("select settle_followups($1,$2,$3,$4)", tenant_id, NOES, PAUSE, self._now)
        while ahead := await self._next(tenant_id):
            if await self._propose(tenant_id, ahead):
                break
        await self._database.call("select end_followup_look($1,$2)", tenant_id, self._now)

    async def _next(self, tenant_id: str) -> asyncpg.Record | None:
        return await self._database.call("select * from next_followup($1,$2)", tenant_id, self._now)

    async def _propose(self, tenant_id: str, ahead: asyncpg.Record) -> bool:
        """Propose to ask about something, or pass it over; return whether it is proposed."""
        proposal = await self._proposal(tenant_id, ahead) if await self._may_ask(tenant_id, ahead) else None
        row = await self._database.one(
            "select propose_followup($1,$2,$3,$4) as proposed",
            tenant_id,
            ahead["memory_id"],
            proposal,
            self._now,
        )
        return bool(row["proposed"])

    async def _may_ask(self, tenant_id: str, ahead: asyncpg.Record) -> bool:
        """Return whether anything may be proposed to a person; never to a child. Their own wish is the database's."""
        tools = self.tiers.tools_of(PersonRole(ahead["role"]), ahead["tier"] or None)
        if tools is not None and DECIDES not in tools:
            return False
        sharing = self.sharing(tenant_id)
        home = await sharing.home() if sharing else None
        return home is None or not home.child

    async def _proposal(self, tenant_id: str, ahead: asyncpg.Record) -> JsonObject | None:
        """Return a proposal for the next digest; None if its event will be over by then."""
        digest_at, zone = await self.notifier.next_digest(tenant_id), zone_or_utc(ahead["timezone"])
        if ahead["happens_at"] <= digest_at:
            return None
        ask_at = moment_to_ask(ahead["happens_at"], zone)
        with speaking(ahead["language"] or None):
            text = sentences.proposal(ahead["words"], ahead["memory_id"], ask_at, zone)
            buttons = sentences.buttons(ahead["memory_id"])
        return {
            "ask_at": ask_at.isoformat(),
            "digest_at": digest_at.isoformat(),
            "day": digest_at.astimezone(zone).date().isoformat(),
            "text": text,
            "actions": [{"label": one.label, "token": one.token} for one in buttons],
        }

    @property
    def _database(self) -> Database:
        return self.tasks.store.database

    @property
    def _now(self) -> datetime:
        return self.tasks.clock.now()
