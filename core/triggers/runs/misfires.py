"""What becomes of a task that is due: which occurrences run, which are let go, and which comes next. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from core.triggers.kinds.schedule import Missed, ScheduleTrigger

IN_TIME = timedelta(seconds=60)
"""How late an occurrence may be taken and still count as not missed."""
MAX_AT_ONCE = 100
"""How many missed occurrences are made up for at most, the newest of them."""
_FIRST_SPAN = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done about a task that is due. All moments are occurrences, without jitter.

    `skipped` is the newest occurrence that is let go, `missed_since` the oldest that the runs stand for as well.
    """

    fires: tuple[datetime, ...]
    skipped: datetime | None = None
    missed_since: datetime | None = None
    next_due: datetime | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """One task's schedule in its zone. `anchor` is what intervals count from, `fired` how often it has run."""

    task_id: str
    trigger: ScheduleTrigger
    zone: ZoneInfo
    anchor: datetime
    fired: int = 0

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first occurrence after a moment; None when it has run as often as it may, or there is none."""
        if self.trigger.count is not None and self.fired >= self.trigger.count:
            return None
        return self.trigger.next_after(moment, self.zone, self.anchor)

    def taken_at(self, due: datetime | None) -> datetime | None:
        """Return when an occurrence is to be taken: always as much later for the same one."""
        if due is None or not self.trigger.jitter_seconds:
            return due
        digest = hashlib.sha256(f"{self.task_id} {due.timestamp()}".encode()).digest()
        return due + timedelta(seconds=int.from_bytes(digest[:6]) % (self.trigger.jitter_seconds * 1000) / 1000)

    def plan(self, due: datetime, now: datetime) -> Plan:
        """Decide about all occurrences from `due`, the oldest that nobody took, up to now."""
        newest = self._newest(due, now)
        fires = self._fires(due, newest, now)
        left = None if self.trigger.count is None else max(self.trigger.count - self.fired, 0)
        fires = fires if left is None else fires[:left]
        next_due = self.trigger.next_after(newest, self.zone, self.anchor)
        if left is not None and len(fires) >= left:
            next_due = None
        if not fires:
            return Plan((), skipped=newest, missed_since=due if due < newest else None, next_due=next_due)
        older = fires[0] > due and now - due > IN_TIME
        return Plan(fires, missed_since=due if older else None, next_due=next_due)

    def _newest(self, due: datetime, now: datetime) -> datetime:
        newest = due
        if now - due > IN_TIME:
            found = self.trigger.last_before(now, self.zone, self.anchor)
            while found is not None and found > due and (self.taken_at(found) or found) > now:
                found = self.trigger.last_before(found - timedelta(microseconds=1), self.zone, self.anchor)
            return max(found or due, due)
        while (following := self.trigger.next_after(newest, self.zone, self.anchor)) is not None:
            if (self.taken_at(following) or following) > now:
                break
            newest = following
        return newest

    def _fires(self, due: datetime, newest: datetime, now: datetime) -> tuple[datetime, ...]:
        """Choose those that run. Within the time in which nothing counts as missed, each does."""
        policy = self.trigger.missed
        if policy is Missed.ONCE and now - due > IN_TIME:
            return (newest,) if now - newest <= max(self.trigger.grace, IN_TIME) else ()
        reach = max(self.trigger.grace, IN_TIME) if policy is Missed.ALL else IN_TIME
        first: datetime | None = due if now - due <= reach + self._jitter else None
        if first is None:
            first = self.trigger.next_after(now - reach - timedelta(microseconds=1), self.zone, self.anchor)
        return () if first is None else self._latest(first, newest)

    def _latest(self, first: datetime, newest: datetime) -> tuple[datetime, ...]:
        """Return the newest occurrences from `first` to `newest`, both included: `MAX_AT_ONCE` of them at most.

        The steps stay few however long nobody was there: looked for in ever longer spans before the newest.
        """
        span = _FIRST_SPAN
        while True:
            whole = newest - span <= first
            one = first if whole else self.trigger.next_after(newest - span, self.zone, self.anchor)
            found: list[datetime] = []
            while one is not None and one <= newest:
                found.append(one)
                one = self.trigger.next_after(one, self.zone, self.anchor)
            if whole or len(found) >= MAX_AT_ONCE:
                return tuple(found[-MAX_AT_ONCE:])
            span *= 2

    @property
    def _jitter(self) -> timedelta:
        return timedelta(seconds=self.trigger.jitter_seconds)
