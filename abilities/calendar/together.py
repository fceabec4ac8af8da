"""The household's agenda for a day: of each member only the parts shown to the others, from their own accounts."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from abilities.calendar.free_time import busy_spans
from abilities.calendar.opening import READ, open_calendars, opened_with, read_span, zone_of
from abilities.calendar.places import CalendarEntry
from abilities.calendar.words import span_in_words
from core.language.unseen import one_line
from core.tools.person_access import AccountAccess
from core.tools.sharing import Companion, Sharing, sharing_among
from onevalet import (
    AccountMissing,
    ToolExecutionContext,
    ToolFailed,
    ToolGroup,
    ToolRetry,
    gettext,
    gettext_noop,
    listed,
    tool,
)

_MAX_LISTED, _MAX_DAYS, _MAX_TITLE = 30, 14, 100
TITLES = "titles"
_GROUP = ToolGroup("household", gettext_noop("everybody, everyone"))
"""The group that shows who is in it, and the words of people who want this tool."""


@dataclass(frozen=True, slots=True)
class CompanionCalendars:
    """The accounts of those with whom a person shares, as far as they show their calendars."""

    accounts: Callable[[str], AccountAccess]

    async def of(self, companion: Companion, sharing: Sharing) -> AccountAccess:
        """Return somebody's accounts. Raises `ToolFailed` unless they show their calendars now, and have any."""
        home = await sharing.home()
        if home is None or not any(one.id == companion.id and one.calendar for one in home.others):
            raise ToolFailed(gettext("{name} shows nothing of their calendar.", name=companion.name))
        accounts = self.accounts(companion.id)
        if not await accounts.list(READ):
            raise ToolFailed(gettext("{name} has no calendar here.", name=companion.name))
        return accounts


@tool(name="household_agenda", effect="read", outside=True, group=_GROUP, timeout=90)
async def household_agenda(context: ToolExecutionContext, day: str = "today", days: int = 1) -> str:
    """Show what everybody in the person's household is doing on a day, as far as each of them shows it.

    Args:
        day: The first day: 2027-01-31, or as they said it ("tomorrow", "saturday").
        days: How many days from then on.
    """
    sharing = sharing_among(context.services)
    home = await sharing.home() if sharing else None
    if sharing is None or home is None:
        raise ToolFailed(gettext("You are in no household: nobody shows you their calendar."))
    zone = zone_of(context)
    span = read_span(day, min(days, _MAX_DAYS), context, zone)
    told = await asyncio.gather(
        _own(context, span, zone), *(_of(one, sharing, context, span, zone) for one in home.others)
    )
    hidden = [one.name or gettext("somebody without a name") for one in home.others if not one.calendar]
    shows_nothing = (
        gettext("Nothing of their calendars is shown by: {people}.", people=listed(hidden)) if hidden else ""
    )
    return "\n".join(filter(None, [f"Times are in {zone.key}.", *told, shows_nothing]))


async def _own(context: ToolExecutionContext, span: tuple[datetime, datetime], zone: ZoneInfo) -> str:
    try:
        agenda = await (await open_calendars(context)).agenda(*span)
    except (AccountMissing, ToolFailed, ToolRetry):
        return gettext("You: I cannot see a calendar of yours.")
    return _told(gettext("You"), agenda.entries, span, zone, titles=True)


async def _of(
    one: Companion, sharing: Sharing, context: ToolExecutionContext, span: tuple[datetime, datetime], zone: ZoneInfo
) -> str:
    """Return the events of a member in words; empty for a member who shares no calendar."""
    if not one.calendar:
        return ""
    name = one_line(one.name) or gettext("Somebody without a name")
    try:
        accounts = await context.service(CompanionCalendars).of(one, sharing)
        agenda = await (await opened_with(accounts, context, READ, zone)).agenda(*span)
    # Why is for its owner alone.
    except (AccountMissing, ToolFailed, ToolRetry):
        return gettext("{name}: their calendar cannot be seen now.", name=name)
    return _told(name, agenda.entries, span, zone, titles=one.calendar == TITLES)


def _told(
    name: str, entries: Sequence[CalendarEntry], span: tuple[datetime, datetime], zone: ZoneInfo, *, titles: bool
) -> str:
    start, end = span
    busy = [
        (max(first, start), min(last, end)) for first, last in busy_spans(entries, zone) if first < end and last > start
    ]
    if titles:
        kept = [one for one in entries if not (one.occurrence.cancelled or one.is_declined)]
        lines = [
            f"{span_in_words(one.start, one.end, zone)}: {one_line(one.title)[:_MAX_TITLE]}"
            for one in (each.occurrence for each in kept)
        ]
    else:
        lines = [
            gettext("{time}: busy", time=span_in_words(first.astimezone(zone), last.astimezone(zone), zone))
            for first, last in busy
        ]
    if not lines:
        return gettext("{name}: nothing.", name=name)
    more = [gettext("and more")] if len(lines) > _MAX_LISTED else []
    return "\n".join([f"{name}:", *(f"- {line}" for line in [*lines[:_MAX_LISTED], *more])])
