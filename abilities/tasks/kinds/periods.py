"""Days, weeks, months and years of which a cron expression takes only every so many."""

from datetime import date, timedelta
from enum import StrEnum

from cronsim import CronSim

_MONTHS = 12
_SEVEN = 7


class Period(StrEnum):
    """The unit of counting."""

    DAY = "day"
    WEEK = "week"
    """It begins on Monday."""
    MONTH = "month"
    YEAR = "year"


def period_of(cron: CronSim) -> Period:
    """Return in which period the days of a cron expression come again: Tuesdays with each week, the 15th each month."""
    of_month = len(cron.days) < 31 or any(not isinstance(day, int) for day in cron.weekdays)
    if of_month:
        return Period.YEAR if len(cron.months) < _MONTHS else Period.MONTH
    return Period.WEEK if len({day % _SEVEN for day in cron.weekdays if isinstance(day, int)}) < _SEVEN else Period.DAY


def number_of(day: date, period: Period) -> int:
    """Return the number of a day's period among its kind; the numbers count up without a gap."""
    match period:
        case Period.DAY:
            return day.toordinal()
        case Period.WEEK:
            return (day.toordinal() - 1) // _SEVEN
        case Period.MONTH:
            return day.year * _MONTHS + day.month - 1
        case Period.YEAR:
            return day.year


def first_day(number: int, period: Period) -> date:
    """Return the day with which a period begins."""
    match period:
        case Period.DAY:
            return date.fromordinal(number)
        case Period.WEEK:
            return date.fromordinal(1) + timedelta(weeks=number)
        case Period.MONTH:
            return date(number // _MONTHS, number % _MONTHS + 1, 1)
        case Period.YEAR:
            return date(number, 1, 1)
