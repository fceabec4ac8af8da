"""When a scheduled task is due. Pure: moments and zones are parameters.

Cron follows Debian's: a wall time that a clock change skips is due at the first moment after it, a repeated wall time
is due once; expressions with a wildcard minute or hour follow real time.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from abilities.tasks.kinds.bounds import LAST_YEAR, check_count, check_moment, check_number, check_text
from abilities.tasks.kinds.bounds import TriggerError as TriggerError
from abilities.tasks.kinds.periods import first_day, number_of, period_of
from core.language.catalogue import gettext, gettext_noop

SHORTEST_MINUTES = 1 / 60
MAX_MINUTES = 10 * 366 * 24 * 60.0
MAX_JITTER_SECONDS = 24 * 60 * 60
MAX_DAYS_BEFORE = 366
MAX_EVERY = 366
MAX_GRACE_MINUTES = 366 * 24 * 60.0
_MAX_CRON = 200
_INTERVAL = gettext_noop("An interval is between a second and ten years.")
_JITTER = gettext_noop("The jitter is at most a day, in seconds.")
_NO_CRON = gettext_noop("“{text}” is not a cron expression, which has five fields, such as 0 8 * * 1-5.")
_DAYS_BEFORE = gettext_noop("Only a cron expression can be due days early, at most 366.")
_EVERY = gettext_noop("“Every” is a whole number from 1 to 366, and works only with a cron expression.")
_GRACE = gettext_noop("The grace time is at most a year, in minutes.")
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}


class Missed(StrEnum):
    """The policy for occurrences that were not taken in time."""

    SKIP = "skip"
    """They are recorded as skipped."""
    ONCE = "once"
    """The newest of them runs, within the grace time."""
    ALL = "all"
    """Each of them runs, within the grace time."""


@dataclass(frozen=True, slots=True)
class ScheduleTrigger:
    """Due by cron (five fields), at an interval of minutes, or once at a moment: exactly one of the three.

    `timezone` is an IANA name; None is the person's own, also after they move. `at` without a zone is a wall time in
    it. Intervals count from `start`, or from the task's creation. Each occurrence is delayed by up to
    `jitter_seconds`, always the same for the same occurrence. `grace_minutes` None: a day for `at`, else four hours.
    `days_before` has it due that number of days before each time of the cron expression, at the same time of day. With
    `every` only each so many of the periods count in which the expression comes again: of weeks if it names
    weekdays, of months (or years) if it names days of the month, else of days. The first period is that of `start`,
    or the first after the task's creation. `days_before` and `every` do not go together.
    """

    cron: str = ""
    interval_minutes: float | None = None
    at: datetime | None = None
    timezone: str | None = None
    start: datetime | None = None
    until: datetime | None = None
    count: int | None = None
    jitter_seconds: int = 0
    missed: Missed = Missed.ONCE
    grace_minutes: float | None = None
    days_before: int = 0
    every: int | None = None

    def __post_init__(self) -> None:
        check_text("cron", self.cron, _MAX_CRON)
        if self.timezone is not None:
            check_text("timezone", self.timezone, _MAX_CRON)
        if sum((bool(self.cron), self.interval_minutes is not None, self.at is not None)) != 1:
            raise TriggerError(
                gettext("A schedule has a cron expression, an interval or a moment: exactly one of them.")
            )
        if self.cron:
            _check_cron(self.cron)
        if self.interval_minutes is not None:
            check_number(self.interval_minutes, SHORTEST_MINUTES, MAX_MINUTES, _INTERVAL)
        for name, moment in (("at", self.at), ("start", self.start), ("until", self.until)):
            check_moment(name, moment)
        if self.timezone:
            read_zone(self.timezone)
        check_count(self.count)
        check_number(self.jitter_seconds, 0, MAX_JITTER_SECONDS, _JITTER)
        if self.grace_minutes is not None:
            check_number(self.grace_minutes, 0, MAX_GRACE_MINUTES, _GRACE)
        most_before = MAX_DAYS_BEFORE if self.cron and self.every is None else 0
        check_number(self.days_before, 0, most_before, _DAYS_BEFORE)
        if self.every is not None:
            whole = self.every if isinstance(self.every, int) else None
            check_number(whole, 1, MAX_EVERY if self.cron else 0, _EVERY)
        if not isinstance(self.missed, Missed):
            policies = ", ".join(Missed)
            raise TriggerError(gettext("Missed times are handled by one of: {policies}.", policies=policies))

    @property
    def grace(self) -> timedelta:
        """Return the delay after which a missed occurrence no longer runs."""
        if self.grace_minutes is not None:
            return timedelta(minutes=self.grace_minutes)
        return timedelta(days=1) if self.at is not None else timedelta(hours=4)

    def zone(self, persons: str | None) -> ZoneInfo:
        """Return the zone to compute in: the trigger's, the person's, or UTC."""
        return read_zone(self.timezone or persons or "UTC")

    def next_after(self, moment: datetime, zone: ZoneInfo, anchor: datetime) -> datetime | None:
        """Return the first occurrence after a moment, in UTC; None when there is none."""
        if self.at is not None:
            at = wall_moment(self.at, zone)
            due = at if at > moment else None
        elif self.interval_minutes is not None:
            due = _next_on_grid(*self._grid(anchor, zone), moment, self._first)
        else:
            start = wall_moment(self.start, zone) - timedelta(seconds=1) if self.start is not None else moment
            due = self._cron_after(max(moment, start), zone, anchor)
        return None if due is None or (self.until is not None and due > wall_moment(self.until, zone)) else due

    def last_before(self, moment: datetime, zone: ZoneInfo, anchor: datetime) -> datetime | None:
        """Return the newest occurrence at or before a moment, in UTC."""
        if self.until is not None:
            moment = min(moment, wall_moment(self.until, zone))
        if self.at is not None:
            at = wall_moment(self.at, zone)
            return at if at <= moment else None
        if self.interval_minutes is not None:
            return _last_on_grid(*self._grid(anchor, zone), moment, self._first)
        # Searched forwards, from earlier and earlier: only so are clock changes treated as in `next_after`.
        for span in (timedelta(hours=2), timedelta(days=8), timedelta(days=400), timedelta(days=3000)):
            newest, due = None, self._cron_after(moment - span, zone, anchor)
            while due is not None and due <= moment:
                newest, due = due, self._cron_after(due, zone, anchor)
            if newest is not None:
                return newest
        return None

    def begun(self, zone: ZoneInfo, anchor: datetime) -> "ScheduleTrigger":
        """Return the schedule with the day of its first time, so that its periods stay when the person moves."""
        if self.every is None or self.start is not None or (first := _cron(self.cron, anchor, zone)) is None:
            return self
        return replace(self, start=datetime.combine(first.astimezone(zone).date(), time()))

    def _cron_after(self, moment: datetime, zone: ZoneInfo, anchor: datetime) -> datetime | None:
        """Return cron's first time after a moment; with `days_before`, the first such moment before a time."""
        if not self.days_before:
            return self._counted(moment, zone, anchor)
        lead = timedelta(days=self.days_before)
        # A day less: the clocks may change between the two.
        due = _cron(self.cron, moment + lead - timedelta(days=1), zone)
        while due is not None:
            before = wall_moment(due.astimezone(zone).replace(tzinfo=None) - lead, zone)
            if before > moment:
                return before
            due = _cron(self.cron, due, zone)
        return None

    def _counted(self, moment: datetime, zone: ZoneInfo, anchor: datetime) -> datetime | None:
        """Return when cron is due first after a moment, in a period that counts."""
        due = _cron(self.cron, moment, zone)
        if self.every is None or due is None:
            return due
        begins = wall_moment(self.start, zone) - timedelta(seconds=1) if self.start is not None else anchor
        if (first := _cron(self.cron, begins, zone)) is None:
            return None
        period, due = period_of(parsed_cron(self.cron)), max(due, first)
        counted = number_of(first.astimezone(zone).date(), period)
        while due is not None and due.year <= LAST_YEAR:
            number = number_of(due.astimezone(zone).date(), period)
            if not (beyond := (number - counted) % self.every):
                return due
            day = first_day(number + self.every - beyond, period)
            due = _cron(self.cron, wall_moment(datetime.combine(day, time()), zone) - timedelta(seconds=1), zone)
        return None

    @property
    def _first(self) -> int:
        """Return the number of the first occurrence: a given `start` is itself an occurrence."""
        return 0 if self.start is not None else 1

    def _grid(self, anchor: datetime, zone: ZoneInfo) -> tuple[datetime, timedelta]:
        return wall_moment(self.start, zone) if self.start else anchor, timedelta(minutes=self.interval_minutes or 0)


def read_zone(name: str) -> ZoneInfo:
    """Return a zone by its IANA name; raises `TriggerError`."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        sentence = gettext("There is no timezone named “{name}”.", name=name)
        raise TriggerError(sentence, note="Use an IANA name, such as Europe/Berlin.") from error


def wall_moment(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return a wall time of a zone in UTC: the first of two moments, or the first moment after a skipped time."""
    if moment.tzinfo is not None:
        return moment.astimezone(UTC)
    real = moment.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if real.astimezone(zone).replace(tzinfo=None) == moment:
        return real
    # It is skipped: the offset changes at some moment within the length of the gap before it.
    before = moment.replace(tzinfo=zone, fold=0).utcoffset() or timedelta()
    after = moment.replace(tzinfo=zone, fold=1).utcoffset() or timedelta()
    low, high = int((real - abs(after - before)).timestamp()), int(real.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        changed = datetime.fromtimestamp(middle, zone).utcoffset() != before
        low, high = (low, middle) if changed else (middle, high)
    return datetime.fromtimestamp(high, UTC)


def _check_cron(text: str) -> None:
    try:
        parsed_cron(text)
    except CronSimError as error:
        raise TriggerError(gettext(_NO_CRON, text=text), note=f"The reader of cron says: {error}.") from error
    if len(_ALIASES.get(text.lower(), text).split()) != 5:
        raise TriggerError(gettext(_NO_CRON, text=text))


def parsed_cron(text: str) -> CronSim:
    """Return the fields of a cron expression."""
    return _parsed(text, datetime(2000, 1, 1, tzinfo=UTC))


def _parsed(text: str, moment: datetime) -> CronSim:
    return CronSim(_ALIASES.get(text.lower(), text), moment)


@lru_cache(maxsize=4096)
def _cron(text: str, moment: datetime, zone: ZoneInfo) -> datetime | None:
    # The iterator starts at the wall time of the moment; in a repeated hour that may mean an earlier moment.
    for due in _parsed(text, moment.astimezone(zone)):
        occurrence = due.astimezone(UTC)
        if occurrence > moment:
            return occurrence
    return None


def _next_on_grid(anchor: datetime, step: timedelta, moment: datetime, first: int) -> datetime:
    return (anchor + max((moment - anchor) // step + 1, first) * step).astimezone(UTC)


def _last_on_grid(anchor: datetime, step: timedelta, moment: datetime, first: int) -> datetime | None:
    number = (moment - anchor) // step
    return (anchor + number * step).astimezone(UTC) if number >= first else None
