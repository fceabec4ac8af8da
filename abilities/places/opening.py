"""The parts of places in a worker and in `web`: the services of turns, the page, the upkeep."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

from abilities.places.links import PlaceLinks
from abilities.places.offering import EVERY, offer_zones, prune
from abilities.places.places import Places
from core.credentials.secret_keys import SecretKeys, read_secret_key
from core.messaging.capabilities import Locating
from core.tools.place_access import PlaceAccess
from core.turns.services import ForTurn
from onevalet.ability import Repeated
from onevalet.foundations import OpeningFoundation, WorkFoundation


def open_services(foundation: OpeningFoundation) -> Mapping[type, ForTurn]:
    """Return the services for tools and chat words."""
    settings = foundation.settings
    texts = [key.get_secret_value() for key in settings.onevalet_secret_keys]
    links = None
    if texts and settings.public_url:
        links = PlaceLinks(foundation.database, settings.public_url, SecretKeys(map(read_secret_key, texts)))
    takes = frozenset(
        name for name, channel in foundation.channels.items() if isinstance(channel, Locating) and channel.takes_places
    )

    def of_person(tenant_id: str, _: str) -> Places:
        return Places(foundation.database, foundation.clock, tenant_id, takes, links)

    return {Places: of_person, PlaceAccess: of_person}


def open_work(foundation: WorkFoundation) -> Sequence[Repeated]:
    """Return the upkeep of a worker: timezones are offered, old places deleted."""
    database, clock = foundation.database, foundation.clock
    return [
        Repeated("time zones by place", EVERY, partial(offer_zones, database, clock, foundation.notifier), "places"),
        Repeated("old places", timedelta(minutes=10), partial(prune, database, clock), for_all=True),
    ]
