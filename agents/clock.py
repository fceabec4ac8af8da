"""Tell the time in the person's timezone."""

from datetime import timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from onevalet import ToolExecutionContext, ToolRetry, gettext, moment_in_words, tool


@tool(name="current_time", effect="read")
async def current_time(context: ToolExecutionContext, timezone: str | None = None) -> str:
    """Tell the current date, weekday and time.

    Args:
        timezone: Unless it is theirs, an IANA name: Europe/Berlin.
    """
    name = timezone or context.timezone
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolRetry(
            gettext("There is no timezone named “{name}”.", name=name), note="Use an IANA name, such as Europe/Berlin."
        ) from error
    now = context.clock.now().astimezone(zone)
    return gettext(
        "It is {moment} in {zone} (UTC{offset}).",
        moment=moment_in_words(now, zone),
        zone=name,
        offset=_signed(now.utcoffset() or timedelta()),
    )


def _signed(offset: timedelta) -> str:
    minutes = int(offset.total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"
