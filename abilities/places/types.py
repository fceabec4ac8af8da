"""The values of places, and distances on the globe; pure."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from core.json_types import JsonObject
from core.tools.place_access import KnownPlace

KEPT = timedelta(hours=24)
"""How long the places at which a person was are kept."""
FRESH = timedelta(minutes=30)
"""How old a place may be to say where the person is now."""
RADIUS = 150.0
"""Metres around a saved place that count as that place."""
CITY = 10_000.0
"""The radius of a city, in metres."""
_EARTH = 6_371_000.0


class How(StrEnum):
    """The way in which a place came."""

    SENT = "sent"
    NAMED = "named"
    """A place with a name, such as a café; it need not be where the person is."""
    LIVE = "live"
    LINK = "link"
    SAID = "said"
    """A city that the person named."""


@dataclass(frozen=True, slots=True)
class SeenPlace(KnownPlace):
    """A place at which a person was. `name` and `address` are words of others."""

    how: How = How.SENT
    name: str = ""
    address: str = ""
    live_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SavedPlace:
    """A place to which a person gave a name. `radius`: the metres around it that count as it."""

    name: str
    latitude: float
    longitude: float
    radius: float = RADIUS

    def metres_to(self, other: KnownPlace) -> float:
        return metres_between(self.latitude, self.longitude, other.latitude, other.longitude)

    def is_at(self, other: KnownPlace) -> bool | None:
        """Return whether a person there is at this place; None if their position is too rough to tell."""
        distance, rough = self.metres_to(other), other.accuracy or 0.0
        if rough <= self.radius:
            return distance <= self.radius
        return False if distance > self.radius + rough else None

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "latitude": self.latitude,
            "longitude": self.longitude,
            "radius": self.radius,
        }

    @classmethod
    def from_json(cls, stored: JsonObject) -> Self:
        numbers = (float(str(stored[name])) for name in ("latitude", "longitude", "radius"))
        return cls(str(stored["name"]), *numbers)


def metres_between(latitude: float, longitude: float, to_latitude: float, to_longitude: float) -> float:
    """Return the distance of two places on the globe (the haversine formula)."""
    one, two = math.radians(latitude), math.radians(to_latitude)
    across = math.radians(to_longitude - longitude)
    half = math.sin((two - one) / 2) ** 2 + math.cos(one) * math.cos(two) * math.sin(across / 2) ** 2
    return 2 * _EARTH * math.asin(min(1.0, math.sqrt(half)))
