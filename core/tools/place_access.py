"""Where the person is, as far as a tool may know it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A place at which the person was at the moment `at`. Coordinates are in degrees (WGS 84).

    `accuracy`: the radius of uncertainty in metres, None if it is unknown. `live`: the person shares it at the moment.
    `zone`: the IANA name of the timezone there, empty if it is unknown. It has no words: a name that somebody gave the
    place is not the person's.
    """

    latitude: float
    longitude: float
    accuracy: float | None
    at: datetime
    live: bool = False
    zone: str = ""

    def age(self, now: datetime) -> timedelta:
        """Return the time since the person was there."""
        return max(now - self.at, timedelta())


class PlaceAccess(Protocol):
    """Where this person is, and nobody else, by the places that they sent or share in the last 24 hours."""

    async def latest(self) -> KnownPlace | None:
        """Return the newest place; None if there is none."""
        ...

    async def here(self) -> KnownPlace:
        """Return the newest place. Raises `ToolRetry`, which says how the person can send one."""
        ...
