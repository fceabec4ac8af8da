"""Promise 13: what is due when, on clock changes too, and what becomes of what was missed."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abilities.tasks.descriptions import in_words
from abilities.tasks.kinds.schedule import Missed, ScheduleTrigger, TriggerError, wall_moment
from abilities.tasks.runs.misfires import Course, Plan
from tests.examples import examples

BERLIN, NEW_YORK, SYDNEY, LORD_HOWE = (
    ZoneInfo(name) for name in ("Europe/Berlin", "America/New_York", "Australia/Sydney", "Australia/Lord_Howe")
)
UTC_ZONE = ZoneInfo("UTC")
MONDAY = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def due_on(cron: str, zone: ZoneInfo, day: tuple[int, int, int]) -> list[str]:
    """Return the wall times, with their offsets, at which a cron is due on a day."""
    trigger, moment = ScheduleTrigger(cron=cron), datetime(*day, tzinfo=zone) - timedelta(seconds=1)
    problems: list[str] = []
    while (due := trigger.next_after(moment, zone, MONDAY)) is not None and due.astimezone(zone).date() <= date(*day):
        problems.append(due.astimezone(zone).strftime("%H:%M%z"))
        moment = due
    return problems


@pytest.mark.parametrize(
    ("zone", "spring", "autumn", "before", "after"),
    [
        (BERLIN, (2026, 3, 29), (2026, 10, 25), "+0100", "+0200"),
        (NEW_YORK, (2026, 3, 8), (2026, 11, 1), "-0500", "-0400"),
        (SYDNEY, (2026, 10, 4), (2026, 4, 5), "+1000", "+1100"),
    ],
)
def test_promise_13_0130_and_0230_run_once_a_day_on_both_clock_changes(
    zone: ZoneInfo, spring: tuple[int, int, int], autumn: tuple[int, int, int], before: str, after: str
) -> None:
    first = due_on("30 1 * * *", zone, spring)
    second = due_on("30 2 * * *", zone, spring)
    # 02:30 does not exist on the day on which the clocks go forward: the first moment after it counts.
    assert (first, second) == ([f"01:30{before}"], [f"03:00{after}"])
    first, second = due_on("30 1 * * *", zone, autumn), due_on("30 2 * * *", zone, autumn)
    # In New York 01:30 comes twice, in Berlin and Sydney 02:30: the first of the two counts.
    assert first == [f"01:30{after}"]
    assert second == ([f"02:30{before}"] if zone is NEW_YORK else [f"02:30{after}"])
    # What follows real time does so: twice an hour, in 23 and in 25 hours.
    assert len(due_on("*/30 * * * *", zone, spring)) == 46
    assert len(due_on("*/30 * * * *", zone, autumn)) == 50


def test_a_wall_time_that_is_skipped_or_repeated_is_one_moment() -> None:
    assert wall_moment(datetime.fromisoformat("2026-03-08T02:30"), NEW_YORK) == datetime(2026, 3, 8, 7, 0, tzinfo=UTC)
    assert wall_moment(datetime.fromisoformat("2026-11-01T01:30"), NEW_YORK) == datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
    assert wall_moment(datetime.fromisoformat("2026-10-04T02:10"), LORD_HOWE) == datetime(
        2026, 10, 3, 15, 30, tzinfo=UTC
    )
    assert wall_moment(MONDAY.astimezone(SYDNEY), NEW_YORK) == MONDAY


def test_intervals_count_from_their_start_or_creation_across_clock_changes() -> None:
    made = datetime(2026, 3, 8, 6, 0, 10, tzinfo=UTC)
    hourly = ScheduleTrigger(interval_minutes=60)
    first = hourly.next_after(made, NEW_YORK, made)
    assert first == made + timedelta(hours=1)
    assert hourly.next_after(first, NEW_YORK, made) == made + timedelta(hours=2)
    started = ScheduleTrigger(interval_minutes=60, start=made)
    assert started.next_after(made - timedelta(days=1), NEW_YORK, MONDAY) == made
    assert started.last_before(made - timedelta(seconds=1), NEW_YORK, MONDAY) is None


def test_a_cron_expression_is_due_from_its_start_on() -> None:
    start = MONDAY + timedelta(days=10)
    trigger = ScheduleTrigger(cron="0 8 * * *", start=start)
    assert trigger.next_after(MONDAY, UTC_ZONE, MONDAY) == start
    assert trigger.next_after(start, UTC_ZONE, MONDAY) == start + timedelta(days=1)


def test_until_and_a_moment_in_the_past_end_a_schedule() -> None:
    trigger = ScheduleTrigger(cron="0 8 * * *", until=datetime.fromisoformat("2026-03-04T12:00"))
    days = [MONDAY - timedelta(hours=2)]
    while (due := trigger.next_after(days[-1], BERLIN, MONDAY)) is not None:
        days.append(due)
    assert [day.astimezone(BERLIN).day for day in days[1:]] == [2, 3, 4]
    assert trigger.last_before(MONDAY + timedelta(days=99), BERLIN, MONDAY) == days[-1]
    once = ScheduleTrigger(at=datetime.fromisoformat("2026-03-02T15:00"), timezone="America/New_York")
    assert once.next_after(MONDAY, once.zone("Europe/Berlin"), MONDAY) == datetime(2026, 3, 2, 20, 0, tzinfo=UTC)
    assert once.next_after(MONDAY + timedelta(days=1), NEW_YORK, MONDAY) is None


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"cron": "0 8 * * *", "interval_minutes": 5},
        {"cron": "61 8 * * *"},
        {"cron": "0 0 8 * * *"},
        {"cron": "0 0 31 2 *"},
        {"interval_minutes": 0},
        {"cron": "0 8 * * *", "timezone": "Mars/Base"},
        {"cron": "0 8 * * *", "count": 0},
    ],
)
def test_a_schedule_that_makes_no_sense_is_refused_in_a_sentence(values: dict[str, object]) -> None:
    with pytest.raises(TriggerError, match=r"\.$"):
        ScheduleTrigger(**values)  # type: ignore[arg-type]


CRONS = st.builds(
    lambda minute, hour, day: f"{minute} {hour} * * {day}",
    st.sampled_from(["0", "30", "59", "*/7", "*", "0,45"]),
    st.sampled_from(["*", "0", "1", "2", "3", "23", "*/5", "1-3"]),
    st.sampled_from(["*", "1-5", "0", "6,0"]),
)


@examples(20)
@given(
    cron=CRONS,
    zone=st.sampled_from([BERLIN, NEW_YORK, SYDNEY, LORD_HOWE, UTC_ZONE]),
    minutes=st.integers(0, 600_000),
)
def test_occurrences_rise_and_looking_back_finds_the_same(cron: str, zone: ZoneInfo, minutes: int) -> None:
    trigger, moment = ScheduleTrigger(cron=cron), MONDAY + timedelta(minutes=minutes)
    first = trigger.next_after(moment, zone, MONDAY)
    assert first is not None
    second = trigger.next_after(first, zone, MONDAY)
    assert second is not None
    assert moment < first < second
    assert trigger.last_before(second - timedelta(seconds=1), zone, MONDAY) == first
    assert trigger.last_before(second, zone, MONDAY) == second


def plan(missed: str, late: timedelta, *, grace: float | None = None, **more: object) -> Plan:
    """Plan for a daily task, due on Monday, that is looked at so much later."""
    trigger = ScheduleTrigger(cron="0 8 * * *", missed=Missed(missed), grace_minutes=grace, **more)  # type: ignore[arg-type]
    return Course("task_1", trigger, UTC_ZONE, MONDAY).plan(MONDAY, MONDAY + late)


def test_promise_13_missed_runs_are_skipped_run_once_or_all_within_grace() -> None:
    day = timedelta(days=1)
    for missed in Missed:
        assert plan(missed, timedelta(seconds=30)) == Plan((MONDAY,), next_due=MONDAY + day)
    late, three = timedelta(hours=2), timedelta(days=3, hours=2)
    assert plan("skip", late) == Plan((), skipped=MONDAY, next_due=MONDAY + day)
    assert plan("once", late) == Plan((MONDAY,), next_due=MONDAY + day)
    assert plan("once", three) == Plan((MONDAY + 3 * day,), missed_since=MONDAY, next_due=MONDAY + 4 * day)
    nothing = plan("once", three, grace=60)
    assert nothing == Plan((), skipped=MONDAY + 3 * day, missed_since=MONDAY, next_due=MONDAY + 4 * day)
    whole = plan("all", three, grace=60 * 24 * 7)
    assert whole.fires == tuple(MONDAY + n * day for n in range(4))
    assert plan("all", three, grace=60 * 30).fires == (MONDAY + 2 * day, MONDAY + 3 * day)
    assert plan("all", three, grace=60 * 24 * 7, count=2).next_due is None


def test_jitter_is_the_same_for_one_occurrence_and_within_its_bounds() -> None:
    course = Course("task_1", ScheduleTrigger(cron="0 8 * * *", jitter_seconds=300), UTC_ZONE, MONDAY)
    taken = [course.taken_at(MONDAY + timedelta(days=n)) for n in range(20)]
    late = [at - MONDAY - timedelta(days=n) for n, at in enumerate(taken) if at is not None]
    assert taken == [course.taken_at(MONDAY + timedelta(days=n)) for n in range(20)]
    assert all(timedelta() <= delay < timedelta(seconds=300) for delay in late)
    assert len(set(late)) > 15


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (ScheduleTrigger(cron="0 8 * * 1-5"), "every weekday at 08:00 (Europe/Berlin)"),
        (
            ScheduleTrigger(cron="30 18 * * 1,4", count=3),
            "every Monday and Thursday at 18:30 (Europe/Berlin), 3 times at most",
        ),
        (ScheduleTrigger(interval_minutes=90), "every 1 hour and 30 minutes (Europe/Berlin)"),
        (ScheduleTrigger(interval_minutes=1197), "every 19 hours and 57 minutes (Europe/Berlin)"),
        (
            ScheduleTrigger(at=datetime.fromisoformat("2026-03-02T15:00")),
            "once, on Mon 2 Mar 2026, 15:00 (Europe/Berlin)",
        ),
    ],
)
def test_a_schedule_is_said_in_words(trigger: ScheduleTrigger, words: str) -> None:
    assert in_words(trigger, BERLIN) == words


@given(
    st.tuples(
        st.sampled_from(["0", "*/15", "10-20"]),
        st.sampled_from(["8", "*", "9-17", "8,20"]),
        st.sampled_from(["*", "15", "L", "1-7"]),
        st.sampled_from(["*", "1-3", "*/3"]),
        st.sampled_from(["*", "1", "MON-FRI", "5L", "1#2", "0,6"]),
    ).map(" ".join),
    st.data(),
)
def test_promise_9_cron_in_words_names_every_field(cron: str, data: st.DataObject) -> None:
    """A card shows the words in place of the fields, so two schedules are never two equal texts."""
    fields = cron.split()
    place = data.draw(st.integers(0, 4))
    fields[place] = data.draw(st.sampled_from(["3", "2,4"]))
    other = " ".join(fields)
    words = [in_words(ScheduleTrigger(cron=text), UTC_ZONE) for text in (cron, other)]
    assert words[0] != words[1]
    assert not [text for text in words if "* *" in text]
