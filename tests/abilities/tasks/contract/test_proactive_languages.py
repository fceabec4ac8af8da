"""The assistant writes first to a German person, over each channel: none of its own words are English."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from core.errors import ModelUnavailable
from core.json_types import JsonObject
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, repeats
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, says, wants
from tests.core.language.english import english_in

pytestmark = pytest.mark.slow

SATURDAY = datetime(2026, 11, 21, tzinfo=BERLIN)
NIGHT = SATURDAY.replace(hour=23)


@pytest.fixture
async def system(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield the system; it is Saturday, 21 November 2026, 13:00 in Berlin, and nights are quiet."""
    async with open_proactive(HARNESSES[channel], database_url, redis_url) as system:
        await system.delivery.store.db.tenants.change(
            {
                "language": "de-DE",
                "language_from": "",
                "timezone": "Europe/Berlin",
                "preferred_channel": channel,
                "quiet_from": "22:00",
                "quiet_until": "07:00",
            }
        )
        await system.hears("Hallo", says("Hallo."))
        yield system


async def test_a_reminder_rings_in_the_persons_language(system: Proactive) -> None:
    answer = await system.hears("15 Uhr: Mama", wants(("remind_me", {"text": "Mama", "at": "15:00"})), repeats)
    assert "Sa., 21. Nov. 2026, 15:00 Uhr" in answer
    rung = await system.is_at(SATURDAY.replace(hour=15))
    assert rung == "Erinnerung: Mama"
    assert english_in(f"{answer}\n{rung}", "de") == []


async def test_a_plan_is_confirmed_and_explained_in_the_persons_language(system: Proactive) -> None:
    plan: JsonObject = {"what": "Post", "cron": "0 8 * * 1-5"}
    card = await system.hears("Werktags um 8", wants(("ScheduleTask", plan)))
    assert "werktags (Mo-Fr) um 08:00 Uhr (Europe/Berlin), das nächste Mal am Mo., 23. Nov. 2026, 08:00 Uhr" in card
    await system.decides("Approve", repeats)
    [title] = await system.delivery.store.db.tasks.column("title")
    why = await system.hears("Warum?", wants(("why_task", {"which": str(title)})), repeats)
    assert "Sie kommt als Nächstes am Mo., 23. Nov. 2026, 08:00 Uhr." in why
    assert english_in(why, "de") == []


async def test_a_watch_that_fires_tells_its_values_in_the_persons_language(system: Proactive) -> None:
    await system.engine.create_task(
        tenant_id=system.tenant,
        trigger=ConditionTrigger("value < 300", url=f"{system.web.url}/flight", path="$.price", every_minutes=10),
        action={"instruction": "Sag es"},
    )
    assert await system.is_at(SATURDAY.replace(hour=13, minute=1)) == ""
    system.web.price = 280
    told = await system.is_at(SATURDAY.replace(hour=13, minute=20), says("Buche."))
    assert told == "Buche.\nVorher: 320. Jetzt: 280."


async def test_a_task_that_fails_is_told_in_the_persons_language(system: Proactive) -> None:
    await system.engine.create_task(
        tenant_id=system.tenant,
        trigger=ScheduleTrigger(at=SATURDAY.replace(hour=14)),
        action={"instruction": "Post"},
        title="Post",
    )
    system.clock.at = SATURDAY.replace(hour=14)
    seen = len(system.delivery.channel.bubbles())
    system.model = FakeModel([ModelUnavailable("away")] * 9)
    await system.work()
    [told] = [bubble.text for bubble in system.delivery.channel.bubbles()[seen:]]
    assert "hat nicht funktioniert. Ich kann mein Sprachmodell" in told
    assert english_in(told, "de") == []


async def test_a_digest_after_quiet_hours_is_in_the_persons_language(system: Proactive) -> None:
    for type in ("a", "b"):
        await system.engine.create_task(
            tenant_id=system.tenant,
            trigger=EventTrigger("home", type),
            action={"instruction": type},
            output={"at_night": True},  # else the night is made up for by one run
        )
    system.clock.at = NIGHT
    for type in ("a", "b"):
        assert await system.happens(f"{type}1", type, {}, says(marked(f"Neues {type}"))) == ""
    digest = await system.is_at(NIGHT + timedelta(hours=8))
    assert digest.startswith("2 Nachrichten haben auf dich gewartet:")
    assert "23:00: " in digest
    assert english_in(digest, "de") == []
