"""“Tell me when the price is under 300” over a page in HTML, on each channel: from the wish to the message, once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest

from abilities.tasks.kinds.condition import ERRORS_TOLD
from core.http.guarded_client import GuardedClient
from core.json_types import JsonObject
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import repeats
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES, SmsHarness
from tests.contract.harness import ChannelHarness
from tests.core.builders import Step, wants
from tests.servers.site import Site, open_site

pytestmark = pytest.mark.slow

BIKE = marked("The bike is under 300.")
QUARTER = timedelta(minutes=15)


def bike(price: str) -> str:
    """Return the page of a shop with one price."""
    return f"<title>A bike</title><article><h1>A bike</h1><p>It rides well, and costs {price} today.</p></article>"


@dataclass(slots=True)
class Shop:
    """A person's system, and a shop outside."""

    system: Proactive
    site: Site

    @property
    def url(self) -> str:
        """Return the address of the bike."""
        return f"{self.site.url}/bike"

    async def watches(self, *then: Step) -> str:
        """Let the person ask for the watch, and the model plan it; return what they then read."""
        given: JsonObject = {"what": BIKE, "expression": "value < 300", "url": self.url, "path": "$.price"}
        call = wants(("ScheduleTask", given | {"remind_only": True}))
        return await self.system.hears(f"Tell me when {self.url} is under 300", call, *then)

    async def tasks(self) -> object:
        """Return how many tasks are kept."""
        return await self.system.delivery.store.db.tasks.count()

    async def later(self, by: timedelta = QUARTER) -> str:
        """Let time pass; return what the person then reads."""
        return await self.system.is_at(self.system.clock.at + by)


@asynccontextmanager
async def open_shop(kind: type[ChannelHarness], database_url: str, redis_url: str) -> AsyncIterator[Shop]:
    """Open both, for a person in Berlin."""
    async with open_proactive(kind, database_url, redis_url) as system, open_site() as site:
        http = GuardedClient(allowed_hosts=[site.host])
        system.options["http"] = http
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        yield Shop(system, site)
        await http.close()


@pytest.fixture
async def shop(database_url: str, redis_url: str) -> AsyncIterator[Shop]:
    """Yield a shop for a person who texts."""
    async with open_shop(SmsHarness, database_url, redis_url) as opened:
        yield opened


async def test_a_price_on_a_page_is_told_once_when_it_falls(channel: str, database_url: str, redis_url: str) -> None:
    async with open_shop(HARNESSES[channel], database_url, redis_url) as shop:
        await told_once(shop)


async def told_once(shop: Shop) -> None:
    """Ask for the watch, agree to it, and be told once when the price falls under what was named."""
    shop.site.pages["/bike"] = bike("320,00 €")
    card = await shop.watches()
    assert "when it becomes true that value is under 300" in card
    assert "Now: 320 EUR" in card.replace("`", ""), "before it is agreed to"
    assert await shop.tasks() == 0
    assert "Now: 320 EUR" in await shop.system.decides("Approve", repeats)
    assert await shop.tasks() == 1
    assert await shop.later() == ""
    shop.site.pages["/bike"] = bike("299,00 €")
    told = await shop.later()
    assert BIKE in told
    assert "Before: 320. Now: 299." in told
    shop.site.pages["/bike"] = bike("280,00 €")
    assert [await shop.later(), await shop.later()] == ["", ""]


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("<p>One bike is 20 €, another is 25 €.</p>", "The page names several prices, and none as its own: 20 EUR"),
        ("<p>Sold out: ask us again in spring.</p>", "The page names no price."),
        ('<script src="app.js"></script><div id="root"></div>', "nothing without JavaScript or a login"),
    ],
    ids=["several", "none", "script"],
)
async def test_a_page_without_a_price_is_refused_at_once_with_what_was_found(
    shop: Shop, page: str, sentence: str
) -> None:
    shop.site.pages["/bike"] = page
    read = await shop.watches(repeats)
    assert sentence in read
    assert await shop.tasks() == 0
    assert await shop.system.states() == [], "no card was shown"


async def test_a_page_that_loses_its_price_is_told_once_and_watched_on(shop: Shop) -> None:
    shop.site.pages["/bike"] = bike("320 €")
    await shop.watches()
    await shop.system.decides("Approve", repeats)
    shop.site.pages["/bike"] = "<h1>A bike</h1><p>Ask us what it costs.</p>"
    read = [await shop.later(timedelta(hours=25)) for _ in range(ERRORS_TOLD + 1)]
    told = [text for text in read if text]
    assert len(told) == 1
    assert "for a while: The page names no price. I keep trying, less often." in told[0]
    assert BIKE in told[0]
    shop.site.pages["/bike"] = bike("250 €")
    assert "Now: 250." in await shop.later(timedelta(hours=25))
