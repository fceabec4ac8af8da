"""Cron expressions in words, in the person's language: no two schedules read alike."""

from calendar import monthrange
from collections.abc import Collection, Sequence
from datetime import time

from babel.dates import get_month_names
from cronsim import CronSim

from abilities.tasks.kinds.periods import Period, period_of
from abilities.tasks.kinds.schedule import parsed_cron
from core.language.catalogue import current_locale, gettext, gettext_noop, listed, ngettext
from core.language.times import day_of_year_in_words, time_in_words, weekday_in_words

_MAX_TIMES = 6
"""Times of day that are listed individually."""
_NTH = {
    1: gettext_noop("on the first {weekday} of the month"),
    2: gettext_noop("on the second {weekday} of the month"),
    3: gettext_noop("on the third {weekday} of the month"),
    4: gettext_noop("on the fourth {weekday} of the month"),
    5: gettext_noop("on the fifth {weekday} of the month"),
    CronSim.LAST: gettext_noop("on the last {weekday} of the month"),
}
_EVERY = {
    Period.DAY: gettext_noop("every {number} days"),
    Period.WEEK: gettext_noop("every {number} weeks"),
    Period.MONTH: gettext_noop("every {number} months"),
    Period.YEAR: gettext_noop("every {number} years"),
}
_SHORTEST = 28
"""Days that each month has."""
_A_LEAP_YEAR = 2024
_WORKDAYS, _WEEKEND = [1, 2, 3, 4, 5], [0, 6]


def cron_in_words(text: str, every: int = 1) -> str:
    """Return when a valid cron expression is due, such as "every weekday at 08:00". Each `every`th period counts."""
    cron = parsed_cron(text)
    days, months, weekdays = _restricted(cron.days, 31), _restricted(cron.months, 12), _weekdays(cron)
    minutes, hours = sorted(cron.minutes), sorted(cron.hours)
    simple = len(minutes) == len(hours) == 1 and not days and not months
    if every == 1 and simple and (words := _every(weekdays, time_in_words(time(hours[0], minutes[0])))):
        return words
    often = gettext(_EVERY[period_of(cron)], number=every) if every > 1 else ""
    parts = [often, _clock(minutes, hours), _days(days, weekdays, together=cron.day_and), _months(months)]
    parts += _left_out(days, sorted(cron.months)) if cron.day_and or not weekdays else []
    return listed_plainly([part for part in parts if part])


def before_in_words(text: str, days: int) -> str:
    """Return when something is due that is due some days before each time of a cron expression."""
    cron = parsed_cron(text)
    if len(cron.days) == len(cron.months) == len(cron.hours) == len(cron.minutes) == 1 and not _weekdays(cron):
        [day], [month], clock = cron.days, cron.months, time(min(cron.hours), min(cron.minutes))
        if day > 0 or (day, month) == (CronSim.LAST, 2):
            date, at = day_of_year_in_words(month, day if day > 0 else 29), time_in_words(clock)
            return ngettext(
                "every year, {number} day before {date}, at {time}",
                "every year, {number} days before {date}, at {time}",
                days,
                date=date,
                time=at,
            )
    return ngettext("{number} day before: {when}", "{number} days before: {when}", days, when=cron_in_words(text))


def listed_plainly(parts: Sequence[str]) -> str:
    """Return parts of a sentence with commas between them."""
    words = parts[0]
    for part in parts[1:]:
        words = gettext("{words}, {more}", words=words, more=part)
    return words


def _restricted(values: Collection[int], count: int) -> list[int]:
    """Return the values of a field; empty if it leaves none out."""
    return [] if len(values) == count else sorted(values)


def _weekdays(cron: CronSim) -> list[int | tuple[int, int]]:
    """Return the days of the week with Sunday as 0, and such as the second Monday as a pair; none for all."""
    whole = sorted({day % 7 for day in cron.weekdays if isinstance(day, int)})
    nth = sorted((day[0] % 7, day[1]) for day in cron.weekdays if not isinstance(day, int))
    return [] if len(whole) == 7 else [*whole, *nth]


def _every(weekdays: list[int | tuple[int, int]], clock: str) -> str:
    """Return a time of day on each of some weekdays; empty if these are not all of their month."""
    if not weekdays:
        return gettext("every day at {time}", time=clock)
    if weekdays == _WORKDAYS:
        return gettext("every weekday at {time}", time=clock)
    if weekdays == _WEEKEND:
        return gettext("every weekend day at {time}", time=clock)
    if any(isinstance(day, tuple) for day in weekdays):
        return ""
    return gettext("every {weekdays} at {time}", weekdays=_named(weekdays), time=clock)


def _clock(minutes: list[int], hours: list[int]) -> str:
    all_minutes, all_hours = len(minutes) == 60, len(hours) == 24
    if all_minutes:
        every = gettext("every minute")
        return every if all_hours else gettext("{every} of the hours {hours}", every=every, hours=_spans(hours))
    if not all_hours and len(minutes) * len(hours) <= _MAX_TIMES:
        times = [time_in_words(time(hour, minute)) for hour in hours for minute in minutes]
        return gettext("at {times}", times=listed(times))
    step = 60 // len(minutes)
    if minutes == list(range(0, 60, step)):
        every = gettext("every hour") if step == 60 else gettext("every {number} minutes", number=step)
        return every if all_hours else gettext("{every} of the hours {hours}", every=every, hours=_spans(hours))
    if all_hours:
        return gettext("every hour, at minute {minutes}", minutes=_spans(minutes))
    return gettext("in the hours {hours}, at minute {minutes}", hours=_spans(hours), minutes=_spans(minutes))


def _days(days: list[int], weekdays: list[int | tuple[int, int]], *, together: bool) -> str:
    both = [words for words in (_of_month(days), _of_week(weekdays)) if words]
    if len(both) < 2 or together:
        return listed_plainly(both) if both else ""
    return gettext("{days} or {weekdays}", days=both[0], weekdays=both[1])


def _of_month(days: list[int]) -> str:
    if not days:
        return ""
    parts: list[str] = []
    if numbers := [day for day in days if day > 0]:
        parts.append(gettext("on day {days} of the month", days=_spans(numbers)))
    if CronSim.LAST in days:
        parts.append(gettext("on the last day of the month"))
    if CronSim.LAST_WEEKDAY in days:
        parts.append(gettext("on the last weekday of the month"))
    return listed(parts)


def _left_out(days: list[int], months: list[int]) -> list[str]:
    """Return which of some months lack days of the month, so that nothing is due on them."""
    parts: list[str] = []
    for day in (day for day in days if day > _SHORTEST):
        short = [month for month in months if day > monthrange(_A_LEAP_YEAR, month)[1]]
        if short:
            named = _named_months(short)
            parts.append(gettext("left out in months without a day {number}: {months}", number=day, months=named))
        elif day == _SHORTEST + 1 and 2 in months:
            parts.append(gettext("left out in months without a day 29: February of most years"))
    return parts


def _of_week(weekdays: list[int | tuple[int, int]]) -> str:
    if not weekdays:
        return ""
    if weekdays == _WORKDAYS:
        return gettext("on weekdays")
    if weekdays == _WEEKEND:
        return gettext("on weekend days")
    whole = [day for day in weekdays if isinstance(day, int)]
    parts = [gettext("on {weekdays}", weekdays=_named(whole))] if whole else []
    nth = [day for day in weekdays if isinstance(day, tuple)]
    return listed([*parts, *(gettext(_NTH[number], weekday=_named([day])) for day, number in nth)])


def _months(months: list[int]) -> str:
    return gettext("in {months}", months=_named_months(months)) if months else ""


def _named_months(months: Sequence[int]) -> str:
    names = get_month_names("wide", "stand-alone", current_locale())
    return listed([str(names[month]) for month in months])


def _named(weekdays: Sequence[int | tuple[int, int]]) -> str:
    """Return the names of weekdays, of which Sunday is 0 and said last."""
    whole = sorted((day for day in weekdays if isinstance(day, int)), key=lambda day: day or 7)
    return listed([weekday_in_words((day - 1) % 7) for day in whole])


def _spans(numbers: Sequence[int]) -> str:
    """Return numbers as a list with each consecutive series as a span, such as "1–5 and 9"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    parts: list[str] = []
    for span in spans:
        parts += [f"{span[0]}–{span[-1]}"] if len(span) > 2 else [str(number) for number in span]
    return listed(parts)
