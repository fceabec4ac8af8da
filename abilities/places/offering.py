"""Offer a person the timezone in which they are, if it is not theirs: it is never set unless they say so."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import structlog

from abilities.places.types import KEPT
from abilities.places.zones import differ, zone_at
from core.clock import Clock
from core.db.database import Database
from core.language.catalogue import gettext, speaking
from core.notifications.types import Notification, Notifier
from core.people.chat_words import PREFS
from core.queue.rounds import take_each

EVERY = timedelta(minutes=5)
"""How often new places are looked at, even without any news of them."""
CATEGORY = "timezone"
_AT_ONCE = 50

_log = structlog.get_logger()


async def offer_zones(database: Database, clock: Clock, notifier: Notifier) -> None:
    """Look at the places that are new. Any number of workers may: an offer is a single message in a month."""
    now = await clock.sound_now()
    if now is None:
        return
    new = await database.rows("select * from claim_new_places($1)", _AT_ONCE)
    await take_each(
        new, lambda place: _look(database, notifier, place["tenant_id"], place["id"], now), "place_not_looked_at"
    )


async def prune(database: Database, clock: Clock) -> None:
    """Delete the places that were kept long enough."""
    now = await clock.sound_now()
    while now is not None:
        row = await database.one("select prune_places($1,$2) as gone", now - KEPT, _AT_ONCE)
        if row["gone"] < _AT_ONCE:
            break


async def _look(database: Database, notifier: Notifier, tenant_id: str, place_id: str, now: datetime) -> None:
    row = await database.tenant_row(
        tenant_id,
        "select s.latitude, s.longitude, s.at, t.timezone, t.language from seen_places s"
        " join tenants t on t.tenant_id = s.tenant_id where s.tenant_id = $1 and s.id = $2 and s.latitude is not null",
        place_id,
    )
    if row is not None and now - row["at"] < KEPT:
        zone, own = zone_at(row["latitude"], row["longitude"]), row["timezone"]
        if zone and (not own or differ(zone, own, now)):
            await notifier.notify(tenant_id, _offer(zone, own, row["language"], now))
            _log.info("timezone_offered")
    # Only now: whoever dies before has it looked at again, and the offer is still one message.
    await database.tenant_rows(
        tenant_id,
        "update seen_places set looked_at = clock_timestamp(), attempts = 0 where tenant_id = $1 and id = $2",
        place_id,
    )


def _offer(zone: str, own: str, language: str | None, now: datetime) -> Notification:
    with speaking(language):
        there = f"{now.astimezone(ZoneInfo(zone)):%H:%M}"
        told = {"zone": zone, "time": there, "own": own, "words": f"{PREFS.name} timezone {zone}"}
        text = (
            gettext(
                "The place that you sent is in the time zone {zone} ({time} now), and your times here are those of "
                "{own}. To change that, write “{words}”; otherwise nothing changes.",
                **told,
            )
            if own
            else gettext(
                "The place that you sent is in the time zone {zone} ({time} now). To have your times here in it, write "
                "“{words}”; otherwise nothing changes.",
                **told,
            )
        )
    return Notification(text, CATEGORY, dedupe_key=f"zone {zone} for {own} in {now:%Y-%m}")
