"""Which events match, when a condition is told, and what an expression may do."""

import tracemalloc
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abilities.events.types import Event
from abilities.tasks.codec import kind_of, trigger_from_json, trigger_to_json
from abilities.tasks.descriptions import in_words
from abilities.tasks.kinds.condition import ConditionTrigger, Mode, Watch, judge, next_look
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.expressions import check_expression, evaluate
from abilities.tasks.kinds.schedule import Missed, ScheduleTrigger, TriggerError
from core.json_types import Json, JsonObject
from tests.examples import examples

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
DATA: JsonObject = {
    "from": "Shipping <ship@Amazon.com>",
    "total": 30,
    "sender": {"email": "a@b.example"},
    "items": [{"price": 5, "name": "pen"}, {"price": 50, "name": "ink"}],
    "tags": ["new", "box"],
}


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        ({}, True),
        ({"from": {"contains": "amazon"}}, True),
        ({"from": {"contains": "ebay"}}, False),
        ({"total": 30}, True),
        ({"total": {"gt": 30}}, False),
        ({"total": {"gte": 30, "lt": 31}}, True),
        ({"total": {"gt": "29"}}, False),
        ({"sender.email": {"ends_with": "B.EXAMPLE"}}, True),
        ({"items.1.price": {"in": [50, 51]}}, True),
        ({"$.items[*].price": {"gt": 40}}, True),
        ({"$.items[?@.price > 60]": {"exists": True}}, False),
        ({"$.items[?@.name == 'ink'].price": 50}, True),
        ({"tags": {"contains": "box"}}, True),
        ({"missing": {"exists": False}}, True),
        ({"missing": {"ne": 3}}, True),
        ({"missing": 3}, False),
        ({"total": 30, "from": {"starts_with": "ship"}}, True),
        ({"total": 31, "from": {"starts_with": "ship"}}, False),
    ],
)
def test_an_events_fields_are_compared(wanted: JsonObject, matches: bool) -> None:
    event = Event("shop", "order.sent", DATA, "1")
    assert EventTrigger("shop", "order.*", wanted).matches(event) is matches
    assert not EventTrigger("other", "order.*", wanted).matches(event)
    assert EventTrigger("shop", "paid", wanted).differs_in(event) == "type"


@pytest.mark.parametrize(
    "wanted",
    [{"a": {"like": 1}}, {"$.a[": 1}, {"$[?match(@.a, '(a+)+b')]": {"exists": True}}, {"$[?search(@, 'a')]": 1}],
)
def test_a_filter_that_makes_no_sense_or_may_run_for_hours_is_refused(wanted: JsonObject) -> None:
    with pytest.raises(TriggerError):
        EventTrigger("*", "*", wanted)


def flips(trigger: ConditionTrigger, values: list[Json], minutes: float = 15) -> list[int]:
    """Return the places in a row of looks at which a condition is told."""
    watch, notified = Watch(), []
    for place, value in enumerate(values):
        judged = judge(trigger, watch, value, NOW + timedelta(minutes=minutes) * place)
        watch = Watch.from_json(judged.watch.to_json())
        if judged.fires:
            notified.append(place)
    return notified


def test_an_edge_is_told_when_it_becomes_true_and_a_level_whenever_it_is() -> None:
    prices: list[Json] = [320, 290, 280, 310, 295, 400, 299]
    below = ConditionTrigger("value < 300", url="https://x.example")
    assert flips(below, prices) == [1, 4, 6]
    assert flips(ConditionTrigger("value < 300", url="https://x.example", mode=Mode.LEVEL), prices) == [1, 2, 4, 6]
    assert flips(ConditionTrigger("value < 300", url="https://x.example", reset="value > 350"), prices) == [1, 6]
    gap = ConditionTrigger("value < 300", url="https://x.example", mode=Mode.LEVEL, min_gap_minutes=60)
    assert flips(gap, prices) == [1, 6]
    assert flips(below, [290]) == [0]
    changed = ConditionTrigger("previous != None and value != previous", url="https://x.example", mode=Mode.LEVEL)
    assert flips(changed, [1, 1, 2, 2, 3]) == [2, 4]


def test_a_failed_check_is_retried_with_backoff_and_reports_nothing() -> None:
    trigger = ConditionTrigger("value < 300", url="https://x.example", path="$.price", every_minutes=10)
    watch, spans = Watch(), []
    results: list[Json] = [{"price": 310}, {"other": 1}, {"price": "soon"}, "no json", {"price": 290}]
    for result in results:
        judged = judge(trigger, watch, result, NOW)
        watch = judged.watch
        due = next_look(trigger, watch, NOW, ZoneInfo("UTC"))
        assert due is not None
        spans.append((due - NOW) / timedelta(minutes=1))
    assert spans == [10, 10, 20, 40, 10]
    assert (judged.fires, judged.old, judged.new) == (True, 310, 290)
    assert [("error" in look) for look in watch.seen] == [False, True, True, True, False]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "value.__class__",
        "value.format(1)",
        "[1 for _ in value]",
        "lambda: 1",
        "open('x')",
        "9**9**9",
        "secret > 1",
        "value = 3",
        "f'{value}'",
        "value" + " + value" * 300,
        "",
        "(" * 400 + ")" * 400,
    ],
)
def test_an_expression_may_compare_and_nothing_else(text: str) -> None:
    with pytest.raises(TriggerError):
        check_expression(text, frozenset({"value"}))


def test_expressions_reach_into_results_and_fail_in_words() -> None:
    names: dict[str, Json] = {"value": 290, "result": {"legs": [{"price": "1,299.50 €"}]}, "previous": None}
    assert evaluate("number(result.legs[0].price) > 1299 and value < 300", names)
    assert evaluate("contains(result['legs'], 'PRICE')", names)
    with pytest.raises(TriggerError, match="could not be evaluated"):
        evaluate("previous < 300", names)
    tracemalloc.start()
    with pytest.raises(TriggerError):
        evaluate("len('a' * 999999999) > 1", names)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000, "the text was made"


@examples(20)
@given(st.text(max_size=40))
def test_no_text_gets_past_the_check_and_then_does_more_than_compare(text: str) -> None:
    try:
        check_expression(text, frozenset({"value"}))
    except TriggerError:
        return
    with suppress(TriggerError):
        assert evaluate(text, {"value": 1}) in (True, False)


@pytest.mark.parametrize(
    "trigger",
    [
        ScheduleTrigger(cron="0 8 * * *", timezone="Asia/Shanghai", missed=Missed.ALL, count=3),
        ScheduleTrigger(at=datetime.fromisoformat("2026-03-02T15:00")),
        ScheduleTrigger(interval_minutes=0.5, start=NOW, until=NOW + timedelta(days=1)),
        EventTrigger("shop", "order.*", {"total": {"gt": 3}}),
        ConditionTrigger("value < 3", tool="get_weather", arguments={"city": "Rome"}, mode=Mode.LEVEL),
    ],
)
def test_a_trigger_is_the_same_after_it_was_kept(trigger: ScheduleTrigger | EventTrigger | ConditionTrigger) -> None:
    assert trigger_from_json(kind_of(trigger), trigger_to_json(trigger)) == trigger


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (
            ConditionTrigger("value < 300 and previous != '< 1'", url="https://x.example", every_minutes=60),
            "when it becomes true that value is under 300 and previous is not '< 1', "
            "looking at https://x.example every hour",
        ),
        (
            ConditionTrigger(
                "value >= 3", tool="get_weather", path="$.max", reset="value<1", min_gap_minutes=60, count=2
            ),
            "when it becomes true that value is at least 3, looking at get weather (max) every 15 minutes, "
            "told again after value is under 1, at most every hour, 2 times at most",
        ),
        (
            ConditionTrigger("value", tool="x", mode=Mode.LEVEL, until=datetime.fromisoformat("2026-03-02T15:00")),
            "when it is found true that value, looking at x every 15 minutes, until Mon 2 Mar 2026, 15:00",
        ),
        (EventTrigger("home", "rang", count=1), "when rang happens in home, once"),
        (
            ScheduleTrigger(cron="0 8 * * *", timezone="Asia/Tokyo"),
            "every day at 08:00 (Asia/Tokyo)",
        ),
    ],
)
def test_a_trigger_is_said_with_all_that_bounds_it(
    trigger: ScheduleTrigger | EventTrigger | ConditionTrigger, words: str
) -> None:
    assert in_words(trigger, ZoneInfo("Europe/Berlin")) == words


@pytest.mark.parametrize("minutes", [0, 0.5, -1, 44_641, float("nan"), float("inf")])
def test_how_often_is_bounded_in_words(minutes: float) -> None:
    with pytest.raises(TriggerError, match="at most once a minute, and at least every 31 days"):
        ConditionTrigger("value < 3", tool="x", every_minutes=minutes)
    if not 0 < minutes < 1e6:
        with pytest.raises(TriggerError, match="between a second and ten years"):
            ScheduleTrigger(interval_minutes=minutes)


def test_a_watch_ends_at_the_wall_time_of_its_person() -> None:
    trigger = ConditionTrigger("value < 3", tool="x", until=datetime.fromisoformat("2026-03-02T15:00"))
    tokyo = ZoneInfo("Asia/Tokyo")
    before, after = datetime(2026, 3, 2, 5, 40, tzinfo=UTC), datetime(2026, 3, 2, 5, 50, tzinfo=UTC)
    assert next_look(trigger, Watch(), before, tokyo) == before + timedelta(minutes=15)
    assert next_look(trigger, Watch(), after, tokyo) is None
    assert next_look(trigger, Watch(), after, ZoneInfo("UTC")) is not None
