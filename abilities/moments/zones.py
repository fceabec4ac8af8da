"""The zones that people name beside a time: "9am EST", "9 Uhr MEZ", "15:00 UTC+2", "London time"."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from abilities.moments.places import zone_named

_SHORT = {
    "est edt": "America/New_York",
    "cst cdt": "America/Chicago",
    "mst mdt": "America/Denver",
    "pst pdt": "America/Los_Angeles",
    "akst akdt": "America/Anchorage",
    "hst": "Pacific/Honolulu",
    "bst": "Europe/London",
    "cet cest mez mesz": "Europe/Berlin",
    "eet eest oez oesz": "Europe/Athens",
    "msk": "Europe/Moscow",
    "jst": "Asia/Tokyo",
    "kst": "Asia/Seoul",
    "hkt": "Asia/Hong_Kong",
    "sgt": "Asia/Singapore",
    "brt": "America/Sao_Paulo",
    "aest aedt": "Australia/Sydney",
    "acst acdt": "Australia/Adelaide",
    "awst": "Australia/Perth",
    "nzst nzdt": "Pacific/Auckland",
    "sast": "Africa/Johannesburg",
}
_BY_SHORT = {short: zone for shorts, zone in _SHORT.items() for short in shorts.split()}
_SHOWN = {"mez": "CET", "mesz": "CEST", "oez": "EET", "oesz": "EEST"}
"""The zones' own names for these."""
_SEVERAL = {"cst", "ist", "ast"}
"""Short names of several zones: they count if the person's own clock has that name."""
_REGIONS = {
    "eastern": "America/New_York",
    "central": "America/Chicago",
    "mountain": "America/Denver",
    "pacific": "America/Los_Angeles",
}
_REGION = re.compile(rf"(?:in )?(?:us )?({'|'.join(_REGIONS)}) time(?!\w)|([ecmp]t)(?!\w)")
_FIXED = re.compile(r"(?:utc|gmt) ?(?:([+\-\u2212])(\d{1,2})(?::?([0-5]\d))?)?(?![\w:])|z(?!\w)")
_IANA = re.compile(r"(?:in )?([a-z]+(?:/[a-z_\-]+){1,2})(?![\w/])")
_WORD = re.compile(r"[a-z]+(?!\w)")
_LONGEST = 60
"""How many letters the name of a place has at most, with the words around it."""
_PLACE = r"(?P<place>[^\W\d_][\w.'’\-]*?(?: [^\W\d_][\w'’\-]*?){0,2})"


@dataclass(frozen=True, slots=True)
class NamedZone:
    """A zone as a person named it; `short` is the name that its clock must have at the moment, if it was given."""

    zone: tzinfo | None
    short: str = ""

    def at(self, wall: datetime, own: tzinfo | None) -> datetime | None:
        """Return the moment of a wall time in the zone; None if its clock has another name then."""
        if self.short and own is not None and wall.replace(tzinfo=own).tzname() == self.short:
            return wall.replace(tzinfo=own)
        if self.zone is None:
            return None
        moment = wall.replace(tzinfo=self.zone)
        named = moment.tzname() or ""
        return moment if not self.short or not named.isalpha() or named == self.short else None


def place_patterns(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a language for the clock of a place, ready to match."""
    return tuple(re.compile(pattern.replace("<place>", _PLACE)) for pattern in patterns)


def zone_at(
    text: str, position: int, places: tuple[re.Pattern[str], ...], *, english: bool
) -> tuple[NamedZone, int] | None:
    """Return the zone named at a position of a text, and the end of its name."""
    if fixed := _FIXED.match(text, position):
        sign, hours, minutes = fixed.groups()
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        if offset >= timedelta(days=1):
            return None
        return NamedZone(timezone(-offset if sign != "+" else offset) if offset else UTC), fixed.end()
    if english and (region := _REGION.match(text, position)):
        name = region[1] or next(name for name in _REGIONS if name[0] == region[2][0])
        return NamedZone(ZoneInfo(_REGIONS[name])), region.end()
    if (iana := _IANA.match(text, position)) and (zone := zone_named(iana[1])):
        return NamedZone(ZoneInfo(zone)), iana.end()
    if (word := _WORD.match(text, position)) and (short := word[0]) in {*_BY_SHORT, *_SEVERAL}:
        only = None if short in _SEVERAL else ZoneInfo(_BY_SHORT[short])
        return NamedZone(only, _SHOWN.get(short, short.upper())), word.end()
    return _place_at(text, position, places)


def _ends(text: str, end: int) -> bool:
    """Return whether a word ends there: only Chinese words follow each other without a space."""
    return not (text[end - 1 : end + 1].isalnum() and text[end : end + 1].isascii() and end < len(text))


def _place_at(text: str, position: int, places: tuple[re.Pattern[str], ...]) -> tuple[NamedZone, int] | None:
    for pattern in places:
        # The longest name that there is: "in new york" before "in new".
        for end in range(min(len(text), position + _LONGEST), position, -1):
            match = pattern.fullmatch(text, position, end)
            if match and (zone := zone_named(match["place"])) and _ends(text, end):
                return NamedZone(ZoneInfo(zone)), end
    return None
