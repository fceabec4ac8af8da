"""The notifications of a worker, built: the service that tells people things, and what keeps it going."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from core.bell import Bell
from core.clock import Clock
from core.database import Database
from core.events.store import EventStore
from core.ids import make_id
from core.notifications.store import NotificationStore
from core.notifications.types import Manners
from jobs.events import EventUpkeep
from jobs.notifications import NotificationRounds
from jobs.upkeep import together
from notify.service import NotificationService


@dataclass(frozen=True, slots=True)
class Notifications:
    """`service` tells people things; `upkeep` runs for ever: digests, fallback, and old events and news."""

    service: NotificationService
    upkeep: Callable[[], Awaitable[None]]


def build_notifications(
    database: Database, channels: Collection[str], bell: Bell, clock: Clock, manners: Manners
) -> Notifications:
    """Make them over the channels that are on."""
    store = NotificationStore(database, make_id)
    service = NotificationService(store, channels, bell, clock, make_id, manners)
    rounds = NotificationRounds(service, store, clock)
    return Notifications(service, together(rounds.run, EventUpkeep(EventStore(database, make_id), clock).run))
