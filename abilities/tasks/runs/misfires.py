"""The decision which missed occurrences of a task run and which are skipped, and the next occurrence. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from abilities.tasks.kinds.schedule import Missed, ScheduleTrigger

IN_TIME = timedelta(seconds=60)
"""How late an occurrence may be taken without counting as missed."""
MAX_AT_ONCE = 100
"""Missed occurrences that run at most, the newest of them."""
_FIRST_SPAN = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan for a due task. All moments are occurrences, without jitter.

    `skipped` is the newest skipped occurrence, `missed_since` the oldest that the runs stand for as well.
    """

    fires: tuple[datetime, ...]
    skipped: datetime | None = None
    missed_since: datetime | None = None
    next_due: datetime | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """A task's schedule in its zone. Intervals count from `anchor`; `fired` is the number of its runs."""

    task_id: str
    trigger: ScheduleTrigger
    zone: ZoneInfo
    anchor: datetime
    fired: int = 0

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first occurrence after a moment; None when there is none or its count is reached."""
        if self.trigger.count is not None and self.fired >= self.trigger.count:
            return None
        return self.trigger.next_after(moment, self.zone, self.anchor)

    def taken_at(self, due: datetime | None) -> datetime | None:
        """Return the moment when an occurrence is taken, with its jitter: always the same for the same occurrence."""
        if due is None or not self.trigger.jitter_seconds:
            return due
        digest = hashlib.sha256(f"{self.task_id} {due.timestamp()}".encode()).digest()
        return due + timedelta(seconds=int.from_bytes(digest[:6]) % (self.trigger.jitter_seconds * 1000) / 1000)

    def plan(self, due: datetime, now: datetime) -> Plan:
        """Plan all occurrences from `due`, the oldest not taken yet, up to now."""
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
            last = self.trigger.last_before(now, self.zone, self.anchor)
            while last is not None and last > due and (self.taken_at(last) or last) > now:
                last = self.trigger.last_before(last - timedelta(microseconds=1), self.zone, self.anchor)
            return max(last or due, due)
        while (following := self.trigger.next_after(newest, self.zone, self.anchor)) is not None:
            if (self.taken_at(following) or following) > now:
                break
            newest = following
        return newest

    def _fires(self, due: datetime, newest: datetime, now: datetime) -> tuple[datetime, ...]:
        """Return the occurrences that run: each that does not count as missed, and by the policy."""
        policy = self.trigger.missed
        if policy is Missed.ONCE and now - due > IN_TIME:
            return (newest,) if now - newest <= max(self.trigger.grace, IN_TIME) else ()
        reach = max(self.trigger.grace, IN_TIME) if policy is Missed.ALL else IN_TIME
        first: datetime | None = due if now - due <= reach + self._jitter else None
        if first is None:
            first = self.trigger.next_after(now - reach - timedelta(microseconds=1), self.zone, self.anchor)
        return () if first is None else self._latest(first, newest)

    def _latest(self, first: datetime, newest: datetime) -> tuple[datetime, ...]:
        """Return the newest occurrences from `first` to `newest`, both included: at most `MAX_AT_ONCE` of them.

        Ever longer spans before the newest are searched, so that the steps stay few however long the downtime was.
        """
        span = _FIRST_SPAN
        while True:
            whole = newest - span <= first
            due = first if whole else self.trigger.next_after(newest - span, self.zone, self.anchor)
            occurrences: list[datetime] = []
            while due is not None and due <= newest:
                occurrences.append(due)
                due = self.trigger.next_after(due, self.zone, self.anchor)
            if whole or len(occurrences) >= MAX_AT_ONCE:
                return tuple(occurrences[-MAX_AT_ONCE:])
            span *= 2

    @property
    def _jitter(self) -> timedelta:
        return timedelta(seconds=self.trigger.jitter_seconds)
