"""“Remind us”: it comes to the group, where it was asked, and to nobody's own chat."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from abilities.groups import reminders
from abilities.groups.groups import Groups
from abilities.groups.reminders import TellGroup, remind_group
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.looking_after import list_tasks, stop_task
from abilities.tasks.opening import build_triggers
from core.json_types import Json
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.abilities.groups.talking import Talking
from tests.core.builders import FakeModel, says, wants

BERLIN = ZoneInfo("Europe/Berlin")
SIX = datetime(2026, 11, 21, 18, 0, tzinfo=BERLIN)
"""It is noon in London."""
TRAIN: tuple[str, Json] = ("remind_group", {"text": "leave for the train", "at": "18:00"})


async def test_a_reminder_of_a_group_comes_to_the_thread_in_which_it_was_asked(system: Talking) -> None:
    engine = await _planning(system)
    thread = await _thread(system)
    system.model = FakeModel([wants(TRAIN), says("Set.")])
    await thread.write("remind us at six to leave for the train")
    assert "on Sat 21 Nov 2026, 18:00 (Europe/Berlin): leave for the train. It is task 1." in str(
        system.model.told()[-1]
    )
    own = {person: len(system.told(person)) for person in system.tenants}
    for moment, said in ((SIX - timedelta(minutes=1), []), (SIX, ["Reminder: leave for the train"]), (SIX, [])):
        assert await _is_at(system, engine, moment) == said
    assert thread.holds_the_last()
    assert {person: len(system.told(person)) for person in system.tenants} == own


async def test_it_is_the_groups_own_and_anybody_there_stops_it(system: Talking) -> None:
    engine = await _planning(system)
    system.model = FakeModel([wants(TRAIN), says("Set."), wants(("list_tasks", {})), says("None.")])
    await system.write("remind us at six")
    await system.say("what have I planned?", "grace")
    assert "train" not in str(system.model.told()[-1])
    system.model = FakeModel([wants(("list_tasks", {})), wants(("stop_task", {"which": "1"})), says("Stopped.")])
    await system.write("never mind the train", "lena")
    assert "leave for the train" in str(system.model.requests[1].messages[-1].text)
    assert await _is_at(system, engine, SIX) == []


async def test_nothing_comes_to_a_group_in_which_we_take_part_no_longer(system: Talking) -> None:
    engine = await _planning(system)
    system.model = FakeModel([wants(TRAIN), says("Set.")])
    await system.write("remind us at six")
    await system.write("groups off")
    assert await _is_at(system, engine, SIX) == []
    assert await system.delivery.store.column("select state from task_runs") == ["COMPLETED"]


async def test_a_group_has_a_bounded_number_of_reminders(system: Talking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reminders, "MAX_OPEN", 2)
    await _planning(system)
    system.model = FakeModel([wants(TRAIN), wants(TRAIN), wants(TRAIN), says("Enough.")])
    await system.write("remind us three times")
    assert await system.count("select count(*) from tasks") == 2
    assert "2 reminders already" in system.model.requests[-1].messages[-1].text


async def test_in_ones_own_chat_no_group_is_reminded(system: Talking) -> None:
    await _planning(system)
    system.model = FakeModel([wants(TRAIN), says("Not here.")])
    await system.say("remind us at six", "grace")
    assert "no group" in system.model.requests[-1].messages[-1].text
    assert await system.count("select count(*) from tasks") == 0


async def test_the_zone_of_a_group_is_asked_for_once(system: Talking) -> None:
    await _planning(system, zone="")
    told: Json = {"text": "lunch", "at": "18:00", "zone": "Europe/Berlin"}
    system.model = FakeModel([wants(TRAIN), says("Which zone?"), wants(("remind_group", told)), says("Set.")])
    await system.write("remind us at six")
    assert "In which time zone is this group?" in system.model.requests[1].messages[-1].text
    await system.write("Berlin")
    assert "18:00 (Europe/Berlin): lunch" in str(system.model.told()[-1])


async def test_promise_5_a_reminder_whose_run_is_repeated_is_said_once(system: Talking) -> None:
    await system.turned_on()
    store, before = system.delivery.store, len(system.heard())
    group = str(await store.one("select tenant_id from group_chats"))
    for _ in range(2):
        done = await Groups(store.database, store.wakeups, group, "turn of the run").remind("", "Reminder: lunch")
        assert done["outcome"] == "said"
    await system.delivery.deliver()
    assert system.heard()[before:] == ["Reminder: lunch"]


class _Thread:
    """A topic on Telegram or a thread on Slack."""

    def __init__(self, system: Talking, place: dict[str, Json]) -> None:
        self.system, self.place = system, place

    async def write(self, text: str) -> None:
        harness = self.system.delivery.channel
        act = "channel_say" if harness.name == "slack" else "group_say"
        await harness.act(act, "grace", text=text, mention=True, **self.place)
        await harness.settled()
        await self.system.work()

    def holds_the_last(self) -> bool:
        harness = self.system.delivery.channel
        state = harness.simulator.providers[harness.name].state()
        assert isinstance(state, dict)
        if harness.name == "slack":
            return bool(state["general"][-1]["thread_ts"] == self.place["thread_ts"])  # type: ignore[index, call-overload]
        return bool(state["group"]["messages"][-1]["thread"] == self.place["topic"])  # type: ignore[index, call-overload]


async def _thread(system: Talking) -> _Thread:
    harness = system.delivery.channel
    if harness.name == "slack":
        return _Thread(system, {"thread_ts": (await system.post("the trip", "ada", mention=False))["ts"]})
    await harness.act("migrate", "grace")
    begun = await harness.act("group_topic", "grace", name="Trip")
    await harness.settled()
    return _Thread(system, {"topic": begun["message_id"]})


async def _planning(system: Talking, zone: str = "Europe/Berlin") -> TriggerEngine:
    """Turn the assistant on, with tasks and their tools."""
    await system.delivery.store.db.tenants.change({"timezone": zone})
    await system.turned_on()
    store = system.delivery.store
    engine = TriggerEngine(store.database, store.make_id, system.clock, store.wakeups, executors=[TellGroup()])
    system.more = [*system.more, remind_group, list_tasks, stop_task]
    system.options = system.options | {"trigger_engine": engine}
    return engine


async def _is_at(system: Talking, engine: TriggerEngine, moment: datetime) -> list[str]:
    """Let it be a later moment; return what is said in the group then."""
    before, store = len(system.heard()), system.delivery.store
    system.clock.at = moment
    name, orchestrator = system.delivery.channel.name, system.orchestrator
    notes = NotificationStore(store.database, store.make_id)
    notifier = NotificationService(notes, [name], store.wakeups, system.clock, store.make_id)
    triggers = build_triggers(engine, orchestrator, notifier)
    turns = TurnRunner(
        store.turns, orchestrator, store.wakeups, {}, store.make_id, "w1", TurnFeatures(runs=triggers.runs)
    )
    await triggers.runner.once()
    while lease := await turns.claim(None):
        await turns.run(lease)
    await triggers.runner.notices.hand_over()
    await system.delivery.deliver()
    return system.heard()[before:]
