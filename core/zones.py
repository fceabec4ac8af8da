"""People's timezones by name. A name may be gone: tzdata drops some, and a server may have an older one."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_or_utc(name: str) -> ZoneInfo:
    """Return the zone of that name; UTC where the name is empty, or is not known here."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def zone_note(name: str) -> str:
    """Return the sentence that says that times are in UTC since the name is not known here; empty where it is."""
    if not name or zone_or_utc(name).key == name:
        return ""
    return f"Times are in UTC, since there is no timezone named {name!r} any more."
