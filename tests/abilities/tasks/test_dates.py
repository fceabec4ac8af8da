"""Dates with a lead: once or each year, set at once, said back with both dates, and undone."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from abilities.tasks.dates import RemindBefore
from abilities.tasks.descriptions import in_words
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from core.agents.registry import AgentRegistry
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, repeats
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import wants


@pytest.fixture
async def system(database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield a person in Berlin on SMS; it is Saturday, 21 November 2026, 13:00."""
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        system.options["agents"] = AgentRegistry([RemindBefore])
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        yield system


async def sets(system: Proactive, **given: object) -> str:
    """Let the model set a reminder; return what it hands on."""
    return await system.hears("please", wants(("remind_before", given)), repeats)  # type: ignore[arg-type]


async def test_a_birthday_is_told_a_week_before_each_year(system: Proactive) -> None:
    said = await sets(system, text="Mum's birthday", day="4 March", days_before=7, yearly=True)
    assert said.startswith(
        "I will remind you each year, 1 week before 4 March: Mum's birthday. The next time is Thu 25 Feb 2027, 09:00"
    )
    rung = {}
    for year, day in ((2027, 25), (2028, 26), (2029, 25)):  # 2028 has a 29 February
        assert await system.is_at(datetime(year, 2, day, 8, 59, tzinfo=BERLIN)) == ""
        rung[year] = await system.is_at(datetime(year, 2, day, 9, 0, tzinfo=BERLIN))
    assert set(rung.values()) == {"Reminder: Mum's birthday, on 4 March"}


async def test_one_date_has_one_reminder_which_is_undone(system: Proactive) -> None:
    said = await sets(system, text="the flight to Rome", day="2026-12-20", days_before=3, clock="8:00")
    assert "on Thu 17 Dec 2026, 08:00 (Europe/Berlin), 3 days before Sun 20 Dec 2026: the flight to Rome." in said
    assert await system.told("undo") == ['Undone: I will not remind you of "the flight to Rome, on Sun 20 Dec 2026".']
    assert await system.is_at(datetime(2026, 12, 17, 8, 0, tzinfo=BERLIN)) == ""


async def test_what_can_no_longer_come_is_said(system: Proactive) -> None:
    late = await sets(system, text="the flight", day="2026-11-22", days_before=7)
    assert "1 week before Sun 22 Nov 2026 is over already." in late
    for day in ("someday", "02-30"):
        said = await sets(system, text="the flight", day=day, days_before=7, yearly=True)
        assert f'I cannot tell when "{day}" is.' in said
    assert await system.delivery.store.db.tasks.count() == 0


@pytest.mark.parametrize(
    ("day", "lead", "due"),
    [
        ("L 2", 0, ["2027-02-28", "2028-02-29", "2029-02-28"]),
        ("L 2", 7, ["2027-02-21", "2028-02-22", "2029-02-21"]),
        ("1 1", 14, ["2026-12-18", "2027-12-18", "2028-12-18"]),
        ("1 4", 3, ["2027-03-29", "2028-03-29", "2029-03-29"]),
    ],
)
def test_a_lead_is_counted_in_days_over_years_and_clock_changes(day: str, lead: int, due: list[str]) -> None:
    trigger = ScheduleTrigger(cron=f"30 2 {day} *", days_before=lead)
    moment, found = datetime(2026, 11, 21, tzinfo=UTC), []
    for _ in due:
        following = trigger.next_after(moment, BERLIN, moment)
        assert following is not None
        assert trigger.last_before(following, BERLIN, moment) == following
        moment = following
        found.append(moment.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M"))
    assert found == [f"{day} 02:30" for day in due]


def test_a_lead_is_said_and_is_for_cron_alone() -> None:
    said = [in_words(ScheduleTrigger(cron=cron, days_before=7), BERLIN) for cron in ("0 9 4 3 *", "0 9 L 2 *")]
    assert said == [
        "every year, 7 days before 4 March, at 09:00 (Europe/Berlin)",
        "every year, 7 days before 29 February (28 February in other years), at 09:00 (Europe/Berlin)",
    ]
    assert in_words(ScheduleTrigger(cron="0 9 * * 1", days_before=1), BERLIN).startswith("1 day before: every Monday")
    with pytest.raises(TriggerError):
        ScheduleTrigger(interval_minutes=5, days_before=1)
