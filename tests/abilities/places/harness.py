"""A person with places: the services and tools of the ability, and its page on a port of this machine."""

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
from pydantic import SecretStr

from abilities.places import tools
from abilities.places.offering import offer_zones
from abilities.places.opening import open_services
from abilities.places.page import open_routes
from channels.http.app import build_app, serve
from core.credentials.secret_keys import read_secret_key
from core.messaging.channels import NotificationChannel
from core.tools.tool import Tool
from core.turns.services import ForTurn
from notify.service import NotificationService
from notify.store import NotificationStore
from onevalet.foundations import OpeningFoundation, WebFoundation
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.contract.channel_harnesses import HARNESSES
from tests.core.credentials.harness import store_with
from tests.core.harness import Store
from tests.ports import free_port

KEY = base64.b64encode(bytes(32)).decode()
OFFICE = {"latitude": "52.520008", "longitude": "13.404954", "accuracy": "12"}
NEAR_THE_OFFICE = {"latitude": "52.520408", "longitude": "13.404954", "accuracy": "12"}
HOME = {"latitude": "52.486243", "longitude": "13.424637", "accuracy": "12"}
FORM = {"latitude": "52.520008", "longitude": "13.404954", "accuracy": "35.5"}
TOOLS = [item for item in vars(tools).values() if isinstance(item, Tool)]


def services_of(
    store: Store, clock: Any, channels: Mapping[str, NotificationChannel], public_url: str = ""
) -> Mapping[type, ForTurn]:
    """Return the ability's services, opened as a worker opens them."""
    settings = SimpleNamespace(onevalet_secret_keys=(SecretStr(KEY),), public_url=public_url)
    foundation = SimpleNamespace(settings=settings, database=store.database, clock=clock, channels=channels)
    return open_services(cast(OpeningFoundation, foundation))


@dataclass(slots=True)
class Told:
    """A system whose person tells where they are, and a browser."""

    system: Proactive
    url: str
    browser: aiohttp.ClientSession

    @property
    def store(self) -> Store:
        return self.system.delivery.store

    async def acts(self, action: str, person: str = "ada", **wishes: Any) -> None:
        """Let somebody do something with a place."""
        await self.system.delivery.channel.act(action, person, **wishes)
        await self.system.delivery.channel.settled()

    async def offers(self) -> list[str]:
        """Let a worker look at new places; return what the person then reads."""
        channel, store = self.system.delivery.channel, self.store
        seen = len(channel.bubbles())
        notes = NotificationStore(store.database, store.make_id)
        service = NotificationService(notes, [channel.name], store.wakeups, self.system.clock, store.make_id)
        await offer_zones(store.database, self.system.clock, service)
        await self.system.delivery.deliver()
        return [bubble.text for bubble in channel.bubbles()[seen:]]

    async def sends(self, url: str, form: Mapping[str, str], **headers: str) -> tuple[int, str]:
        """Send the page's form as a browser does; return the status and the page that follows."""
        async with self.browser.post(url, data=form, headers=headers) as answer:
            return answer.status, await answer.text()

    async def looks(self, url: str) -> tuple[int, str]:
        """Open a page."""
        async with self.browser.get(url) as answer:
            return answer.status, await answer.text()


@asynccontextmanager
async def open_told(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Told]:
    """Open it all; the person has written before, and the page is served."""
    async with (
        open_proactive(HARNESSES[channel], database_url, redis_url) as system,
        aiohttp.ClientSession() as browser,
    ):
        port = free_port()
        url, store = f"http://127.0.0.1:{port}", system.delivery.store
        harness = system.delivery.channel
        system.options["services"] = services_of(store, system.clock, {harness.name: harness.sender}, url)
        system.more += TOOLS
        web = SimpleNamespace(
            settings=SimpleNamespace(public_url=url),
            database=store.database,
            credentials=store_with(store.database, read_secret_key(KEY)),
            clock=system.clock,
            wakeups=store.wakeups,
        )
        routes = open_routes(cast(WebFoundation, web))
        async with serve(build_app([], ready=store.database.ready, extra_routes=routes), "127.0.0.1", port):
            system.clock.at = datetime.now(UTC)  # phones tell the machine's time
            await system.work()
            yield Told(system, url, browser)
