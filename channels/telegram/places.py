"""The place in a Bot API Message: sent, shared live, or of a venue; pure.

Source: core.telegram.org/bots/api#location, #venue. While a place is shared, the message is edited as its person moves;
the last edit has no `live_period`.
"""

from datetime import UTC, datetime, timedelta

from channels.fields import text_at
from channels.telegram.fields import integer_at
from core.json_types import JsonObject, object_of
from core.messaging.places import SentPlace, read_place
from core.messaging.pointed import Pointed, Whose


def place_of(message: JsonObject) -> SentPlace | None:
    """Return the place in a message; None if it has none. Raises `RequestRefused` for one that is nowhere."""
    venue = object_of(message.get("venue"))
    location = venue.get("location") if venue else message.get("location")
    if not isinstance(location, dict):
        return None
    place = read_place(location.get("latitude"), location.get("longitude"), location.get("horizontal_accuracy"))
    return SentPlace(
        place.latitude,
        place.longitude,
        place.accuracy,
        _live_until(message, location),
        text_at(venue, "title"),
        text_at(venue, "address"),
    )


def names_of(place: SentPlace) -> tuple[Pointed, ...]:
    """Return the name and address of a place as others' words: the person did not choose them."""
    words = "\n".join(filter(None, (place.name, place.address)))
    return (Pointed(words, Whose.OTHERS),) if words else ()


def _live_until(message: JsonObject, location: JsonObject) -> datetime | None:
    """Return the end of a shared place: its period counts from when the message was sent."""
    if "live_period" not in location or "date" not in message:  # nothing moves what is only pointed at
        return None
    sent, period = integer_at(message, "date", at_least=0), integer_at(location, "live_period", at_least=1)
    try:
        return datetime.fromtimestamp(sent, tz=UTC) + timedelta(seconds=period)
    except (OverflowError, ValueError, OSError):  # later than any calendar
        return datetime.max.replace(tzinfo=UTC)
