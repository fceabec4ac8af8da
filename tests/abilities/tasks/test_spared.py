"""No run that nobody waits for asks a model in quiet hours, or while nothing has changed; one makes up for them."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from abilities.events.types import Event
from abilities.tasks.at_night import NightTasks
from abilities.tasks.explain import explain
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.runs.executors import RunExecutors
from abilities.tasks.runs.read_tools import OrchestratorTools
from abilities.tasks.tools_api import TaskAccess
from abilities.tasks.types import HEARTBEAT, Task
from core.errors import ToolFailed
from core.json_types import JsonObject
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from core.turns.types import TurnRequest, TurnResult, TurnState
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from tests.abilities.tasks.harness import Harness, make_harness
from tests.core.builders import FakeModel, Step, says, wants
from tests.core.harness import Store

BERLIN = ZoneInfo("Europe/Berlin")
TEN = datetime(2026, 3, 2, 22, 0, tzinfo=BERLIN)
PAGE = "https://shop.example/price"
SILENT: JsonObject = {"silent": True, "urgency": "low", "category": HEARTBEAT}


async def quiet(harness: Harness, start: str = "22:00", end: str = "06:00") -> None:
    """Let the person want quiet for eight hours of the night."""
    hours = {"quiet_from": start, "quiet_until": end}
    await harness.store.db.tenants.change(hours, tenant_id=harness.tenant)


async def looking(harness: Harness, minutes: float = 15, output: JsonObject = SILENT) -> Task:
    """Make a heartbeat."""
    return await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ScheduleTrigger(interval_minutes=minutes),
        action={"instruction": "Look whether anything is worth telling"},
        output=output,
        title="heartbeat",
    )


async def night(harness: Harness, quarters: int = 32) -> None:
    """Let quarters of an hour pass, each with its work done."""
    for _ in range(quarters):
        harness.clock.move(minutes=15)
        await harness.work()


async def test_eight_quiet_hours_ask_no_model_and_one_run_makes_up_for_them(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN - timedelta(minutes=15)
    task = await looking(harness)
    await night(harness, 32)
    assert harness.clock.at == TEN.replace(day=3, hour=5, minute=45)
    assert harness.says.requests == []
    spared = [run for run in await harness.runs(task) if run.reason == "quiet"]
    assert len(spared) >= 31
    await night(harness, 1)
    assert len(harness.says.requests) == 1, "one at the end"
    runs = await harness.runs(task)
    assert {(run.state.value, run.reason) for run in runs[:-1]} == {("SKIPPED", "made_up")}
    assert runs[-1].state == "COMPLETED"
    assert (await harness.again(task)).make_up_at is None


async def test_a_regular_run_that_is_due_at_the_end_makes_up_for_the_night(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN - timedelta(minutes=15)
    await looking(harness)
    await night(harness, 32)
    harness.clock.move(minutes=15)
    assert await harness.engine.make_up() == 0, "it came before the regular run, and leaves all to it"
    await harness.work()
    assert len(harness.says.requests) == 1


async def test_checks_between_the_quarters_are_made_up_for_once(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN - timedelta(minutes=7)
    task = await looking(harness, output={"silent": False})
    harness.clock.move(hours=8, minutes=6)
    await harness.work()
    assert [run.reason for run in await harness.runs(task)] == ["quiet"]
    harness.clock.at = TEN.replace(day=3, hour=6)
    await harness.work()
    await harness.work()
    assert len(harness.says.requests) == 1
    [made_up] = [run for run in await harness.runs(task) if run.state == "COMPLETED"]
    assert "missed_since" in made_up.cause
    assert "in place of the runs missed since" in str((await explain(harness.engine, task))["text"])


async def test_events_of_the_night_come_to_the_model_together(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    task = await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=EventTrigger("shop", "paid"), action={"instruction": "Tell me"}
    )
    for number in range(3):
        data: JsonObject = {"order": f"no. {number}"}
        await harness.engine.fire_for_event(
            harness.tenant, Event("shop", "paid", data, f"evt_{number}", harness.tenant)
        )
        await night(harness, 2)
    assert harness.says.requests == []
    harness.clock.at = TEN.replace(day=3, hour=6)
    for _ in range(2):
        await harness.work()
    [request] = harness.says.requests
    assert request.trigger is not None
    for number in range(3):
        assert f"no. {number}" in request.trigger.content
    assert "3 such events" in request.trigger.content
    assert await harness.states(task) == ["SKIPPED"] * 3 + ["COMPLETED"]


async def test_more_events_than_the_model_is_shown_come_in_several_runs(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=EventTrigger("shop", "paid"), action={"instruction": "Tell me"}
    )
    for number in range(5):
        data: JsonObject = {"order": f"no. {number}", "text": "x" * 8_000}
        await harness.engine.fire_for_event(
            harness.tenant, Event("shop", "paid", data, f"evt_{number}", harness.tenant)
        )
    await harness.work()
    harness.clock.at = TEN.replace(day=3, hour=6)
    await harness.work()
    told = [request.trigger.content for request in harness.says.requests if request.trigger]
    assert [sum(f"no. {number}" in text for text in told) for number in range(5)] == [1] * 5, "none is lost or doubled"
    assert len(told) == 3


async def test_a_value_that_became_true_at_night_is_told_in_the_morning(harness: Harness) -> None:
    harness.clock.at, harness.world.pages[PAGE] = TEN - timedelta(minutes=5), "5"
    task = await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ConditionTrigger("value < 3", url=PAGE, every_minutes=15),
        action={"instruction": "Tell me"},
    )
    await harness.work()
    await quiet(harness)
    harness.world.pages[PAGE] = "2"
    await night(harness, 6)
    assert harness.says.requests == []
    assert harness.world.looks > 3, "a look asks no model"
    harness.clock.at = TEN.replace(day=3, hour=6)
    await harness.work()
    [request] = harness.says.requests
    assert request.trigger is not None
    assert '{"before": 5, "now": 2}' in request.trigger.content
    assert await harness.states(task) == ["SKIPPED", "COMPLETED"]


@pytest.mark.parametrize(
    ("trigger", "output", "executor"),
    [
        (EventTrigger("door", "rang"), {"urgency": "urgent"}, "orchestrator"),
        (EventTrigger("door", "rang"), {"at_night": True}, "orchestrator"),
        (EventTrigger("door", "rang"), {}, "counting"),
        (ScheduleTrigger(at=TEN.replace(day=3, hour=3)), {}, "orchestrator"),
    ],
    ids=["urgent", "at night", "without a model", "at a named moment"],
)
async def test_what_the_person_wants_at_night_comes_at_night(
    harness: Harness, trigger: EventTrigger | ScheduleTrigger, output: JsonObject, executor: str
) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    task = await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=trigger,
        action={"instruction": "Tell me"},
        output=output,
        executor=executor,
    )
    harness.clock.at = TEN.replace(day=3, hour=3)
    await harness.engine.fire_for_event(harness.tenant, Event("door", "rang", {}, "ring_1", harness.tenant))
    await harness.work()
    assert await harness.states(task) == ["COMPLETED"]


async def test_a_run_by_hand_comes_at_night(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    task = await looking(harness, 60)
    await harness.engine.run_now(harness.tenant, task.id)
    await harness.work()
    assert len(harness.says.requests) == 1


async def test_a_task_that_is_let_run_at_night_makes_up_at_once(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    task = await looking(harness)
    await night(harness, 2)
    [note] = await TaskAccess(harness.engine, harness.tenant).list()
    assert note.quiet_until == "06:00"
    nights = NightTasks(harness.engine, harness.tenant)
    assert await nights.let(task.id, at_night=True)
    [note] = await TaskAccess(harness.engine, harness.tenant).list()
    assert note.quiet_until == ""
    await harness.work()
    assert len(harness.says.requests) == 1
    await night(harness, 2)
    assert len(harness.says.requests) == 3, "and at each of its times from now on"
    assert await nights.let(task.id, at_night=False)
    await night(harness, 2)
    assert len(harness.says.requests) == 3


async def test_quiet_hours_that_are_turned_off_let_the_spared_run_come_now(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    task = await looking(harness, 60 * 3)
    harness.clock.at = TEN.replace(day=3, hour=1, minute=1)
    await harness.work()
    assert [run.reason for run in await harness.runs(task)][-1:] == ["quiet"]
    assert harness.says.requests == []
    await quiet(harness, "", "")
    await harness.work()
    assert [run.reason for run in await harness.runs(task)][-2:] == ["made_up", ""]
    assert len(harness.says.requests) == 1


async def test_a_stopped_or_paused_task_makes_up_for_nothing(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    stopped, paused = await looking(harness), await looking(harness)
    await night(harness, 1)
    await harness.engine.delete_task(harness.tenant, stopped.id)
    await harness.engine.pause_task(harness.tenant, paused.id)
    harness.clock.at = TEN.replace(day=3, hour=6)
    await harness.work()
    assert harness.says.requests == []
    assert (await harness.again(paused)).make_up_at is None


async def test_two_workers_make_up_once(harness: Harness) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=EventTrigger("shop", "paid"), action={"instruction": "Tell me"}
    )
    await harness.engine.fire_for_event(harness.tenant, Event("shop", "paid", {}, "evt_1", harness.tenant))
    await harness.work()
    harness.clock.at = TEN.replace(day=3, hour=6)
    assert [await harness.engine.make_up(), await harness.engine.make_up()] == [1, 0]
    await harness.work()
    assert len(harness.says.requests) == 1


async def test_a_task_that_cannot_be_made_up_for_holds_up_no_other(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await quiet(harness)
    harness.clock.at = TEN + timedelta(minutes=1)
    broken, whole = await looking(harness, 60 * 5), await looking(harness, 60 * 5)
    harness.clock.move(hours=5)
    await harness.work()
    make_up = harness.engine.store.make_up

    async def stumble(tenant_id: str, task_id: str, *rest: Any) -> str | None:
        if task_id == broken.id:
            raise ValueError("a value that nobody foresaw")
        return await make_up(tenant_id, task_id, *rest)

    monkeypatch.setattr(harness.engine.store, "make_up", stumble)
    harness.clock.at = TEN.replace(day=3, hour=6)
    await harness.work()
    assert (await harness.again(broken)).set_aside == "ValueError"
    assert (await harness.states(whole))[-1] == "COMPLETED"


class Inbox:
    """A tool that reads the person's mail, as a model sees it."""

    def __init__(self) -> None:
        self.text, self.read, self.away = "No mail.", 0, False


async def reading(store: Store, *script: Step) -> tuple[Harness, FakeModel, Inbox]:
    """Return a harness whose model follows a script, with a tool that reads and one that acts."""
    inbox = Inbox()

    @tool(name="read_inbox", effect="read")
    async def read_inbox(folder: str) -> str:
        """Read the person's mail."""
        inbox.read += 1
        if inbox.away:
            raise ToolFailed("The server cannot be reached.")
        return f"{folder}: {inbox.text}"

    @tool(name="file_mail", effect="idempotent")
    async def file_mail() -> str:
        """File the person's mail."""
        return "Filed."

    harness, model = await make_harness(store), FakeModel(list(script))
    orchestrator = Orchestrator(
        model, tools=[read_inbox, file_mail], trigger_engine=harness.engine, clock=harness.clock
    )
    tools = OrchestratorTools(orchestrator, harness.engine.store, store.make_id)
    runs = RunExecutors(harness.engine, orchestrator, harness.notifier, harness.runner.notices, tools)
    harness.turns = TurnRunner(
        store.turns, orchestrator, store.wakeups, {}, store.make_id, "w1", TurnFeatures(runs=runs)
    )
    return harness, model, inbox


READS, NOTHING = wants(("read_inbox", {"folder": "INBOX"})), says("NOTHING")


async def test_nothing_new_asks_no_model_and_something_new_does(store: Store) -> None:
    harness, model, inbox = await reading(store, READS, NOTHING, READS, says("Ben has written."))
    task = await looking(harness)
    await night(harness, 1)
    assert len(model.requests) == 2
    await night(harness, 10)
    assert len(model.requests) == 2, "none while the mail is as it was"
    assert {run.reason for run in (await harness.runs(task))[1:]} == {"unchanged"}
    assert inbox.read > 10
    inbox.text = "Ben: lunch?"
    await night(harness, 1)
    assert len(model.requests) == 4
    assert (await harness.sent())[-1] == "Ben has written."
    await night(harness, 5)
    assert len(model.requests) == 4
    assert "nothing that it looks at had changed" in str((await explain(harness.engine, task))["text"])


@pytest.mark.parametrize("change", ["words", "event", "task", "day", "wish"])
async def test_what_the_person_says_or_gets_counts_as_a_change(store: Store, change: str) -> None:
    harness, model, _ = await reading(store, READS, NOTHING, READS, NOTHING)
    task = await looking(harness)
    await night(harness, 2)
    assert len(model.requests) == 2
    match change:
        case "words":
            await store.db.conversations.change({"last_inbound_at": harness.clock.now()})
        case "event":
            await store.admin.execute(
                "insert into events (tenant_id, source, id, type, data, occurred_at)"
                " values ($1, 'shop', 'evt_1', 'paid', '{}', now())",
                harness.tenant,
            )
        case "task":
            await harness.engine.create_task(
                tenant_id=harness.tenant, trigger=EventTrigger("shop", "paid"), action={"instruction": "Tell me"}
            )
        case "day":
            harness.clock.at = TEN.replace(day=3, hour=7)
        case "wish":
            await store.db.tasks.change({"action": '{"instruction": "Look at the mail only"}'}, id=task.id)
    await night(harness, 2)
    assert len(model.requests) == 4


async def test_a_time_that_was_read_counts_as_a_change_when_it_is_near(store: Store) -> None:
    harness, model, inbox = await reading(store, READS, NOTHING, READS, says("You leave in an hour."))
    inbox.text = "Your train leaves at 14:00."
    await looking(harness)
    harness.clock.at = TEN.replace(hour=11)
    await harness.work()
    await night(harness, 7)
    assert len(model.requests) == 2, "at 12:45 it is far"
    await night(harness, 4)
    assert len(model.requests) == 4, "once it is within an hour"


@pytest.mark.parametrize(
    ("script", "title"),
    [
        ([wants(("file_mail", {})), NOTHING], "it acts"),
        ([wants(("read_inbox", {"folder": "A"}), ("file_mail", {})), NOTHING], "it reads and acts"),
        ([wants(("read_inbox", {})), NOTHING], "its call failed"),
    ],
)
async def test_a_run_that_does_more_than_read_is_never_spared(store: Store, script: list[Step], title: str) -> None:
    harness, model, _ = await reading(store, *script * 3)
    await looking(harness)
    await night(harness, 3)
    assert len(model.requests) == 6, title


async def test_a_task_that_always_tells_is_never_spared_as_unchanged(store: Store) -> None:
    harness, model, _ = await reading(store, *[READS, says("A poem.")] * 3)
    await looking(harness, output={"silent": False})
    await night(harness, 3)
    assert len(model.requests) == 6


async def test_a_run_that_reads_nothing_is_spared_only_if_it_looks_by_itself(store: Store) -> None:
    harness, model, _ = await reading(store, NOTHING, NOTHING, NOTHING, NOTHING)
    await looking(harness)
    await looking(harness, output={"silent": True})
    await night(harness, 3)
    assert len(model.requests) == 4, "the heartbeat once, the other each time"


async def test_a_failed_look_at_the_tools_asks_the_model(store: Store) -> None:
    harness, model, inbox = await reading(store, READS, NOTHING, READS, NOTHING)
    await looking(harness)
    await night(harness, 2)
    assert len(model.requests) == 2
    inbox.away = True
    await night(harness, 1)
    assert len(model.requests) == 4


async def test_a_run_out_of_words_is_compared_with_none(store: Store) -> None:
    async def fails(request: TurnRequest) -> TurnResult:
        return TurnResult(TurnState.DONE, "", reason="budget")

    harness = await make_harness(store, fails)
    await looking(harness)
    await night(harness, 3)
    assert len(harness.says.requests) == 3
