"""A place that a person sent: coordinates, name and accuracy. Pure."""

from dataclasses import dataclass
from datetime import datetime

from core.errors import RequestRefused
from core.json_types import Json, JsonObject

PIN = "📍"
"""The text of a message that is a place. Its coordinates are never words, which would be kept like any others."""
_MAX_ACCURACY = 100_000.0


@dataclass(frozen=True, slots=True)
class SentPlace:
    """Coordinates in degrees (WGS 84). `accuracy`: the radius of uncertainty in metres, None if it is unknown.

    `live_until`: until when its message is updated as the person moves; None: it stays as it is. `name` and `address`
    are the words of whoever named the place.
    """

    latitude: float
    longitude: float
    accuracy: float | None = None
    live_until: datetime | None = None
    name: str = ""
    address: str = ""

    def to_json(self) -> JsonObject:
        """Return the form that the inbox's SQL functions take."""
        return {
            "latitude": self.latitude,
            "longitude": self.longitude,
            "accuracy": self.accuracy,
            "live_until": self.live_until.isoformat() if self.live_until else None,
            "name": self.name,
            "address": self.address,
        }


def read_place(latitude: Json, longitude: Json, accuracy: Json = None) -> SentPlace:
    """Return the place at coordinates from outside. Raises `RequestRefused` unless they are numbers of degrees."""
    return SentPlace(
        _number("latitude", latitude, -90, 90, "degrees"),
        _number("longitude", longitude, -180, 180, "degrees"),
        None if accuracy is None else _number("accuracy", accuracy, 0, _MAX_ACCURACY, "metres"),
    )


def _number(name: str, value: Json, low: float, high: float, unit: str) -> float:
    # Not a number is within no bounds.
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise RequestRefused(f"{name} is no number of {unit}")
    return float(value)
