"""The design's own example, as in `dev`: flights, the weather there, and an email once it is approved."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from abilities.mail.tools import SendEmailAgent
from abilities.weather.tools import get_weather
from agents.travel import FlightSearchAgent
from core.agents.registry import AgentRegistry
from core.http.guarded_client import GuardedClient
from core.json_types import JsonObject
from core.tools.storage import Storage
from providers.models.litellm_client import LiteLLMClient
from tests.agents.services import PLACES, mail_server, open_meteo
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, says, wants
from tests.core.credentials.harness import new_key, store_with
from workbench.demo.model import DEMO_MODEL

ERRAND = "Search flights from Berlin to Rome next Friday, check the weather there and email the results to {to}"

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
]


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system with the demo model; on its day it is Saturday, 21 November 2026."""
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.model = client
        yield system
    await client.close()


async def test_flights_weather_and_an_email_that_is_approved_go_all_the_way(
    system: Approving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(PLACES, "rome", ("Rome", "Lazio", "Italy", "Europe/Rome"))
    keeper = store_with(system.delivery.store.database, new_key())
    async with open_meteo() as sky, mail_server("none", tmp_path) as mails:
        http = GuardedClient(allowed_hosts=[urlsplit(sky.url).netloc, f"localhost:{mails.credentials['port']}"])
        system.more = [get_weather]
        system.options = {
            "agents": AgentRegistry([FlightSearchAgent, SendEmailAgent]),
            "credentials": keeper,
            "accounts": Accounts(keeper, Services()),
            "storage": Storage(system.delivery.store.database),
            "http": http,
            "settings": {"weather_url": sky.url},
        }
        await system.delivery.meet()
        tenant = await system.delivery.store.db.person()
        open_account = mails.credentials | {"user": "", "password": ""}
        await keeper.save(tenant, "email", open_account)
        await system.say(ERRAND.format(to="sam@example.com"))
        card = system.card()
        for part in ("Sample data, not real flights", "Rome", "sam@example.com"):
            assert part in card.text, part
        assert mails.taken == []
        await system.decide("Approve")
        await http.close()
    [mail] = mails.taken
    assert mail["To"] == "sam@example.com"
    body = mail.get_content()
    assert "Sample data, not real flights" in body
    assert "Rome" in body
    assert "sam@example.com" in system.last()
    assert await system.states() == ["approved"]


async def test_the_account_is_asked_before_the_card(system: Approving, tmp_path: Path) -> None:
    keeper = store_with(system.delivery.store.database, new_key())
    async with mail_server("none", tmp_path) as mails:
        system.options = {
            "agents": AgentRegistry([SendEmailAgent]),
            "credentials": keeper,
            "accounts": Accounts(keeper, Services()),
            "storage": Storage(system.delivery.store.database),
            "http": GuardedClient(allowed_hosts=[f"localhost:{mails.credentials['port']}"]),
        }
        await system.delivery.meet()
        tenant = await system.delivery.store.db.person()
        for name in ("home", "work"):
            await keeper.save(tenant, "email", mails.credentials | {"user": "", "password": ""}, name)
        mail: JsonObject = {"recipient": ["sam@example.com"], "subject": "Lunch", "body": "Friday?"}
        system.model = FakeModel([wants(("SendEmailAgent", mail)), says("It is sent.")])
        await system.say("mail sam about lunch")
        assert system.last() == "From which account: home or work?"
        assert await system.states() == []
        await system.say("work")
        assert "Account: work" in system.card().text.replace("`", "")
        await system.decide("Approve")
    assert [mail["To"] for mail in mails.taken] == ["sam@example.com"]
