"""Every field of every trigger, fed with anything: one plain sentence, or a trigger whose times never raise."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abilities.events.types import Event
from abilities.tasks.codec import Trigger, trigger_from_json, trigger_to_json
from abilities.tasks.descriptions import in_words
from abilities.tasks.kinds.condition import ConditionTrigger, Watch, next_look
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from abilities.tasks.runs.misfires import Course
from core.errors import ToolRetry
from core.json_types import JsonObject
from tests.abilities.tasks.harness import Harness
from tests.examples import examples

ZONES = [
    ZoneInfo(name)
    for name in ("UTC", "America/New_York", "Pacific/Kiritimati", "Pacific/Niue", "Africa/Monrovia", "Europe/Dublin",
                 "Asia/Kathmandu", "Australia/Lord_Howe", "Antarctica/Troll", "America/Scoresbysund")
]  # fmt: skip
MOMENTS = st.integers(86_400, 7_258_032_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
WRITTEN = st.one_of(
    st.datetimes().map(datetime.isoformat),
    st.datetimes(timezones=st.timezones()).map(datetime.isoformat),
    st.sampled_from(["9999-12-31T23:59", "0001-01-01T00:00", "2199-12-31T23:59:59.999999", "1970-01-01", "2026-W09"]),
)
NUMBERS = st.one_of(st.integers(), st.floats(), st.integers(1, 400), st.floats(0.01, 50_000))
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=20) | WRITTEN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
CRON = st.lists(
    st.sampled_from(["*", "0", "*/5", "1-5", "29", "30", "31", "2", "L", "MON", "0,30", "1#3", "LW", "-1", "60", "x"]),
    min_size=4, max_size=6,
).map(" ".join)  # fmt: skip
PATHS = st.sampled_from(["$.a", "$", "$..a", "a.b.0", "$[?@.a > 1]", "$[", "", "0." * 9, "$[99999999999999999999]"])
FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "schedule": {
        "cron": CRON | JSON, "interval_minutes": NUMBERS | JSON, "at": WRITTEN | JSON, "timezone": JSON,
        "start": WRITTEN | JSON, "until": WRITTEN | JSON, "count": NUMBERS | JSON, "jitter_seconds": NUMBERS | JSON,
        "missed": st.sampled_from(["skip", "once", "all"]) | JSON, "grace_minutes": NUMBERS | JSON,
        "every": st.integers(1, 366) | NUMBERS | JSON,
    },
    "event": {
        "source": JSON, "type": JSON, "count": NUMBERS | JSON,
        "filter": st.dictionaries(PATHS, JSON | st.dictionaries(st.sampled_from(
            ["eq", "ne", "gt", "lt", "in", "contains", "starts_with", "exists", "near"]), JSON)) | JSON,
    },
    "condition": {
        "expression": st.sampled_from(["value > previous", "contains(value, 'a')", "value", "1/0"]) | JSON,
        "url": JSON, "tool": JSON, "arguments": JSON, "path": PATHS | JSON, "every_minutes": NUMBERS | JSON,
        "mode": st.sampled_from(["edge", "level"]) | JSON, "reset": JSON, "min_gap_minutes": NUMBERS | JSON,
        "until": WRITTEN | JSON, "count": NUMBERS | JSON,
    },
}  # fmt: skip
WHOLE: dict[str, list[JsonObject]] = {
    "schedule": [{"cron": "0 9 * * *"}, {"interval_minutes": 90}, {"at": "2027-01-31T15:00"}],
    "event": [{"source": "shop", "type": "*"}],
    "condition": [{"expression": "value < 300", "url": "https://shop.example/price"}],
}


@st.composite
def written(draw: st.DrawFn) -> tuple[str, JsonObject]:
    """Write a trigger down that makes sense, but for a few of its fields, which may hold anything."""
    kind = draw(st.sampled_from(list(FIELDS)))
    fields = FIELDS[kind]
    given: JsonObject = dict(draw(st.sampled_from(WHOLE[kind])))
    for name in draw(st.lists(st.sampled_from(list(fields)), max_size=4, unique=True)):
        given[name] = draw(fields[name])
    return kind, given


def read(kind: str, kept: JsonObject) -> Trigger | None:
    """Read a trigger; None where it is refused, which is one plain sentence."""
    try:
        return trigger_from_json(kind, kept)
    except TriggerError as error:
        sentence = str(error)
    assert "\n" not in sentence
    return None


@examples(600)
@given(written(), st.sampled_from(ZONES), MOMENTS, MOMENTS, st.integers(0, 2_000_000))
@example(
    ("schedule", {"cron": "* * * * *", "until": "9999-12-31T23:59"}), ZONES[1], datetime(2026, 3, 2, tzinfo=UTC),
    datetime(2026, 3, 2, tzinfo=UTC), 0,
)  # fmt: skip
@example(
    ("schedule", {"cron": "0 9 * * *", "start": "2026-03-02T10:00"}), ZONES[0], datetime(2026, 3, 2, tzinfo=UTC),
    datetime(2026, 3, 3, tzinfo=UTC), 0,
)  # fmt: skip
def test_promise_14_any_field_is_refused_in_a_sentence_or_never_raises(
    whole: tuple[str, JsonObject], zone: ZoneInfo, due: datetime, now: datetime, fired: int
) -> None:
    kind, kept = whole
    trigger = read(kind, kept)
    if trigger is None:
        return
    plain = json.loads(json.dumps(trigger_to_json(trigger), allow_nan=False))
    assert trigger_from_json(kind, plain) == trigger, "what is kept is read again as it was"
    assert in_words(trigger, zone)
    match trigger:
        case ScheduleTrigger():
            own = trigger.zone(zone.key)
            course = Course("task_1", trigger, own, due - timedelta(days=1), fired)
            trigger.last_before(now, own, due)
            course.taken_at(trigger.next_after(now, own, due))
            plan = course.plan(min(due, now), now)
            assert all(moment <= now for moment in plan.fires)
            course.taken_at(plan.next_due)
        case ConditionTrigger():
            next_look(trigger, Watch(errors=fired), now, zone)
        case EventTrigger():
            trigger.differs_in(Event("shop", "paid", {"a": {"b": [1, "x", None]}}, "tn_1", "evt_1"))


@pytest.mark.parametrize(
    ("kind", "given", "word"),
    [
        ("schedule", {"cron": "0 9 * * *", "until": "9999-12-31T23:59"}, "2199"),
        ("schedule", {"at": "2200-01-01T00:00"}, "2199"),
        ("schedule", {"cron": "0 9 * * *", "start": "0001-01-01T00:00+14:00"}, "1970"),
        ("schedule", {"cron": "0 9 * * *", "count": 99999999999}, "Count"),
        ("schedule", {"cron": "0 9 * * *", "jitter_seconds": 1e300}, "jitter"),
        ("schedule", {"cron": "0 9 * * *", "grace_minutes": float("nan")}, "grace"),
        ("schedule", {"interval_minutes": float("inf")}, "interval"),
        ("schedule", {"at": 5}, "Moment"),
        ("event", {"count": 99999999999}, "Count"),
        ("event", {"filter": {"a": [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]}}, "Filter"),
        ("condition", {"expression": "value", "tool": "x", "count": 2**31}, "Count"),
        ("condition", {"expression": "value", "tool": "x", "until": "9999-12-31"}, "2199"),
        ("condition", {"expression": "value", "tool": "x", "min_gap_minutes": True}, "gap"),
    ],
)
async def test_odd_dates_counts_and_spans_end_at_the_way_in_with_a_sentence(
    harness: Harness, kind: str, given: JsonObject, word: str
) -> None:
    await harness.store.db.tenants.change({"timezone": "America/New_York"})
    with pytest.raises(ToolRetry, match=word) as refused:
        await harness.engine.for_tenant(harness.tenant).create({"kind": kind, **given}, {"instruction": "go"})
    assert str(refused.value).endswith(".")
    assert await harness.store.db.tasks.count() == 0
