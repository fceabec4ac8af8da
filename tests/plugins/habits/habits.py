"""The habits of one person."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.db.database import Database


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit. `done_on` is the last day on which it was done."""

    name: str
    remind_at: time | None
    done_on: date | None


@dataclass(frozen=True, slots=True)
class Habits:
    """What a person wants to do each day, `most` of it."""

    database: Database
    clock: Clock
    tenant_id: str
    most: int

    async def add(self, name: str, remind_at: time | None, zone: str) -> bool:
        """Keep a habit, or change when it is reminded of; return False where there are too many."""
        row = await self.database.tenant_row(
            self.tenant_id,
            "insert into habits (tenant_id, name, remind_at, zone, next_at) select $1, $2, $3, $4, $5"
            " where (select count(*) from habits where tenant_id = $1 and name <> $2) < $6 on conflict"
            " (tenant_id, name) do update set remind_at = $3, zone = $4, next_at = $5 returning name",
            name,
            remind_at,
            zone,
            next_moment(remind_at, zone, self.clock.now()) if remind_at else None,
            self.most,
        )
        return row is not None

    async def done(self, name: str, zone: str) -> bool:
        """Note that a habit was done today; return False where there is none of this name."""
        row = await self.database.tenant_row(
            self.tenant_id,
            "update habits set done_on = $3 where tenant_id = $1 and name = $2 returning name",
            name,
            self.today(zone),
        )
        return row is not None

    def today(self, zone: str) -> date:
        """Return which day it is in a zone."""
        return self.clock.now().astimezone(ZoneInfo(zone)).date()

    async def all(self) -> list[Habit]:
        """Return the habits by name."""
        rows = await self.database.tenant_rows(
            self.tenant_id, "select name, remind_at, done_on from habits where tenant_id = $1 order by name"
        )
        return [Habit(**row) for row in rows]


def next_moment(remind_at: time, zone: str, after: datetime) -> datetime:
    """Return when it is this time of the day next in a zone."""
    local = after.astimezone(ZoneInfo(zone))
    today = local.replace(hour=remind_at.hour, minute=remind_at.minute, second=0, microsecond=0)
    return today if today > local else today + timedelta(days=1)
