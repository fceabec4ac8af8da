"""The demo model by SMS: what is said right after something was set or told, and what it asks for."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from abilities.briefing.tools import BriefingExecutor, SetBriefing, brief_me, take_back_briefing
from abilities.tasks.reminders import RemindMe, change_reminder
from abilities.tasks.scheduling import ScheduleTask
from core.agents.registry import AgentRegistry
from core.http.guarded_client import GuardedClient
from providers.models.litellm_client import LiteLLMClient
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.agents.services import open_meteo
from tests.contract.channel_harnesses import SmsHarness
from tests.core.credentials.harness import new_key, store_with
from workbench.demo.model import DEMO_MODEL


@pytest.fixture
async def system(database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield a person in Berlin, on Saturday, 21 November 2026, 13:00, answered by the demo model."""
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with open_proactive(SmsHarness, database_url, redis_url) as system, open_meteo() as meteo:
        credentials = store_with(system.delivery.store.database, new_key())
        system.engine.add_executors([BriefingExecutor()])
        system.model = client
        system.more += [brief_me, take_back_briefing, change_reminder]
        system.options |= {
            "agents": AgentRegistry([SetBriefing, RemindMe, ScheduleTask]),
            "credentials": credentials,
            "accounts": Accounts(credentials, Services()),
            "http": GuardedClient(allowed_hosts=[meteo.url.removeprefix("http://")]),
            "settings": {"weather_url": meteo.url},
        }
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin", "language": "en"})
        yield system
        await system.options["http"].close()
    await client.close()


async def test_a_reminder_that_was_just_set_is_moved_by_make_it(system: Proactive) -> None:
    await system.told("remind me tomorrow at 3pm to call mum")
    [told] = await system.told("make it 4pm")
    assert told.startswith("Changed: I will remind you on Sun 22 Nov 2026, 16:00 (Europe/Berlin): call mum.")
    [told] = await system.told("make it 5:30pm")
    assert "Sun 22 Nov 2026, 17:30 (Europe/Berlin): call mum." in told, "and once more"


async def test_a_reminder_without_words_asks_for_them_and_takes_the_answer(system: Proactive) -> None:
    [asked] = await system.told("remind me at 3pm")
    assert asked.startswith("What shall I remind you of?")
    [told] = await system.told("lock up")
    assert told.startswith("I will remind you on Sat 21 Nov 2026, 15:00 (Europe/Berlin): lock up.")


async def test_a_reminder_may_come_on_the_last_friday_of_each_month(system: Proactive) -> None:
    [told] = await system.told("remind me to pay the rent on the last Friday of each month")
    assert "on the last Friday of the month" in told
    assert await system.delivery.store.db.tasks.column("state") == ["ACTIVE"]


async def test_a_briefing_that_was_just_set_or_sent_is_changed_in_short_words(system: Proactive) -> None:
    await system.told("every morning at 7 send me a briefing")
    [told] = await system.told("without the weather")
    assert "What is in your briefing from now on: " in told
    assert "weather" not in told
    [told] = await system.told("make it 7:30")
    assert "Your briefing comes every day at 07:30 (Europe/Berlin)." in told

    seen = len(system.delivery.channel.bubbles())
    system.clock.at += timedelta(hours=19)
    await system.work()
    [sent] = [bubble.text for bubble in system.delivery.channel.bubbles()[seen:]]
    assert "Your briefing for Sun 22 Nov 2026" in sent
    [told] = await system.told("with everything again")
    assert "the weather in Berlin" in told
    [told] = await system.told("make it 9")
    assert "Your briefing comes every day at 09:00 (Europe/Berlin)." in told


async def test_such_words_after_something_else_change_nothing(system: Proactive) -> None:
    await system.told("remind me tomorrow at 3pm to call mum")
    await system.told("hello")
    for words in ("make it 4pm", "without the weather"):
        [told] = await system.told(words)
        assert told.startswith(f'I do not understand "{words}".')
    assert await system.delivery.store.one("select count(*) from tasks where deleted_at is null") == 1
