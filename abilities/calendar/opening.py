"""A person's calendars, opened for a single call, and the days that it is about."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from abilities.calendar.calendars import Calendars
from abilities.moments.saying_when import parts_said, said_elsewhere
from core.tools.person_access import AccountAccess
from onevalet import Ability, AccountMissing, OpenAccount, ToolExecutionContext

READ, CHANGE = Ability.CALENDAR_READ.value, Ability.CALENDAR_CHANGE.value


async def open_calendars(context: ToolExecutionContext, need: str = READ, zone: ZoneInfo | None = None) -> Calendars:
    """Return the calendars of all accounts that can do this; the preferred account's come first."""
    return await opened_with(context.accounts, context, need, zone or zone_of(context))


async def opened_with(accounts: AccountAccess, context: ToolExecutionContext, need: str, zone: ZoneInfo) -> Calendars:
    """Return the calendars of these accounts, which may belong to another person who shows them to this one."""
    opened: list[OpenAccount] = []
    missing: AccountMissing | None = None
    for account in await accounts.list(need):
        try:
            opened.append(await accounts.open(f"{account.service}:{need}", account.name))
        except AccountMissing as error:  # an account that must be reconnected does not keep the others from being read
            missing = error
    if not opened:
        if missing is not None:
            raise missing
        opened.append(await accounts.open(need))
    return Calendars(context.http, opened, zone, context.idempotency_key, context.clock.now())


def zone_of(context: ToolExecutionContext) -> ZoneInfo:
    """Return the person's timezone."""
    return ZoneInfo(context.timezone)


def wall_now(context: ToolExecutionContext, zone: ZoneInfo) -> datetime:
    """Return the person's wall time."""
    return context.clock.now().astimezone(zone).replace(tzinfo=None)


def read_time(text: str, context: ToolExecutionContext, zone: ZoneInfo) -> tuple[date | None, time | None]:
    """Return the day and the time of day that a text names. Raises `ToolRetry` if it names neither."""
    found = parts_said(text, context.clock.now().astimezone(zone), context.language)
    return found.day, found.clock


def told_elsewhere(text: str, context: ToolExecutionContext, zone: ZoneInfo) -> str:
    """Return the time in another zone that a text names, to follow the person's own; empty if it names none."""
    words = said_elsewhere(text, context.clock.now().astimezone(zone), context.language)
    return f"; {words}" if words else ""


def read_span(day: str, days: int, context: ToolExecutionContext, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the beginning and the end of some days, as moments."""
    first = wall_now(context, zone).date()
    if day.strip():
        named, _ = read_time(day, context, zone)
        first = named or first
    last = first + timedelta(days=min(max(days, 1), 366))
    return midnight(first, zone), midnight(last, zone)


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the beginning of a day."""
    return datetime.combine(day, time(), tzinfo=zone)
