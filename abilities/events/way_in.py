"""The way in of events, which `web` serves."""

from collections.abc import Sequence
from contextlib import AsyncExitStack

from aiohttp.web import RouteDef

from abilities.events.bus import EventBus
from abilities.events.receive import EventRoutes
from abilities.events.sources import EventSources
from core.ids import make_id
from onevalet.foundations import WebFoundation


def open_routes(stack: AsyncExitStack, foundation: WebFoundation) -> Sequence[RouteDef]:
    """Return the routes; `stack` closes the bus behind them."""
    bus = EventBus(foundation.redis_url, foundation.database, wakeups=foundation.wakeups)
    stack.push_async_callback(bus.close)
    sources = EventSources(foundation.database, foundation.credentials, make_id)
    return EventRoutes(sources, bus).routes()
