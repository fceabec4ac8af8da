"""The ways out of a worker: notification channels, and the service that notifies people over them."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.messaging.channels import NotificationChannel
from core.messaging.programs import CHANNEL
from core.notifications.types import NotificationPolicy
from core.queue.wakeups import Wakeups
from notify.service import NotificationService
from notify.store import NotificationStore
from onevalet.wiring.channels import build_notification_channels
from onevalet.wiring.connections import Connections
from onevalet.wiring.rooms import Rooms


@dataclass(frozen=True, slots=True)
class Brought:
    """A program's own additions to the modules that the settings name.

    `values` are collected like those of a plugin's module; `channels` are further notification channels.
    """

    values: Sequence[object] = ()
    channels: Sequence[NotificationChannel] = ()


NOTHING = Brought()


@dataclass(frozen=True, slots=True)
class Outbound:
    """The channels by name, and the service over them."""

    channels: Mapping[str, NotificationChannel]
    service: NotificationService
    rooms: Rooms
    """The parts that tools and abilities reach over the channels."""


@asynccontextmanager
async def open_outbound(connections: Connections, clock: Clock, brought: Brought = NOTHING) -> AsyncIterator[Outbound]:
    settings = connections.settings
    async with AsyncExitStack() as stack:
        channels = build_notification_channels(settings) | {channel.name: channel for channel in brought.channels}
        for channel in channels.values():
            stack.push_async_callback(channel.close)
        chats = channels.keys() - {CHANNEL}  # news is not read in a program
        service = build_service(connections.database, chats, connections.wakeups, clock, settings.manners)
        yield Outbound(channels, service, Rooms(channels=channels, notify=service.send, brought=tuple(brought.values)))


def build_service(
    database: Database, channels: Collection[str], wakeups: Wakeups, clock: Clock, policy: NotificationPolicy
) -> NotificationService:
    return NotificationService(NotificationStore(database, make_id), channels, wakeups, clock, make_id, policy)
