"""The notifications of a worker, built: the service that tells people things, and what keeps it going."""

from collections.abc import Collection
from dataclasses import dataclass

from core.clock import Clock
from core.db.database import Database
from core.events.store import EventStore
from core.ids import make_id
from core.notifications.store import NotificationStore
from core.notifications.types import NotificationPolicy
from core.queue.wakeups import Wakeups
from jobs.events import EventUpkeep
from jobs.notifications import NotificationRounds
from jobs.supervision import Part
from notify.service import NotificationService


@dataclass(frozen=True, slots=True)
class Notifications:
    """`service` tells people things; `parts` run for ever: digests, fallback, and old events and news."""

    service: NotificationService
    parts: tuple[Part, ...]


def build_notifications(
    database: Database, channels: Collection[str], wakeups: Wakeups, clock: Clock, manners: NotificationPolicy
) -> Notifications:
    """Make them over the channels that are on."""
    store = NotificationStore(database, make_id)
    service = NotificationService(store, channels, wakeups, clock, make_id, manners)
    rounds = NotificationRounds(service, store, clock)
    old = Part("old events", EventUpkeep(EventStore(database, make_id), clock).run)
    return Notifications(service, (*rounds.parts(), old))
