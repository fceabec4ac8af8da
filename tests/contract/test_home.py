"""Slack's App Home: what waits and what comes next, in the person's own time, on every opening as it is then."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, cast

import pytest

from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.schedule import ScheduleTrigger
from channels.slack.home import NOT_READ
from core.json_types import JsonObject
from tests.clocks import NOON, StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import SlackHarness
from tests.core.builders import says, wants
from tests.eventually import eventually


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    async with open_approving(SlackHarness, database_url, StandingClock()) as opened:
        yield opened


async def home(system: Approving, person: str = "ada") -> list[str]:
    """Let a person open the tab; return what it shows, a line for each text."""
    harness = system.delivery.channel
    drawn = len(harness.calls("slack.views.publish"))
    await harness.act("open_home", person)
    await eventually(lambda: len(harness.calls("slack.views.publish")) > drawn)
    await eventually(lambda: _page(system, person) is not None)
    return [line for block in _page(system, person)["blocks"] for line in _words(block)]


def _page(system: Approving, person: str) -> Any:
    return cast(Any, system.delivery.channel.simulator.providers["slack"].state())["people"][person]["home"]


def _words(block: dict[str, Any]) -> list[str]:
    texts = [block["text"]] if "text" in block else block.get("elements", [])
    return [text["text"] for text in texts]


async def _asked(system: Approving, subject: str) -> str:
    """Let Ada ask for what needs her approval; return its code."""
    mail: JsonObject = {"to": "sam@example.com", "subject": subject, "body": ""}
    system.model.script = [wants(("send_mail", mail)), says("Done.")]
    await system.say(marked("mail sam"))
    return await system.code()


async def _plan(system: Approving, title: str, trigger: ScheduleTrigger) -> None:
    store = system.delivery.store
    engine = TriggerEngine(store.database, store.make_id, system.clock, store.wakeups)
    (tenant,) = await store.db.tenants.column("tenant_id")
    await engine.create_task(tenant_id=str(tenant), trigger=trigger, title=title, action={"instruction": title})


async def test_home_shows_what_waits_with_its_code_and_age(system: Approving) -> None:
    code = await _asked(system, "Lunch *now* <!channel>")
    system.clock.move(minutes=5)
    shown = await home(system)
    (line,) = [line for line in shown if line.startswith(f"{code}: ")]
    assert "Lunch *now* &lt;!channel&gt;" in line
    assert line.endswith("(asked 5 minutes ago, open until 12:30)")
    assert any(f"OK {code} or NO {code}" in line for line in shown)
    await system.decide("Cancel")
    assert "Nothing." in await home(system)


async def test_home_shows_what_is_next_in_the_persons_time(system: Approving) -> None:
    await system.say(marked("hello"))
    await system.delivery.store.db.tenants.change({"timezone": "America/New_York"})
    await _plan(system, "Water the ferns", ScheduleTrigger(cron="0 9 * * *"))
    await _plan(system, "Take the bins out", ScheduleTrigger(at=NOON.replace(hour=8, minute=30, tzinfo=None)))
    shown = await home(system)
    start = shown.index("Next")
    assert shown[start + 1 : start + 4] == [
        "08:30: Take the bins out (task 2)",
        "09:00: Water the ferns (task 1)",
        "Times are those of America/New_York.",
    ]
    system.clock.move(timedelta(hours=3))
    await system.delivery.store.admin.execute(
        "update tasks set due_at = due_at + interval '1 day' where number = 1; delete from tasks where number = 2"
    )
    assert "Sun 22 Nov 2026, 09:00: Water the ferns (task 1)" in await home(system)


async def test_home_counts_what_it_has_no_room_for(system: Approving) -> None:
    await system.say(marked("hello"))
    for number in range(12):
        await _plan(system, "x" * 80, ScheduleTrigger(at=NOON.replace(tzinfo=None) + timedelta(days=400 + number)))
    shown = await home(system)
    assert len([line for line in shown if "(task " in line]) == 10
    assert "And 2 more." in shown
    assert any(" 2027, " in line for line in shown)


async def test_home_tells_a_stranger_nothing_but_how_to_begin(system: Approving) -> None:
    await _asked(system, "Lunch")
    shown = await home(system, "grace")
    assert shown[0] == "How to use me"
    assert "/valet help" in shown[1]
    assert len(shown) == 2


async def test_home_says_so_when_it_cannot_look_up_what_waits(system: Approving) -> None:
    await _asked(system, "Lunch")
    system.delivery.channel.sink.failures = 1
    assert (await home(system))[0] == NOT_READ
    assert (await home(system))[0] == "Waits for your decision"
