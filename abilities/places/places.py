"""The places of one person: where they were in the last 24 hours, and places to which they gave a name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from abilities.places.links import PlaceLinks
from abilities.places.types import CITY, FRESH, KEPT, How, SavedPlace, SeenPlace
from abilities.places.zones import zone_at
from core.clock import Clock
from core.db.database import Database
from core.errors import ToolRetry
from core.language.catalogue import gettext

MAX_SAVED = 50
_MOST = 100
"""Places of a day that are read."""
_ARTICLES = re.compile(r"^(?:the|my|der|die|das|mein|meine|el|la|mi|le|mon|ma|o|a|meu|minha)\s+(?=\S)")
_NOWHERE = (
    "Where the person is, is not known. Ask them for the name of the place, or tell them to write “where am I”, which"
    " says how they can send it."
)


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a person. Implements `core.tools.place_access.PlaceAccess`.

    `takes_places`: the channels on which people send places. `links`: None if no page can ask a phone.
    """

    database: Database
    clock: Clock
    tenant_id: str
    takes_places: frozenset[str] = frozenset()
    links: PlaceLinks | None = None

    async def latest(self) -> SeenPlace | None:
        """Return the newest place; None if there is none."""
        return next(iter(await self.seen(1)), None)

    async def here(self) -> SeenPlace:
        """Return the newest place. Raises `ToolRetry`, which says how the person can send one."""
        if (place := await self.latest()) is None:
            raise ToolRetry(gettext("I do not know where you are."), note=_NOWHERE)
        return place

    async def shared(self) -> SeenPlace | None:
        """Return the newest place that the person shares live at the moment; None if they share none that is fresh."""
        now = self.clock.now()
        return next((place for place in await self.seen() if place.live and place.age(now) <= FRESH), None)

    async def seen(self, most: int = _MOST) -> Sequence[SeenPlace]:
        """Return the places that are kept, the newest first."""
        now = self.clock.now()
        rows = await self.database.tenant_rows(
            self.tenant_id,
            "select * from seen_places where tenant_id = $1 and latitude is not null and at > $2"
            " order by at desc, id limit $3",
            now - KEPT,
            most,
        )
        return [_place_of(row, live=bool(row["live_until"] and row["live_until"] > now)) for row in rows]

    async def say(self, latitude: float, longitude: float, name: str, key: str) -> None:
        """Store the city in which the person says they are; a repeat under the same key changes nothing."""
        await self.database.repeat(
            self.tenant_id,
            "insert into seen_places (tenant_id, id, how, latitude, longitude, accuracy, name, at)"
            " values ($1, 'said/' || $2, 'said', $3, $4, $5, $6, $7) on conflict do nothing returning id",
            key,
            latitude,
            longitude,
            CITY,
            name,
            self.clock.now(),
        )

    async def forget(self) -> tuple[int, int]:
        """Delete where the person was; return the number of places, and of those that they still share live."""
        rows = await self.database.repeat(self.tenant_id, "select * from forget_places($1,$2)", self.clock.now())
        return rows[0]["gone"], rows[0]["shared"]

    async def saved(self) -> Sequence[SavedPlace]:
        """Return the places with names, by name."""
        rows = await self.database.tenant_rows(
            self.tenant_id,
            "select name, latitude, longitude, radius from saved_places where tenant_id = $1 order by key",
        )
        return [SavedPlace(**row) for row in rows]

    async def find_saved(self, name: str) -> SavedPlace | None:
        """Return a place by its name, whatever its case and an article before it."""
        wanted = key_of(name)
        return next((place for place in await self.saved() if key_of(place.name) == wanted), None)

    async def save(self, place: SavedPlace) -> bool:
        """Store a place under its name, replacing an earlier one; return False if there are too many."""
        rows = await self.database.repeat(
            self.tenant_id,
            "insert into saved_places (tenant_id, key, name, latitude, longitude, radius, made_at)"
            " select $1, $2, $3, $4, $5, $6, $7"
            " where (select count(*) from saved_places where tenant_id = $1 and key <> $2) < $8"
            " on conflict (tenant_id, key) do update set name = $3, latitude = $4, longitude = $5, radius = $6"
            " returning key",
            key_of(place.name),
            place.name,
            place.latitude,
            place.longitude,
            place.radius,
            self.clock.now(),
            MAX_SAVED,
        )
        return bool(rows)

    async def remove(self, name: str) -> None:
        """Delete a place with a name, if there is one."""
        await self.database.repeat(
            self.tenant_id, "delete from saved_places where tenant_id = $1 and key = $2 returning key", key_of(name)
        )


def key_of(name: str) -> str:
    """Return the form of a name by which it is found again."""
    return _ARTICLES.sub("", " ".join(name.casefold().split()), count=1)


def _place_of(row: asyncpg.Record, *, live: bool) -> SeenPlace:
    return SeenPlace(
        row["latitude"],
        row["longitude"],
        row["accuracy"],
        row["at"],
        live,
        zone_at(row["latitude"], row["longitude"]),
        How(row["how"]),
        row["name"],
        row["address"],
        row["live_until"],
    )
