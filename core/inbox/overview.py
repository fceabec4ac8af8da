"""The overview of a person: read across approvals and planned work, never written."""

from core.clock import Clock, zone_or_utc
from core.db.database import Database
from core.inbox.languages import language_at
from core.messaging.messages import Address
from core.messaging.overview import ComingTask, Overview, WaitingDecision

MAX_SHOWN = 10


class Overviews:
    """Read the overview of a person."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def overview(self, address: Address, user_key: str) -> Overview | None:
        """Return the overview of the person with that identity; None for a stranger. Raises `StoreUnavailable`."""
        found = await self._database.call(
            "select tenant_id from find_identity($1,$2,$3)", address.channel, address.account, user_key
        )
        if found is None:
            return None
        tenant_id, now = str(found["tenant_id"]), self._clock.now()
        async with self._database.tenant(tenant_id) as connection:
            person = await connection.fetchrow("select timezone, language from tenants where tenant_id = $1", tenant_id)
            decisions = await connection.fetch(
                "select code, summary, created_at, expires_at, count(*) over () as of_all from approvals"
                " where tenant_id = $1 and state = 'pending' and (expires_at is null or expires_at > $2)"
                " order by created_at, id limit $3",
                tenant_id,
                now,
                MAX_SHOWN,
            )
            tasks = await connection.fetch(
                "select number, title, due_at, count(*) over () as of_all from planned_work($1) where active"
                " order by due_at, number limit $2",
                tenant_id,
                MAX_SHOWN,
            )
        return Overview(
            now,
            zone_or_utc(person["timezone"] if person else ""),
            tuple(
                WaitingDecision(row["code"], row["summary"], row["created_at"], row["expires_at"]) for row in decisions
            ),
            tuple(ComingTask(row["number"], row["title"], row["due_at"]) for row in tasks),
            decisions[0]["of_all"] - len(decisions) if decisions else 0,
            tasks[0]["of_all"] - len(tasks) if tasks else 0,
            (person["language"] or None) if person else None,
        )

    async def language(self, address: Address, user_key: str) -> str:
        return await language_at(self._database, address, user_key)
