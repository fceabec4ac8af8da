"""Reminders for others of the household: asked for once, told who set it, ended by a word; over every channel."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from abilities.events.bus import EventBus
from abilities.household.tools import show_household
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.for_others import RemindersForOthers, settle_wishes
from abilities.tasks.opening import build_triggers
from abilities.tasks.reminders import TellExecutor
from abilities.tasks.reminding_others import RemindOther, take_back_reminder_for
from abilities.tasks.store import TaskStore
from abilities.tasks.types import TriggerContext
from core.agents.registry import AgentRegistry
from core.people.tenant_tables import tenant_tables
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from tests.abilities.household.living import Living, open_living

BREAD = {"who": "Grace", "text": "buy bread", "at": "18:00"}
"""It is noon, in UTC."""
DAWN = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class Minding(Living):
    """The same with reminders, whose clock is moved."""

    engine: TriggerEngine

    async def work(self) -> None:
        """Do all that is to be done at this moment of the clock."""
        for _ in range(3):
            await Living.work(self)
            await settle_wishes(self.engine, self.notifier)
            store = self.delivery.store
            triggers = build_triggers(self.engine, self.orchestrator, self.notifier)
            await triggers.runner.once()
            turns = TurnRunner(
                store.turns, self.orchestrator, store.wakeups, {}, store.make_id, "w1", TurnFeatures(runs=triggers.runs)
            )
            while lease := await turns.claim(None):
                await turns.run(lease)
            await triggers.runner.notices.hand_over()
            await self.delivery.deliver()

    async def is_later(self, span: timedelta, person: str) -> str:
        """Let time pass; return what somebody reads then."""
        before = self.count(person)
        self.clock.move(span)
        await self.work()
        return self.heard(person, before)


@asynccontextmanager
async def open_minding(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Minding]:
    """Open it all; Ada and Grace live together, and Lena elsewhere."""
    async with open_living(channel, database_url) as plain:
        store = plain.delivery.store
        bus = EventBus(redis_url, store.database, store.make_id)
        engine = TriggerEngine(
            store.database, store.make_id, plain.clock, store.wakeups, event_bus=bus, executors=[TellExecutor()]
        )
        system = Minding(plain.delivery, plain.clock, engine=engine, tenants=plain.tenants)
        system.more = [*plain.more, take_back_reminder_for]
        services = plain.options["services"] | {RemindersForOthers: lambda who, _: RemindersForOthers(engine, who)}
        system.options = {"services": services, "agents": AgentRegistry([RemindOther]), "trigger_engine": engine}
        await store.db.tenants.change({"timezone": "UTC"})
        await engine.start()
        await system.ask("household create Rose Cottage")
        await system.joins("grace")
        try:
            yield system
        finally:
            await bus.close()


@pytest.fixture
async def home(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Minding]:
    async with open_minding(channel, database_url, redis_url) as system:
        yield system


async def test_a_reminder_for_another_waits_for_their_word_and_tells_who_set_it(home: Minding) -> None:
    before = home.count("grace")
    assert "I will ask Grace whether you may" in await home.call("ada", "remind_other", **BREAD)
    asked = home.heard("grace", before)
    assert "Ada would like to set reminders for you." in asked
    assert "REMINDERS ALLOW Ada" in asked
    assert "bread" not in asked
    of_ada, before = home.count("ada"), home.count("grace")
    answer = await home.ask("reminders allow ada", "grace")
    assert "Ada may set reminders for you." in answer
    assert "Ada has set a reminder for you, on Sat 21 Nov 2026, 18:00: buy bread" in home.heard("grace", before)
    assert "Grace agrees" in home.heard("ada", of_ada)
    assert "Reminder from Ada: buy bread" in await home.is_later(timedelta(hours=6), "grace")
    # The next one is set at once.
    before = home.count("grace")
    tea = BREAD | {"text": "buy tea", "at": "19:00"}
    assert "I will remind Grace" in await home.call("ada", "remind_other", **tea)
    heard = home.heard("grace", before)
    assert "Ada has set a reminder for you" in heard
    assert "would like to" not in heard


async def test_a_word_ends_the_reminders_of_somebody_and_lets_no_more_in(home: Minding) -> None:
    await home.call("ada", "remind_other", **BREAD)
    await home.ask("reminders allow ada", "grace")
    assert "those that were set are gone" in await home.ask("reminders refuse Ada", "grace")
    assert "Grace wants no reminders from you." in await home.call("ada", "remind_other", **BREAD)
    assert "bread" not in await home.is_later(timedelta(hours=7), "grace")


async def test_who_refuses_is_asked_no_more_and_the_other_is_told(home: Minding) -> None:
    await home.call("ada", "remind_other", **BREAD)
    before = home.count("ada")
    await home.ask("reminders refuse ada", "grace")
    assert "The reminder that you wanted for Grace is not set." in home.heard("ada", before)
    before = home.count("grace")
    await home.call("ada", "remind_other", **BREAD)
    assert home.heard("grace", before) == ""
    assert "bread" not in await home.is_later(timedelta(hours=7), "grace")


async def test_a_reminder_for_another_is_taken_back_by_who_wanted_it(home: Minding) -> None:
    await home.call("ada", "remind_other", **BREAD)
    await home.ask("reminders allow ada", "grace")
    assert "Undone" in await home.ask("undo")
    assert "bread" not in await home.is_later(timedelta(hours=7), "grace")


async def test_nobody_outside_of_the_household_is_reminded_or_asked(home: Minding) -> None:
    before = home.count("lena")
    assert "does not name exactly one person of your household" in await home.call(
        "ada", "remind_other", **BREAD | {"who": "Lena"}
    )
    assert home.count("lena") == before
    of_ada = home.count("ada")
    await home.call("lena", "remind_other", **BREAD | {"who": "Ada"})
    await home.ask("reminders allow ada", "lena")
    assert home.count("ada") == of_ada
    assert await home.delivery.store.db.reminder_permits.count() == 0
    await home.ask("household leave", "grace")
    assert "does not name exactly one person of your household" in await home.call("ada", "remind_other", **BREAD)


async def test_what_another_wrote_in_a_reminder_is_no_markup() -> None:
    action: dict[str, str] = {"from": "A_da [x]", "text": "[your bank](https://evil.example)"}
    run = SimpleNamespace(task=SimpleNamespace(action=action, title=""), trigger_type="schedule")
    said = (await TellExecutor().execute(cast(TriggerContext, run))).output
    assert "\\[your bank\\](https://evil.example)" in said
    assert "\\[x\\]" in said


async def test_names_and_words_of_others_are_marked_as_theirs(home: Minding) -> None:
    assert show_household.outside
    await home.call("ada", "remind_other", **BREAD)
    await home.ask("reminders refuse ada", "grace")
    told = await home.delivery.store.admin.fetch("select outside from notifications where dedupe_key like 'wisher %'")
    assert [row["outside"] for row in told] == [True]


async def dies(*_: object) -> None:
    raise ConnectionError


async def test_an_undo_that_died_before_the_task_was_gone_is_done_again(
    home: Minding, monkeypatch: pytest.MonkeyPatch
) -> None:
    await home.call("ada", "remind_other", **BREAD)
    await home.ask("reminders allow ada", "grace")
    wishes, ada, grace = home.delivery.store.db.reminder_wishes, home.tenants["ada"], home.tenants["grace"]
    (key,) = await wishes.column("id")
    with monkeypatch.context() as dying:
        dying.setattr(TriggerEngine, "delete_task", dies)
        with pytest.raises(ConnectionError):
            await RemindersForOthers(home.engine, ada).take_back(grace, str(key))
    assert await RemindersForOthers(home.engine, ada).take_back(grace, str(key))
    assert "bread" not in await home.is_later(timedelta(hours=7), "grace")


@pytest.mark.parametrize("meanwhile", ["refused", "taken back", "deleted"])
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_reminder_that_ends_while_it_is_set_never_rings(
    home: Minding, monkeypatch: pytest.MonkeyPatch, meanwhile: str, moment: str
) -> None:
    await home.call("ada", "remind_other", **BREAD)
    ada, grace = (RemindersForOthers(home.engine, home.tenants[one]) for one in ("ada", "grace"))
    permits = await grace.permits()
    (key,) = await home.delivery.store.db.reminder_wishes.column("id")
    await grace.decide(permits, allowed=True)
    add = TaskStore.add

    async def end() -> None:
        if meanwhile == "refused":
            await grace.decide(permits, allowed=False)
        elif meanwhile == "taken back":
            assert await ada.take_back(grace.tenant_id, str(key))
        else:
            database, now = home.delivery.store.database, home.clock.now()
            await database.rows("select ask_deletion($1,'person',$2,$2)", ada.tenant_id, now)
            await database.rows("select delete_tenant($1,$2)", ada.tenant_id, [*reversed(tenant_tables())])

    async def slow(self: TaskStore, *given: Any) -> Any:
        if moment == "before":
            await end()
        added = await add(self, *given)
        if moment == "after":
            await end()
        return added

    monkeypatch.setattr(TaskStore, "add", slow)
    before = home.count("grace")
    await settle_wishes(home.engine, home.notifier)
    monkeypatch.undo()
    assert "Reminder from Ada" not in await home.is_later(timedelta(hours=7), "grace")
    assert "has set a reminder" not in home.heard("grace", before)


async def test_of_two_with_one_name_a_word_allows_who_is_asked_about(home: Minding) -> None:
    await home.joins("lena")
    lena = {"name": "Ada", "language": "en", "language_from": ""}  # she writes German on some channels
    await home.delivery.store.db.tenants.change(lena, tenant_id=home.tenants["lena"])
    before = home.count("grace")
    await home.call("ada", "remind_other", **BREAD)
    await home.call("lena", "remind_other", **BREAD | {"text": "buy tea"})
    assert home.heard("grace", before).count("Ada would like to set reminders for you.") == 1
    before = home.count("grace")
    assert "Ada may set reminders" in await home.ask("reminders allow ada", "grace")
    heard = home.heard("grace", before)
    assert "bread" in heard
    assert "tea" not in heard
    assert ") would like to set reminders for you." in heard
    # Refused is everybody whom the name may mean.
    assert "those that were set are gone" in await home.ask("reminders refuse ada", "grace")
    assert "Grace wants no reminders from you." in await home.call("ada", "remind_other", **BREAD)
    assert "Grace wants no reminders from you." in await home.call("lena", "remind_other", **BREAD)
    assert "Several people with that name" in await home.ask("reminders allow ada", "grace")
    assert await home.is_later(timedelta(hours=7), "grace") == ""


async def test_of_two_with_one_name_each_is_refused_and_allowed_by_a_mark(home: Minding) -> None:
    await home.joins("lena")
    lena = {"name": "Ada", "language": "en", "language_from": ""}
    await home.delivery.store.db.tenants.change(lena, tenant_id=home.tenants["lena"])
    await home.call("ada", "remind_other", **BREAD)
    await home.ask("reminders allow ada", "grace")
    before = home.count("grace")
    await home.call("lena", "remind_other", **BREAD | {"text": "buy tea"})
    # Of two with one name the question says which one asks, and its words mean nobody else.
    asked = home.heard("grace", before)
    of_lena = next(line for line in asked.splitlines() if "REMINDERS REFUSE Ada " in line).partition("REFUSE ")[2]
    assert "would like to set reminders" in asked
    assert "•••" in asked or home.delivery.channel.name == "sms"
    assert "Ada sets no reminders" in await home.ask(f"reminders refuse {of_lena}", "grace")
    assert "Grace wants no reminders from you." in await home.call("lena", "remind_other", **BREAD)
    assert "I will remind Grace" in await home.call("ada", "remind_other", **BREAD | {"text": "buy jam"})
    # Both refused: a name alone lets nobody, and the answer names the words for each.
    refused = await home.ask("reminders refuse ada", "grace")
    words = [line.partition("REMINDERS ")[2] for line in refused.splitlines() if "REMINDERS ALLOW" in line]
    assert len({*words}) == 2
    assert f"ALLOW {of_lena}" in words
    assert "Ada may set reminders" in await home.ask(f"reminders allow {of_lena}", "grace")
    assert "Grace wants no reminders from you." in await home.call("ada", "remind_other", **BREAD)
    assert "I will remind Grace" in await home.call("lena", "remind_other", **BREAD | {"text": "buy tea"})
    assert "Nobody with that name" in await home.ask("reminders allow Ada 0000", "grace")


async def test_a_name_stays_while_its_question_is_open(home: Minding) -> None:
    await home.call("ada", "remind_other", **BREAD)
    await home.delivery.store.db.tenants.change({"name": "Mallory"}, tenant_id=home.tenants["ada"])
    await home.call("ada", "remind_other", **BREAD | {"text": "buy tea"})
    assert "Ada may set reminders for you." in await home.ask("reminders allow ada", "grace")


async def test_a_reminder_that_raises_holds_up_no_other_and_comes_later(
    home: Minding, monkeypatch: pytest.MonkeyPatch
) -> None:
    await home.joins("lena")
    await home.delivery.store.db.tenants.change({"language": "en", "language_from": ""})
    notify, tried = type(home.notifier).notify, list[str]()

    async def raises_for_grace(self: object, tenant_id: str, told: object) -> object:
        tried.append(tenant_id)
        if tenant_id == home.tenants["grace"]:
            raise ValueError
        return await notify(self, tenant_id, told)  # type: ignore[arg-type]

    with monkeypatch.context() as failing:
        failing.setattr(type(home.notifier), "notify", raises_for_grace)
        await home.call("ada", "remind_other", **BREAD)
        before = home.count("lena")
        await home.call("ada", "remind_other", **BREAD | {"who": "Lena"})
        assert "Ada would like to set reminders for you." in home.heard("lena", before)
    assert tried.count(home.tenants["grace"]) == 1
    permits = home.delivery.store.db.reminder_permits
    (pause,) = await home.delivery.store.column(
        "select next_attempt_at - clock_timestamp() from reminder_permits where not told"
    )
    assert isinstance(pause, timedelta)
    assert timedelta(seconds=5) < pause < timedelta(seconds=10)
    await permits.change({"next_attempt_at": DAWN, "attempts": 3}, tenant_id=home.tenants["grace"])
    before = home.count("grace")
    await home.work()
    assert "Ada would like to set reminders for you." in home.heard("grace", before)


async def test_a_reminder_that_rang_cannot_be_taken_back(home: Minding) -> None:
    await home.call("ada", "remind_other", **BREAD | {"at": "12:05"})
    await home.ask("reminders allow ada", "grace")
    assert "bread" in await home.is_later(timedelta(minutes=5), "grace")
    assert "It has rung already" in await home.ask("undo")


async def test_a_reminder_whose_time_passes_without_an_answer_is_over(home: Minding) -> None:
    await home.call("ada", "remind_other", **BREAD)
    assert "The reminder that you wanted for Grace is not set." in await home.is_later(timedelta(hours=6), "ada")
    wishes = home.delivery.store.db.reminder_wishes
    assert (await wishes.column("state"), await wishes.column("text")) == (["over"], [""])
    assert await home.engine.store.prune(-timedelta(minutes=1)) == 1
    assert await wishes.count() == 0


async def test_a_reminder_goes_with_its_task_once_that_is_old(home: Minding) -> None:
    await home.call("ada", "remind_other", **BREAD)
    await home.ask("reminders allow ada", "grace")
    await home.engine.store.prune(-timedelta(minutes=1))
    assert await home.delivery.store.db.reminder_wishes.count() == 1
    await home.is_later(timedelta(hours=6), "grace")
    while await home.engine.store.prune(-timedelta(minutes=1)):
        pass
    assert await home.delivery.store.db.reminder_wishes.count() == 0
