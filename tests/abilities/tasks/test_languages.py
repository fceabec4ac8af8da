"""What tasks say, in German and Chinese: none of our English is left in it."""

from datetime import datetime

import pytest

from abilities.events.types import Event
from abilities.tasks.codec import Trigger, UnreadableTrigger, kind_of
from abilities.tasks.cron_words import cron_in_words
from abilities.tasks.descriptions import in_words, value_in_words
from abilities.tasks.dry_run import dry_run
from abilities.tasks.explain import explain
from abilities.tasks.kinds.condition import ConditionTrigger, Judged, Mode, Watch
from abilities.tasks.kinds.event import OPERATORS, EventTrigger
from abilities.tasks.kinds.schedule import Missed, ScheduleTrigger
from abilities.tasks.known_sources import KnownSources
from abilities.tasks.messages import disabled_text, failed_text, failing_look_text, result_text, set_aside_text
from abilities.tasks.reasons import Reason, reason_in_words
from abilities.tasks.trials import last_event, seen_now
from abilities.tasks.types import ActionResult, Task, TaskRun
from core.errors import ToolFailed
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, speaking
from core.notifications.types import NotificationStatus
from core.notifications.ways import way_in_words
from core.tools.context import TaskState
from core.turns.runs import RunState
from tests.abilities.tasks.harness import NOW, Harness
from tests.abilities.tasks.test_schedule import BERLIN
from tests.core.language.english import english_in

OTHERS = pytest.mark.parametrize("language", ["de", "zh"])
PAGE = "https://x.example/p"
AT = datetime.fromisoformat("2026-03-02T15:00")
CRONS = (
    "0 8 * * *", "0 8 * * 1-5", "30 18 * * 1,4", "0 9 * * 0,6", "* * * * *", "*/15 * * * *", "0 * * * *", "5 * * * *",
    "*/10 9-17 * * 1-5", "* 8 * * *", "7,9 */2 * * 3", "0 8,20 1,15 * *", "0 8 L * *", "0 8 LW 1-3 *", "0 8 15 * 1",
    "0 8 * * 1#1", "0 8 * * 2#2,3#3", "0 8 * * 4#4,5#5", "0 8 * * 5L", "@hourly", "@daily", "@weekly", "@monthly",
    "@yearly",
)  # fmt: skip
TRIGGERS: tuple[Trigger, ...] = (
    *(ScheduleTrigger(cron=cron) for cron in CRONS),
    ScheduleTrigger(at=AT),
    *(ScheduleTrigger(interval_minutes=minutes) for minutes in (1, 0.5, 60, 90, 24 * 60, 48 * 60)),
    ScheduleTrigger(cron="0 8 * * *", until=AT, count=3),
    ScheduleTrigger(interval_minutes=30, count=1),
    EventTrigger(),
    EventTrigger("x1"),
    EventTrigger("*", "y1"),
    EventTrigger("x1", "y1", {"$.z": 1, "z2": dict.fromkeys(OPERATORS, 5), "z3": {"exists": False}}, count=2),
    ConditionTrigger("value < 300 and value >= 1 or value != 2", url=PAGE, path="$.p", reset="value > 320"),
    ConditionTrigger("value <= 3 or value == 4", tool="t1", mode=Mode.LEVEL, min_gap_minutes=90, until=AT, count=2),
)
VALUES: tuple[Json, ...] = (None, True, False, 412.5, "x", {"a": 1}, [1])


@OTHERS
@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: f"{kind_of(trigger)}")
def test_a_trigger_is_described_in_the_persons_language(trigger: Trigger, language: str) -> None:
    english = in_words(trigger, BERLIN)
    with speaking(language):
        words = in_words(trigger, BERLIN)
    assert words != english
    assert english_in(words, language) == []


@OTHERS
def test_two_crons_of_other_times_read_otherwise_in_each_language(language: str) -> None:
    with speaking(language):
        assert len({cron_in_words(cron) for cron in CRONS}) == len(CRONS) - 1, "@hourly is there in fields too"


def test_cron_is_worded_as_people_say_it() -> None:
    assert [cron_in_words(cron) for cron in ("*/15 9-17 * * 1-5", "0 8,20 1,15 3 *", "0 8 15 * 1", "0 9 * * 5L")] == [
        "every 15 minutes of the hours 9–17, on weekdays",
        "at 08:00 and 20:00, on day 1 and 15 of the month, in March",
        "at 08:00, on day 15 of the month or on Monday",
        "at 09:00, on the last Friday of the month",
    ]
    with speaking("de"):
        assert cron_in_words("30 18 * * 1,4") == "jeden Montag und Donnerstag um 18:30 Uhr"
        assert cron_in_words("0 9 * * 1#1") == "um 09:00 Uhr, am ersten Montag des Monats"
    with speaking("zh"):
        assert cron_in_words("0 8 * * 1-5") == "每个工作日 08:00"


@OTHERS
def test_what_a_run_tells_is_in_the_persons_language(language: str) -> None:
    watch = ConditionTrigger("value < 3", url=PAGE)
    task = Task("t", "k", 4, "T4", watch, kind_of(watch), zone="Europe/Berlin")
    cause: JsonObject = {"new": 2, "old": None, "looked": False, "late": True}
    run = TaskRun("r", "k", "o", NOW, RunState.COMPLETED, cause=cause)
    texts = [set_aside_text(task, language)]
    with speaking(language):
        texts += [result_text(task, run, "R"), failed_text(task, "R"), disabled_text(task)]
        texts += [failing_look_text(task, "R."), in_words(UnreadableTrigger("schedule", {}), BERLIN)]
        texts += [reason_in_words(reason) for reason in Reason if reason is not Reason.FAILURES]
        texts += [value_in_words(value) for value in VALUES]
        texts += [way_in_words(channel) for channel in ("sms", "slack", "telegram", "email", "push", "terminal", "c9")]
    assert [english_in(text, language) for text in texts] == [[]] * len(texts)
    assert "R" in texts[1]
    with speaking("de"):
        assert result_text(task, run, "R") == (
            "R\nVorher: unbekannt. Jetzt: 2.\n(Das war am Mo., 2. März 2026, 09:00 Uhr fällig.)"
        )
        assert value_in_words(412.5) == "412,5"
        assert value_in_words({"Stück": ["größer"]}) == '{"Stück": ["größer"]}'


@OTHERS
async def test_why_and_dry_run_are_in_the_persons_language(harness: Harness, language: str) -> None:
    """Every state of a task and of a run, and every fate of a notice, is asked for."""
    tasks = [
        await harness.engine.create_task(
            tenant_id=harness.tenant, trigger=trigger, action={"instruction": "I"}, title="T", executor="counting"
        )
        for trigger in (
            ScheduleTrigger(interval_minutes=60, start=NOW, missed=Missed.ALL),
            ConditionTrigger("value < 300", url=PAGE, every_minutes=60),
            EventTrigger("x1", "y1", {"a": 1}),
        )
    ]
    for number, page in enumerate((310, 290, ToolFailed("E1"), 290)):
        harness.world.pages[PAGE] = page
        harness.counting.results.append(ActionResult(number != 1, "R1", "" if number != 1 else Reason.NO_EXECUTOR))
        for a in (1, 2):
            event = Event("x1", "y1", {"a": a}, f"e{number}{a}", harness.tenant, NOW)
            await harness.engine.events.keep(event)
            await harness.engine.fire_for_event(harness.tenant, event)
        await harness.work()
        harness.clock.move(minutes=61)
    await harness.engine.run_now(harness.tenant, tasks[0].id)
    admin = harness.store.admin
    said = []
    for state in RunState:
        for fate in NotificationStatus:
            await admin.execute("update task_runs set state = $1, reason = $2", state, Reason.MISSED)
            await admin.execute("update run_notices set fate = $1, place = 'sms'", fate)
            with speaking(language):
                said += [str((await explain(harness.engine, await harness.again(task)))["text"]) for task in tasks]
    for column, value in (*(("state", state) for state in TaskState), ("held", True), ("set_aside", "E")):
        await admin.execute(f"update tasks set {column} = $1, reason = $2, failures = 5", value, Reason.UNFORESEEN)  # noqa: S608
        await admin.execute("update tasks set state = 'DISABLED' where set_aside <> ''")
        with speaking(language):
            said += [str((await explain(harness.engine, await harness.again(task)))["text"]) for task in tasks]
            said += [line for task in tasks for line in await dry_run(harness.engine, await harness.again(task))]
    await admin.execute("update tasks set deleted_at = now(), fired = 0")
    await admin.execute("delete from task_runs")
    await admin.execute("update tenants set timezone = 'Mars/Base'")
    with speaking(language):
        said += [str((await explain(harness.engine, await harness.again(task)))["text"]) for task in tasks]
    assert {piece: text for text in said for piece in english_in(text, language)} == {}
    assert any("E1" in text for text in said), "the failed look is among them"


@OTHERS
async def test_what_a_task_tells_outside_a_turn_is_in_the_persons_language(harness: Harness, language: str) -> None:
    await harness.store.db.tenants.change({"language": language})
    watch = ConditionTrigger("value.b < 300", url=PAGE, path="$.a", every_minutes=1)
    schedule = ScheduleTrigger(interval_minutes=1)
    _, broken = [
        await harness.engine.create_task(
            tenant_id=harness.tenant, trigger=trigger, action={"instruction": "I"}, title=title
        )
        for trigger, title in ((watch, "W1"), (schedule, "S1"))
    ]
    harness.world.pages[PAGE] = '{"b": 1}'
    for _ in range(6):
        await harness.work()
        harness.clock.move(days=1)
    await harness.engine.set_aside(harness.tenant, broken.id, LookupError("E1"))
    await harness.work()
    said = [text for text in (news.text for news in harness.notifier.said) if "W1" in text or "S1" in text]
    assert len(said) >= 2
    assert [english_in(text, language) for text in said] == [[]] * len(said)
    with speaking(language):
        [told] = [text for text in said if "W1" in text]
        assert gettext("{path} finds nothing in the result.", path="$.a") in told


@OTHERS
def test_what_a_trial_sees_is_in_the_persons_language(language: str) -> None:
    watch = ConditionTrigger("value < 3", url=PAGE)
    known = KnownSources(sources=["x1"], seen={"x1": ["y2"]})
    with speaking(language):
        texts = [
            seen_now(watch, Judged(Watch(value=2), fires=True), 2),
            last_event(EventTrigger("x1", "y1"), known),
            last_event(EventTrigger("x1", "y1"), KnownSources(sources=["x1"])),
        ]
    assert [english_in(text, language) for text in texts] == [[]] * 3
