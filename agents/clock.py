"""Tell the time where the person is."""

from datetime import timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from onevalet import ToolExecutionContext, ToolRetry, tool


@tool(name="current_time", effect="read")
async def current_time(context: ToolExecutionContext, timezone: str = "") -> str:
    """Tell the current date, weekday and time.

    Args:
        timezone: IANA name such as Europe/Berlin; leave it out for the person's own.
    """
    name = timezone or context.timezone
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolRetry(f"There is no timezone named {name!r}; use an IANA name, Europe/Berlin.") from error
    now = context.clock.now().astimezone(zone)
    offset = now.utcoffset() or timedelta()
    return f"{now:%A, %Y-%m-%d %H:%M:%S} in {name} (UTC{_signed(offset)})"


def _signed(offset: timedelta) -> str:
    minutes = int(offset.total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"
