"""Days, times, spans and numbers for a sentence, in the person's language.

A day or a moment follows the sentence's own preposition ("on {moment}"); a near moment and a time ahead bring their
preposition along ("It rings {near moment}"). Times of day have 24 hours.
"""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, localcontext
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_skeleton, get_day_names
from babel.numbers import format_currency, format_decimal

from core.language.catalogue import current_locale, gettext, listed, ngettext

_MINUTE, _HOUR, _DAY = 60, 60 * 60, 24 * 60 * 60
_ENGLISH_DAY = "EEE d MMM y"


def moment_in_words(at: datetime, zone: ZoneInfo) -> str:
    """Return a moment as wall time with its whole date, such as "Mon 23 Nov 2026, 08:00".

    If a time comes twice, because clocks go back, the text says which of the two it is.
    """
    local = at.astimezone(zone)
    words = gettext("{day}, {time}", day=day_in_words(local), time=time_in_words(local))
    if local.replace(fold=0).utcoffset() == local.replace(fold=1).utcoffset():
        return words
    if local.fold:
        return gettext("{moment} (second time)", moment=words)
    return gettext("{moment} (first time)", moment=words)


def near_moment_in_words(at: datetime, now: datetime, zone: ZoneInfo) -> str:
    """Return a moment as people say it now, such as "tomorrow at 09:00" or "on 3 December at 09:00"."""
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    clock, day = time_in_words(local), local.date()
    match (day - today).days:
        case 0:
            return gettext("today at {time}", time=clock)
        case 1:
            return gettext("tomorrow at {time}", time=clock)
        case -1:
            return gettext("yesterday at {time}", time=clock)
        case ahead if 1 < ahead < 7:
            return gettext("on {weekday} at {time}", weekday=weekday_in_words(day.weekday()), time=clock)
    if day.year == today.year:
        return gettext("on {date} at {time}", date=format_skeleton("MMMMd", local, locale=current_locale()), time=clock)
    return gettext("on {date} at {time}", date=format_date(day, "long", current_locale()), time=clock)


def day_in_words(day: date) -> str:
    """Return a day such as "Mon 23 Nov 2026"."""
    if current_locale().language == "en":
        return format_date(day, _ENGLISH_DAY, "en")
    return format_skeleton("yMMMEd", datetime(day.year, day.month, day.day, tzinfo=UTC), locale=current_locale())


def day_of_year_in_words(month: int, day: int) -> str:
    """Return a day of each year such as "4 March"; for 29 February the text names the day of other years."""
    words = format_skeleton("MMMMd", datetime(2028, month, day, tzinfo=UTC), locale=current_locale())
    if (month, day) != (2, 29):
        return words
    other = format_skeleton("MMMMd", datetime(2028, 2, 28, tzinfo=UTC), locale=current_locale())
    return gettext("{day} ({other} in other years)", day=words, other=other)


def weekday_in_words(number: int) -> str:
    """Return the name of a weekday; Monday is 0."""
    return str(get_day_names("wide", "format", current_locale())[number])


def time_in_words(at: time | datetime) -> str:
    """Return a time of day such as "08:00", as its own clock shows it."""
    shown = datetime(2000, 1, 1, at.hour, at.minute, tzinfo=UTC)
    return format_skeleton("Hm", shown, locale=current_locale())


def duration_in_words(span: timedelta) -> str:
    """Return a span such as "30 minutes" or "19 hours and 57 minutes"."""
    days, hours, minutes, seconds = _units(span)
    parts = [
        ngettext("{number} day", "{number} days", days) if days else "",
        ngettext("{number} hour", "{number} hours", hours) if hours else "",
        ngettext("{number} minute", "{number} minutes", minutes) if minutes else "",
        ngettext("{number} second", "{number} seconds", seconds) if seconds else "",
    ]
    words = [part for part in parts if part]
    return listed(words) if words else ngettext("{number} second", "{number} seconds", 0)


def interval_in_words(span: timedelta) -> str:
    """Return an interval in words, such as "every hour" or "every 30 minutes"."""
    match _units(span):
        case 1, 0, 0, 0:
            return gettext("every day")
        case 0, 1, 0, 0:
            return gettext("every hour")
        case 0, 0, 1, 0:
            return gettext("every minute")
        case days, 0, 0, 0:
            return gettext("every {number} days", number=days)
        case 0, hours, 0, 0:
            return gettext("every {number} hours", number=hours)
        case 0, 0, minutes, 0:
            return gettext("every {number} minutes", number=minutes)
    return gettext("every {span}", span=duration_in_words(span))


def number_in_words(number: float, *, grouped: bool = True) -> str:
    """Return a number with the language's separators, such as "1,234.5"; "1234.5" if it is not grouped."""
    locale = current_locale()
    exact = Decimal(str(number))
    with localcontext() as context:
        # Babel rounds in the context's precision, and raises if a number has more digits than that.
        context.prec = max(context.prec, abs(exact.adjusted()) + len(exact.as_tuple().digits) + 10)
        return format_decimal(exact, locale=locale, decimal_quantization=False, group_separator=grouped)


def amount_in_words(amount: Decimal, currency: str) -> str:
    """Return an amount of money such as "US$1,234.50"; `currency` is its ISO 4217 code."""
    return format_currency(amount, currency, locale=current_locale())


def _units(span: timedelta) -> tuple[int, int, int, int]:
    """Return the whole days, hours, minutes and seconds of a span."""
    total = max(0, int(span.total_seconds()))
    return total // _DAY, total % _DAY // _HOUR, total % _HOUR // _MINUTE, total % _MINUTE
