"""A call that is repeated after a crash says what it said, and offers the same to be undone, whatever it changed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from abilities.lists import notes
from abilities.tasks import looking_after as tasks
from abilities.tasks.reminders import change_reminder, restore_plan
from abilities.tasks.scheduling import SetHeartbeat
from abilities.tasks.types import HEARTBEAT
from agents import person
from core.json_types import JsonObject
from core.people.commands import PersonCommands
from core.people.people import People
from core.people.profile import FactSource
from core.tools.storage import Storage
from onevalet import ToolExecutionContext
from onevalet.testing import make_context, rehearse
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.contract.channel_harnesses import SmsHarness


@dataclass
class House:
    """A person with preferences, facts, tasks and notes; each call that they have made is made twice."""

    system: Proactive
    calls: int = 0

    @property
    def people(self) -> People:
        return self.system.options["people"]  # type: ignore[no-any-return]

    def context(self, key: str) -> ToolExecutionContext:
        """Return the context of a call, as one that runs again gets it: with the same key and nothing offered yet."""
        tenant, system = self.system.tenant, self.system
        return replace(
            make_context(clock=system.clock, idempotency_key=key, timezone="Europe/Berlin"),
            tenant_id=tenant,
            storage=Storage(system.delivery.store.database).for_tenant(tenant),
            tasks=system.engine.for_tenant(tenant),
            person=self.people.for_turn(tenant, key),
        )

    async def does(self, tool: Any, **given: Any) -> dict[str, Any]:
        """Make a call twice over, as after a crash; return what takes it back."""
        self.calls += 1
        said, offers = [], []
        for _ in range(2):
            context = self.context(f"call{self.calls}")
            said.append(await tool(**given, context=context))
            offers.append([(one.title, one.tool, one.arguments) for one in context.undo.offered])
        assert said[0] == said[1]
        assert offers[0] == offers[1]
        [(_, _, arguments)] = offers[1]
        return arguments

    async def takes_back(self, tool: Any, arguments: dict[str, Any]) -> str:
        """Take something back twice over, as after a crash."""
        self.calls += 1
        said = [await tool(**arguments, context=self.context(f"call{self.calls}")) for _ in range(2)]
        assert said[0] == said[1]
        return str(said[1])


@pytest.fixture
async def house(database_url: str, redis_url: str) -> AsyncIterator[House]:
    """Yield a person in Berlin; it is Saturday, 21 November 2026, 13:00."""
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        yield House(system)


async def test_preferences_and_facts_are_as_they_were(house: House) -> None:
    people, tenant = house.people, house.system.tenant
    before = await people.preferences.read(tenant)
    for name, value in {"name": "Ada", "timezone": "Lisbon", "quiet": "22-7", "language": "de", "mute": "a,b"}.items():
        offered = await house.does(person.set_preference, name=name, value=value)
        assert await people.preferences.read(tenant) != before
        await house.takes_back(person.take_back_preference, offered)
        assert await people.preferences.read(tenant) == before
    for home in ("Berlin", "Rome"):
        await people.profile.keep(tenant, "home", home, FactSource.TOLD, "", house.system.clock.now())
    offered = await house.does(person.undo_profile_fact, number=2)
    assert [fact.value for fact in await people.profile.read(tenant)] == ["Berlin"]
    assert await house.takes_back(person.restore_profile_fact, offered) == "Undone: this counts again: home: Rome."


async def test_commands_that_are_repeated_offer_the_same(house: House) -> None:
    people, tenant = house.people, house.system.tenant
    await people.profile.keep(tenant, "home", "Rome", FactSource.TOLD, "", house.system.clock.now())
    commands = PersonCommands(cast(Any, None), people)
    for answer, argument in ((commands.prefer, "timezone Lisbon"), (commands.profile, "undo 1")):
        first, again = [await answer(argument, tenant, argument, "sms") for _ in range(2)]
        assert first == again
        assert first.undo is not None


async def test_a_repeat_undoes_no_later_change_of_a_preference(house: House) -> None:
    store, tenant = house.people.preferences, house.system.tenant
    await person.set_preference("timezone", "Lisbon", house.context("first"))
    await person.set_preference("timezone", "Rome", house.context("second"))
    repeated = house.context("first")
    await person.set_preference("timezone", "Lisbon", repeated)
    assert (await store.read(tenant)).timezone == "Europe/Rome"
    [offer] = repeated.undo.offered
    assert offer.arguments == {"name": "timezone"} | {
        "before": {"timezone": "Europe/Berlin"},
        "after": {"timezone": "Europe/Lisbon"},
    }


async def test_tasks_reminders_and_notes_are_as_they_were(house: House) -> None:
    context = house.context("first")
    at: JsonObject = {"kind": "schedule", "at": "2026-11-21T15:00:00+01:00"}
    kept = await context.tasks.create(at, {"text": "call mum"}, executor="tell", title="call mum", key="first")
    planned = await context.tasks.plan(kept.id)
    for change in (tasks.pause_task, tasks.stop_task):
        offered = await house.does(change, which="mum")
        said = await house.takes_back(tasks.take_back_task_change, offered)
        assert said == "Undone: task 1, call mum, goes on."
    offered = await house.does(change_reminder, which="mum", at="in 20 minutes", text="call dad")
    assert await context.tasks.plan(kept.id) != planned
    await house.takes_back(restore_plan, offered)
    assert await context.tasks.plan(kept.id) == planned
    await notes.add_note("milk", context)
    offered = await house.does(notes.forget_note, number=1)
    assert (await house.takes_back(notes.restore_note, offered)).endswith("milk")


async def test_a_heartbeat_that_was_replaced_or_ended_goes_on(house: House) -> None:
    async def beats(every_minutes: int, context: ToolExecutionContext) -> str:
        rehearsed = rehearse(SetHeartbeat, context, every_minutes=every_minutes)
        assert rehearsed.agent is not None
        return (await (rehearsed.agent.keep() if every_minutes else rehearsed.go_on())).raw_message  # type: ignore[attr-defined]

    tasks_of = house.context("any").tasks
    first = (await house.does(beats, every_minutes=60))["task"]
    replaced = await house.does(beats, every_minutes=90)
    assert replaced["instead_of"] == first
    ended = await house.does(beats, every_minutes=0)
    assert await tasks_of.list() == []
    await house.takes_back(tasks.take_back_task_change, ended)
    assert [task.title for task in await tasks_of.list()] == [HEARTBEAT]
