"""The timezone at a place, by tzfpy (the extra `places`): it looks into its own map, so nobody learns of the place."""

from datetime import datetime
from importlib.util import find_spec
from zoneinfo import ZoneInfo, available_timezones


def zone_at(latitude: float, longitude: float) -> str:
    """Return the IANA name of the timezone at a place; empty on the open sea, or without the extra."""
    if find_spec("tzfpy") is None:
        return ""
    from tzfpy import get_tz

    zone = get_tz(longitude, latitude)
    return zone if "/" in zone and not zone.startswith("Etc/") and zone in available_timezones() else ""


def differ(zone: str, other: str, now: datetime) -> bool:
    """Return whether the clocks of two zones show different times, now or in other parts of this year."""
    moments = [now.replace(month=month, day=15) for month in (1, 4, 7, 10)]
    one, two = ZoneInfo(zone), ZoneInfo(other)
    return any(at.astimezone(one).utcoffset() != at.astimezone(two).utcoffset() for at in (now, *moments))
