"""Proposals: one a day, none to a child or to who wants none, none of what is over, replaced or forgotten."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from abilities.followups.types import PAUSE, moment_to_ask
from abilities.memory.forgetting import Forgetter
from abilities.memory.store.memories import MemoryStore
from core.tools.sharing import Sharing
from tests.abilities.followups.following import AT_THREE, INTERVIEW, MORNING, Following, open_following
from tests.clocks import NOON

DAY = timedelta(days=1)
EXAM = "My exam is on Monday at ten"


async def no_to_one(system: Following, number: int) -> str:
    """Let something be ahead, be proposed and be declined; return the answer."""
    await system.tells(f"Appointment {number} is in two days", system.clock.now() + 2 * DAY)
    assert f"Appointment {number}" in await system.is_later(DAY)
    return await system.ask(f"followups no {number}")


async def test_one_thing_a_day_is_proposed_the_soonest_first(system: Following) -> None:
    await system.tells()
    await system.tells(EXAM, AT_THREE + DAY)
    await system.tells("My talk is on Tuesday", AT_THREE + 2 * DAY)
    first = await system.is_later(MORNING)
    assert INTERVIEW in first
    assert "exam" not in first
    assert "Shall" not in await system.is_later(timedelta(hours=10)), "on the same day"
    second = await system.is_later(timedelta(hours=14))
    assert EXAM in second
    assert "talk" not in second
    assert "talk" in await system.is_later(DAY)
    assert "Shall" not in await system.is_later(DAY)


async def test_a_second_digest_of_a_day_proposes_nothing(system: Following) -> None:
    await system.tells()
    assert INTERVIEW in await system.is_later(MORNING)
    quiet = {"quiet_from": "10:00", "quiet_until": "20:00"}
    await system.delivery.store.db.tenants.change(quiet, tenant_id=system.tenants["ada"])
    await system.tells(EXAM, AT_THREE + DAY)
    assert "Shall" not in await system.is_later(timedelta(hours=13))
    assert await system.state("mem_2") == "passed"


async def test_the_same_moment_in_other_words_is_proposed_once(system: Following) -> None:
    await system.tells(EXAM, AT_THREE + 3 * DAY)
    await system.tells("They examine me on Monday, wish me luck", AT_THREE + 3 * DAY)
    assert "exam" in await system.is_later(MORNING)
    assert "luck" not in await system.is_later(DAY)
    assert await system.state("mem_2") == "passed"


async def test_what_is_over_before_the_digest_is_not_proposed(system: Following) -> None:
    await system.tells("My interview is tonight", NOON + timedelta(hours=8))
    assert "Shall" not in await system.is_later(MORNING)
    assert await system.state() == "passed"


async def test_nothing_is_proposed_in_quiet_hours_but_at_their_end(system: Following) -> None:
    quiet = {"quiet_from": "21:00", "quiet_until": "10:00"}
    await system.delivery.store.db.tenants.change(quiet, tenant_id=system.tenants["ada"])
    system.clock.move(timedelta(hours=11))
    await system.tells()
    for _ in range(10):
        assert await system.is_later(timedelta(hours=1)) == "", "it is night"
    assert INTERVIEW in await system.is_later(timedelta(hours=1, minutes=1))


async def test_during_a_halt_nothing_is_proposed_until_it_is_lifted(system: Following) -> None:
    store = system.delivery.store
    await store.admin.execute("insert into halts (how, code) values ('command', '123456')")
    await system.tells()
    assert await store.db.followups.count() == 0
    await store.admin.execute("update halts set lifted_at = clock_timestamp()")
    await system.work()
    assert INTERVIEW in await system.is_later(MORNING)


async def test_three_noes_in_a_row_stop_the_proposals_for_a_month(system: Following) -> None:
    assert "third no" not in await no_to_one(system, 1)
    assert "third no" not in await no_to_one(system, 2)
    assert "third no in a row: until" in await no_to_one(system, 3)
    await system.tells(EXAM, system.clock.now() + 2 * DAY)
    assert "Shall" not in await system.is_later(DAY)
    assert "Until" in await system.ask("followups")
    system.clock.move(PAUSE)
    await system.tells("My talk is in two days", system.clock.now() + 2 * DAY)
    assert "My talk" in await system.is_later(DAY)


async def test_a_yes_begins_the_count_of_noes_anew(system: Following) -> None:
    await no_to_one(system, 1)
    await no_to_one(system, 2)
    await system.tells(EXAM, system.clock.now() + 2 * DAY)
    await system.is_later(DAY)
    await system.ask("followups yes 3")
    assert "third no" not in await no_to_one(system, 4)


async def test_silence_counts_as_a_no_where_the_proposal_was_sent(system: Following) -> None:
    for number in range(1, 4):
        await system.tells(f"Appointment {number} is in two days", system.clock.now() + 2 * DAY)
        assert f"Appointment {number}" in await system.is_later(DAY)
        await system.is_later(2 * DAY)
    await system.tells(EXAM, system.clock.now() + 2 * DAY)
    assert "Shall" not in await system.is_later(DAY)


async def test_what_the_person_muted_was_never_said_no_to(system: Following) -> None:
    await system.delivery.store.db.tenants.change({"muted": ["followup"]}, tenant_id=system.tenants["ada"])
    for number in range(1, 3):
        await system.tells(f"Appointment {number} is in two days", system.clock.now() + 2 * DAY)
        assert await system.is_later(3 * DAY) == ""
    assert await system.delivery.store.db.followup_choices.one("noes") == 0


async def test_a_no_may_become_a_yes_while_there_is_time(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    await system.ask("followups no 1")
    assert "I will ask you" in await system.ask("followups yes 1")
    assert "How did it go?" in await system.is_later(timedelta(hours=9))


async def test_two_yeses_lead_to_one_question(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    for _ in range(2):
        assert "I will ask you" in await system.ask("followups yes 1")
    assert await system.delivery.store.db.tasks.count() == 1
    assert (await system.is_later(timedelta(hours=9))).count("How did it go?") == 1


async def test_a_task_that_a_crash_left_behind_asks_nobody(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    await system.ask("followups yes 1")
    await system.delivery.store.db.followups.change({"task_id": "another"})
    assert "How did it go?" not in await system.is_later(DAY)


async def test_nothing_is_proposed_to_a_child_of_a_household(system: Following) -> None:
    await system.ask("household create Rose Cottage")
    await system.joins("grace", role="child")
    await system.tells(person="grace")
    await system.tells(EXAM, AT_THREE + DAY)
    before = system.count("grace")
    assert "exam" in await system.is_later(MORNING)
    assert "Shall" not in system.heard("grace", before)
    assert await system.state() == "passed"


@pytest.mark.parametrize(("tools", "state"), [(["remind_me"], "passed"), (["decide_followup"], "proposed")])
async def test_a_tier_with_tools_of_its_own_must_name_this_one(system: Following, tools: list[str], state: str) -> None:
    system.tiers = json.dumps({"child": {"tools": tools}})
    await system.delivery.store.db.tenants.change({"tier": "child"}, tenant_id=system.tenants["ada"])
    await system.tells()
    assert await system.state() == state


async def forget(system: Following, memory: str = "mem_1") -> None:
    """Let the person have a memory forgotten."""
    store, ada = system.delivery.store, system.tenants["ada"]
    forgetter, memories = Forgetter(store.database, store.make_id), MemoryStore(store.database, store.make_id)
    found = await memories.memories(ada, [memory])
    asked = await forgetter.ask(ada, list(found.values()), None, "", system.clock.now(), 99)
    assert await forgetter.confirm(ada, asked.id, system.clock.now()) == 1
    await forgetter.redact(ada)


async def test_what_is_forgotten_is_not_proposed_though_it_waits_for_the_digest(system: Following) -> None:
    await system.tells()
    await forget(system)
    assert await system.is_later(MORNING) == ""
    assert await system.state() == "over"


async def test_what_is_forgotten_is_not_asked_about_and_leaves_no_words(system: Following) -> None:
    await system.tells()
    await system.is_later(MORNING)
    await system.ask("followups yes 1")
    await forget(system)
    assert "How did it go?" not in await system.is_later(DAY)
    assert await system.state() == "over"
    store = system.delivery.store
    assert await store.one("select count(*) from tasks where title ilike '%interview%'") == 0
    assert await store.one("select count(*) from notifications where text ilike '%interview%'") == 0


async def test_what_was_replaced_is_not_asked_about(system: Following) -> None:
    memory = await system.tells()
    await system.is_later(MORNING)
    await system.ask("followups yes 1")
    await system.delivery.store.db.memories.change({"valid_to": system.clock.now()}, id=memory)
    assert "How did it go?" not in await system.is_later(DAY)
    assert await system.delivery.store.one("select count(*) from tasks where deleted_at is null") == 0
    assert await system.state() == "over"


async def test_promise_2_it_is_proposed_and_asked_once_if_every_answer_is_lost(
    database_url: str, redis_url: str
) -> None:
    async with open_following("sms", database_url, redis_url, twice=True) as system:
        before = system.count("ada")
        await system.tells()
        await system.is_later(MORNING)
        await system.ask("followups yes 1")
        await system.is_later(DAY)
        heard = system.heard("ada", before)
        assert (heard.count("Shall I ask"), heard.count("I will ask you")) == (1, 1)
        assert await system.state() == "asked"
        store = system.delivery.store
        [notice] = await store.db.run_notices.column("text")
        assert "How did it go?" in str(notice)
        assert await store.db.tasks.count() == 1


@pytest.mark.parametrize(
    ("happens", "asks"),
    [
        ("2026-12-01T15:00", "2026-12-01T17:00"),
        ("2026-12-01T18:00", "2026-12-01T20:00"),
        ("2026-12-01T18:30", "2026-12-02T09:00"),
        ("2026-12-01T23:30", "2026-12-02T09:00"),
        ("2026-12-01T05:00", "2026-12-01T09:00"),
        ("2026-12-31T22:00", "2027-01-01T09:00"),
    ],
)
def test_people_are_asked_two_hours_after_it_and_never_at_night(happens: str, asks: str) -> None:
    zone = ZoneInfo("Europe/Lisbon")
    at = datetime.fromisoformat(happens).replace(tzinfo=zone).astimezone(UTC)
    assert moment_to_ask(at, zone) == datetime.fromisoformat(asks).replace(tzinfo=zone)


async def remember(system: Following, person: str, number: int) -> None:
    """Keep an exam that is ahead of a person."""
    await system.delivery.store.admin.execute(
        "insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from,"
        " happens_at) values ($1, $2, $3, 'My exam', 'person', 'told', $2, $4, $4, $5)",
        system.tenants[person],
        f"mem_{number}",
        number,
        system.clock.now(),
        AT_THREE + number * timedelta(minutes=1),
    )


async def test_what_is_told_during_a_look_is_looked_at_once_more(system: Following) -> None:
    store, ada, now = system.delivery.store, system.tenants["ada"], system.clock.now()
    claim, looked = "select array(select tenant_id from claim_followups($1, 9))", "select end_followup_look($1, $2)"
    await remember(system, "ada", 1)
    assert (await store.one(claim, now), await store.one(claim, now)) == ([ada], [])
    await remember(system, "ada", 2)
    assert await store.one(claim, now) == [], "while somebody looks"
    await store.one(looked, ada, now)
    assert await store.one(claim, now) == [ada]
    await store.one(looked, ada, now)
    assert await store.one(claim, now) == []
    due = "select array(select work from what_is_due($1) where work = 'followups')"
    assert await store.one(due, now) == [], "nobody looks until something changes"


async def test_a_person_whose_look_fails_holds_up_no_other_and_pauses(system: Following) -> None:
    whole, store, ada = system.proposals, system.delivery.store, system.tenants["ada"]

    def sharing(tenant_id: str) -> Sharing | None:
        if tenant_id == ada:
            raise ValueError
        return whole.sharing(tenant_id)

    broken = replace(whole, sharing=sharing)
    for number, person in enumerate(("ada", "grace"), 1):
        await remember(system, person, number)
    await broken.propose()
    assert await system.state("mem_2") == "proposed"
    await whole.propose()
    assert await store.db.followups.count(memory_id="mem_1") == 0, "its pause is not over"
    due = "select min(wait) from what_is_due($1) where work = 'followups'"
    assert 5 < float(str(await store.one(due, system.clock.now()))) <= 10, "nobody looks until then"
    await store.admin.execute("update followup_choices set next_attempt_at = clock_timestamp() where attempts > 0")
    await whole.propose()
    assert await system.state("mem_1") == "proposed"
    assert await store.column("select attempts from followup_choices where next_attempt_at is not null") == []
