"""What people and models wrote is worked out in counted steps, apart from the loop: nothing of it holds others up."""

import asyncio
import json
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abilities.events.types import Event
from abilities.tasks.explain import explain
from abilities.tasks.kinds.condition import ConditionTrigger, Judged, Watch, judge
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.expressions import evaluate
from abilities.tasks.kinds.json_paths import find
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.kinds.step_limit import FILTER_STEPS, MAX_STEPS, Steps
from abilities.tasks.runs import condition_checks as looking
from abilities.tasks.types import Task
from core.json_types import Json, JsonObject
from tests.abilities.tasks.harness import Harness
from tests.abilities.tasks.test_condition_checks import URL, watching
from tests.examples import examples
from tests.patience import PATIENCE

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
LARGE = "x" * 2_000_000


def deep(depth: int = 90) -> JsonObject:
    """Return JSON that nests so deep, a little of it at each place."""
    value: JsonObject = {"a": 1, "b": 2}
    for _ in range(depth - 1):
        value = {"a": value, "b": 2}
    return value


FOREVER = ["$..*..*..*..*", "$..*..*..*..*..*..*", "$..a..a..a..a..a", "$..[*,*,*,*]..[*,*,*,*]..[*,*,*,*]"]
REFUSED = [
    *FOREVER,
    "$..[?@..a]",
    "$[?count(@..*) > 1]",
    "$[?@[?@.a]]",
    "$[?@ == 1e999999999]",
    "$" + ".a" * 300,
    "$[" + "*," * 200 + "*]" + "[*]" * 60,
]


@pytest.mark.parametrize("path", FOREVER)
def test_a_path_that_multiplies_ends_after_so_many_steps(path: str) -> None:
    steps = Steps()
    with pytest.raises(TriggerError, match="too much work"):
        list(find(path, deep(), steps))
    assert steps.taken <= MAX_STEPS + 100
    judged = judge(ConditionTrigger("value == 1", url=URL, path=path), Watch(), {"no": deep()}, NOW)
    assert judged.watch.errors in (0, 1), "a value may be found before it takes too long"


@pytest.mark.parametrize("path", REFUSED)
async def test_a_path_without_bounds_is_refused_when_it_is_asked_for(harness: Harness, path: str) -> None:
    with pytest.raises(TriggerError):
        await watching(harness, path=path)
    with pytest.raises(TriggerError):
        await harness.engine.check_new(harness.tenant, EventTrigger(filter={path: {"exists": True}}))


@pytest.mark.parametrize(
    "text",
    [
        'len("%0999999999d" % 1) > 1',
        "max(" + ",".join(['len("%0999999d" % 1)'] * 20) + ") > 1",
        "'a' * 999999999 == 'a'",
        "len(999999 * text(value)) > 1",
        "result.list * 99999999 == 1",
        "value % 3 == 'a' % 1",
    ],
)
def test_a_text_is_neither_multiplied_nor_formatted(text: str) -> None:
    steps = Steps()
    with pytest.raises(TriggerError, match="could not be evaluated"):
        evaluate(text, {"value": 1, "result": {"list": [1]}}, steps)
    assert steps.taken < 300


@pytest.mark.parametrize("text", ['len("%0999999999d" % 1) > 1', "'a' * 999999999 == 'a'", "9 * 'a' == value"])
async def test_such_a_text_is_refused_when_it_is_asked_for(harness: Harness, text: str) -> None:
    with pytest.raises(TriggerError, match="only numbers are multiplied"):
        await watching(harness, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("value * value * value * value > 1", 10**60),
        ("round(value, -999999999) > 1", 5),
        ("round(value, 999999999) > 1", 5),
        ("value + 1 > 1", 10**4000),
        ("value / 0 > 1", 1),
        ("value + value == 'a'", "x" * 6000),
        ("number(value) > 1", "1e999"),
        ("number(value) > 1", "nan"),
    ],
)
def test_numbers_and_texts_stay_small(text: str, value: Json) -> None:
    with pytest.raises(TriggerError, match="could not be evaluated"):
        evaluate(text, {"value": value})


@pytest.mark.parametrize("part", ["contains(result, 'y')", "lower(result) == 'y'", "text(result) == 'y'"])
def test_what_goes_over_a_large_result_again_and_again_is_an_error(part: str) -> None:
    assert evaluate(part, {"result": LARGE}) is False
    with pytest.raises(TriggerError, match="too much work"):
        evaluate(" or ".join([part] * 18), {"result": LARGE})


@examples(60)
@given(st.lists(st.sampled_from([".a", ".*", "..a", "..*", "[0]", "[1:9]", "[*,*]", "[?@.a]", "[?@ == $.a]", "['b']"])))
def test_the_steps_of_any_path_are_counted(parts: list[str]) -> None:
    steps = Steps(5_000)
    with suppress(TriggerError):
        list(find("$" + "".join(parts), {"a": deep(30), "b": [[1, 2], [3, {"a": 1}]]}, steps))
    assert steps.taken < 5_100


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$", [{"a": [1, {"b": 2}], "c": {"b": 3}}]),
        ("$.a[1].b", [2]),
        ("$..b", [2, 3]),
        ("$.a[-1]", [{"b": 2}]),
        ("$.a[::-1]", [{"b": 2}, 1]),
        ("$['c','a'][*]", [3, 1, {"b": 2}]),
        ("$.a[?@.b == 2].b", [2]),
        ("$[?@.b && length(@) == 1].b", [3]),
        ("$.a[?@ == $.a[0]]", [1]),
        ("$.a[?!@.b]", [1]),
        ("$.a.b", []),
    ],
)
def test_a_path_finds_what_rfc_9535_says(path: str, values: list[Json]) -> None:
    assert list(find(path, {"a": [1, {"b": 2}], "c": {"b": 3}}, Steps())) == values


async def older(harness: Harness, task: Task, trigger: dict[str, Any]) -> None:
    """Give a task a trigger that was kept before it would have been refused."""
    await harness.store.admin.execute(
        "update tasks set trigger = trigger || $2 where id = $1", task.id, json.dumps(trigger)
    )


async def test_an_older_row_without_bounds_is_an_error_of_its_look(harness: Harness) -> None:
    task = await watching(harness)
    await older(harness, task, {"path": "$..*..*..*..*..*[?@ == 77]", "expression": 'len("%0999999999d" % 1) > 1'})
    harness.world.pages[URL] = str(deep()).replace("'", '"')
    await harness.work()
    refreshed = await harness.again(task)
    assert (refreshed.watch["errors"], refreshed.revision) == (1, 1)
    assert "too much work" in str(refreshed.watch["seen"])


async def test_an_older_filter_without_bounds_skips_its_run_alone(harness: Harness) -> None:
    tasks = [
        await harness.engine.create_task(
            tenant_id=harness.tenant, trigger=EventTrigger("shop", type), executor="counting"
        )
        for type in ("*", "sent")
    ]
    await older(harness, tasks[0], {"filter": {"$..*..*..*..*": 77}})
    event = Event("shop", "sent", deep(), "e1", harness.tenant, NOW)
    assert len(await harness.engine.fire_for_event(harness.tenant, event)) == 1
    [skipped] = await harness.runs(tasks[0])
    assert (skipped.state, skipped.reason) == ("SKIPPED", "filter_unclear")
    assert "takes too much work on this event" in str((await explain(harness.engine, tasks[0]))["text"])
    assert await harness.states(tasks[1]) == ["QUEUED"]


@pytest.mark.parametrize(
    "wanted",
    [
        {"a": {"in": [LARGE[:50_000]] * 100}},
        {"$.items[*]": {"contains": "y"}},
        {".".join("a" * 20_000): 1},
    ],
)
def test_a_filter_takes_so_many_steps_and_no_more(wanted: JsonObject) -> None:
    event = Event("shop", "sent", {"a": LARGE[:50_000], "items": ["x" * 500] * 5000}, "e1")
    steps = Steps(FILTER_STEPS)
    with pytest.raises(TriggerError, match="too much work"):
        EventTrigger("*", "*", wanted).matches(event, steps)
    with pytest.raises(TriggerError, match="too much work"):
        EventTrigger("*", "*a" * 50_000).matches(event)


@pytest.mark.parametrize(
    "trigger",
    [EventTrigger("*" * 300), EventTrigger(type="a" * 300), EventTrigger(filter={f"a{n}": n for n in range(30)})],
)
async def test_patterns_and_filters_are_bounded_when_they_are_asked_for(
    harness: Harness, trigger: EventTrigger
) -> None:
    with pytest.raises(TriggerError, match="at most"):
        await harness.engine.create_task(tenant_id=harness.tenant, trigger=trigger, executor="counting")


class Held:
    """Work that ends only when the loop gets on meanwhile."""

    def __init__(self) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()

    def wait(self) -> None:
        """Wait for the loop."""
        self.begun.set()
        assert self.let_go.wait(PATIENCE), "the loop stood still"

    async def tick(self) -> None:
        """Let it go once it has begun."""
        await asyncio.to_thread(self.begun.wait, PATIENCE)
        self.let_go.set()


async def test_the_loop_goes_on_while_a_look_is_worked_out(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held()

    def slow(*given: Any) -> Judged:
        held.wait()
        return judge(*given)

    monkeypatch.setattr(looking, "judge", slow)
    task = await watching(harness)
    harness.world.pages[URL] = "299"
    await asyncio.gather(harness.work(), held.tick())
    assert (await harness.again(task)).watch["value"] == 299


async def test_the_loop_goes_on_while_filters_are_worked_out(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held()

    def slow(*_: Any) -> bool:
        held.wait()
        return True

    await harness.engine.create_task(tenant_id=harness.tenant, trigger=EventTrigger("shop"), executor="counting")
    monkeypatch.setattr(EventTrigger, "matches", slow)
    fired = harness.engine.fire_for_event(harness.tenant, Event("shop", "sent", {}, "e1", harness.tenant, NOW))
    lanes, _ = await asyncio.gather(fired, held.tick())
    assert len(lanes) == 1
