"""The person's free time, over all their calendars: busy times are removed from the requested hours."""

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from abilities.calendar.group import GROUP
from abilities.calendar.opening import open_calendars, read_span, zone_of
from abilities.calendar.places import CalendarEntry
from onevalet import ToolExecutionContext, ToolRetry, day_in_words, gettext, time_in_words, tool

type Span = tuple[datetime, datetime]

_MAX_DAYS = 60
_MAX_SPANS = 20
_QUARTER = timedelta(minutes=15)


@tool(name="find_free_time", effect="read", group=GROUP, timeout=90)
async def find_free_time(
    context: ToolExecutionContext,
    minutes: int = 60,
    day: str = "today",
    days: int = 7,
    earliest: str = "09:00",
    latest: str = "17:00",
    weekends: bool = False,
) -> str:
    """Find when the person is free, over all their calendars. Their contents are not shown.

    Args:
        minutes: How long it must be at least.
        day: The first day to look at: 2027-01-31, or as they said it.
        days: How many days from then on; 1 for that day alone.
        earliest: Not before this time of day.
        latest: Over by this time of day.
        weekends: Whether Saturdays and Sundays count.
    """
    zone = zone_of(context)
    start, end = read_span(day, min(days, _MAX_DAYS), context, zone)
    hours = _hours(earliest, latest)
    agenda = await (await open_calendars(context)).agenda(start, end)
    busy = busy_spans(agenda.entries, zone)
    wanted = timedelta(minutes=max(minutes, 5))
    lines: dict[str, list[str]] = {}
    single = (end - start) <= timedelta(days=1, hours=2)
    found = free_spans(start, end, hours, busy, wanted, max(context.clock.now(), start))
    for count, (first, last) in enumerate(found):
        if count >= _MAX_SPANS:
            break
        if weekends or single or first.weekday() < 5:
            spans = lines.setdefault(day_in_words(first), [])
            spans.append(gettext("{start}–{end}", start=time_in_words(first), end=time_in_words(last)))
    told = [gettext("{day}: {spans}", day=name, spans=", ".join(spans)) for name, spans in lines.items()]
    if not told:
        told = [gettext("There is no free time of {minutes} minutes then.", minutes=minutes)]
    return "\n".join([f"Times are in {zone.key}.", *told, *agenda.problems])


def busy_spans(entries: Sequence[CalendarEntry], zone: ZoneInfo) -> list[Span]:
    """Return the busy times, in order, without overlaps."""
    merged: list[Span] = []
    spans = (
        (entry.occurrence.begins(zone), entry.occurrence.ends(zone))
        for entry in entries
        if entry.occurrence.busy and not entry.is_declined
    )
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def free_spans(
    start: datetime, end: datetime, hours: tuple[time, time], busy: Sequence[Span], wanted: timedelta, now: datetime
) -> Iterator[Span]:
    """Yield the spans of each day within its hours that are free and long enough, in the person's zone."""
    zone, day = start.tzinfo, start.date()
    while day < end.date():
        opens, closes = (datetime.combine(day, at, tzinfo=zone) for at in hours)
        free = max(opens, _next_quarter(now.astimezone(zone)))
        for first, last in [*(span for span in busy if span[0] < closes and span[1] > opens), (closes, closes)]:
            if _long_enough(free, min(first, closes), wanted):
                yield free, min(first, closes).astimezone(zone)
            free = max(free, last.astimezone(zone))
        day += timedelta(days=1)


def _long_enough(start: datetime, end: datetime, wanted: timedelta) -> bool:
    # Over a change of the clocks, the difference of wall times is not the elapsed time.
    return end.timestamp() - start.timestamp() >= wanted.total_seconds()


def _hours(earliest: str, latest: str) -> tuple[time, time]:
    try:
        hours = time.fromisoformat(earliest.strip().zfill(5)), time.fromisoformat(latest.strip().zfill(5))
    except ValueError as error:
        raise ToolRetry("Give earliest and latest as 09:00 and 17:30.") from error
    if hours[0] >= hours[1]:
        raise ToolRetry("earliest must be before latest.")
    return hours


def _next_quarter(moment: datetime) -> datetime:
    over = timedelta(minutes=moment.minute % 15, seconds=moment.second, microseconds=moment.microsecond)
    return moment - over + (_QUARTER if over else timedelta())
