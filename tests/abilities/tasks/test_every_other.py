"""What comes again in every so many weeks, months or days: it keeps its hour, and is read back in words."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abilities.tasks.descriptions import in_words
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from tests.abilities.tasks.harness import Harness

BERLIN, NEW_YORK, SYDNEY = (ZoneInfo(name) for name in ("Europe/Berlin", "America/New_York", "Australia/Sydney"))

MADE = datetime(2027, 1, 1, tzinfo=UTC)


def _coming(trigger: ScheduleTrigger, zone: ZoneInfo, made: datetime, many: int) -> list[datetime]:
    """Return the wall times at which a schedule is due from when it was made on."""
    moment, found = made, list[datetime]()
    while len(found) < many and (due := trigger.next_after(moment, zone, made)) is not None:
        found.append(due.astimezone(zone).replace(tzinfo=None))
        moment = due
    return found


@pytest.mark.parametrize("zone", [BERLIN, NEW_YORK, SYDNEY], ids=str)
def test_every_other_tuesday_at_9_is_at_9_for_years(zone: ZoneInfo) -> None:
    coming = _coming(ScheduleTrigger(cron="0 9 * * 2", every=2), zone, datetime(2027, 3, 3, tzinfo=zone), 60)
    assert coming == [datetime.fromisoformat("2027-03-09T09:00") + timedelta(weeks=2 * at) for at in range(60)]


COURSES = [
    # what is meant, cron, every, when it was made, the first days, in words
    (
        "every other Tuesday",
        "0 9 * * 2",
        2,
        "2027-03-01",
        ["03-02", "03-16", "03-30"],
        "every 2 weeks, at 09:00, on Tuesday",
    ),
    (
        "made on the day, before the hour",
        "0 9 * * 2",
        2,
        "2027-03-02T08:00",
        ["03-02", "03-16"],
        "every 2 weeks, at 09:00, on Tuesday",
    ),
    (
        "made on the day, after it",
        "0 9 * * 2",
        2,
        "2027-03-02T09:00",
        ["03-09", "03-23"],
        "every 2 weeks, at 09:00, on Tuesday",
    ),
    (
        "both days of a week",
        "0 9 * * 2,4",
        2,
        "2027-03-03",
        ["03-04", "03-16", "03-18", "03-30"],
        "every 2 weeks, at 09:00, on Tuesday and Thursday",
    ),
    (
        "a Sunday ends its week",
        "0 9 * * 0,1",
        2,
        "2027-03-01T12:00",
        ["03-07", "03-15", "03-21"],
        "every 2 weeks, at 09:00, on Monday and Sunday",
    ),
    (
        "every third day, past the end of a month",
        "0 9 * * *",
        3,
        "2027-03-24T12:00",
        ["03-25", "03-28", "03-31", "04-03"],
        "every 3 days, at 09:00",
    ),
    (
        "every other month on the 15th",
        "0 9 15 * *",
        2,
        "2027-01-20",
        ["02-15", "04-15", "06-15"],
        "every 2 months, at 09:00, on day 15 of the month",
    ),
    (
        "every quarter on its last Friday",
        "0 9 * * 5L",
        3,
        "2027-01-01",
        ["01-29", "04-30", "07-30"],
        "every 3 months, at 09:00, on the last Friday of the month",
    ),
    (
        "on the 31st of every other month that counts",
        "0 9 31 * *",
        2,
        "2027-01-01",
        ["01-31", "03-31", "05-31", "07-31"],
        None,
    ),
    (
        "every other year",
        "0 9 1 3 *",
        2,
        "2027-01-01",
        ["03-01", "2029-03-01"],
        "every 2 years, at 09:00, on day 1 of the month, in March",
    ),
    (
        "every other Tuesday of a season",
        "0 9 * 6 2",
        2,
        "2027-06-02",
        ["06-08", "06-22", "2028-06-06"],
        "every 2 weeks, at 09:00, on Tuesday, in June",
    ),
    ("every one is what cron says", "0 9 * * 2", 1, "2027-03-01", ["03-02", "03-09"], "every Tuesday at 09:00"),
]


@pytest.mark.parametrize(("meant", "cron", "every", "made", "days", "words"), COURSES, ids=[one[0] for one in COURSES])
def test_every_so_many_periods(
    meant: str, cron: str, every: int, made: str, days: list[str], words: str | None
) -> None:
    trigger = ScheduleTrigger(cron=cron, every=every)
    coming = _coming(trigger, BERLIN, datetime.fromisoformat(made).replace(tzinfo=BERLIN), len(days))
    assert coming == [datetime.fromisoformat(f"{day if len(day) > 5 else f'2027-{day}'}T09:00") for day in days]
    if words is not None:
        assert in_words(trigger, BERLIN) == f"{words} (Europe/Berlin)"


def test_it_counts_from_the_day_that_was_named() -> None:
    trigger = ScheduleTrigger(cron="0 9 * * 2", every=2, start=datetime.fromisoformat("2027-03-09"))
    coming = _coming(trigger, BERLIN, datetime(2027, 2, 1, tzinfo=UTC), 2)
    assert [moment.date() for moment in coming] == [date(2027, 3, 9), date(2027, 3, 23)]


@given(
    st.sampled_from(
        ["0 9 * * 2", "0 9 * * 1,5", "30 2 * * *", "0 9 15 * *", "0 9 31 * *", "0 9 * * 1#1", "0 */6 * * 0"]
    ),
    st.integers(2, 9),
    st.integers(0, 730 * 24 * 60).map(lambda minutes: MADE + timedelta(minutes=minutes)),
    st.timedeltas(timedelta(), timedelta(days=300)),
)
def test_the_newest_before_is_the_one_after_which_the_next_comes(
    cron: str, every: int, made: datetime, later: timedelta
) -> None:
    trigger, now = ScheduleTrigger(cron=cron, every=every), made + later
    past = _instants(trigger, made, now)
    assert trigger.last_before(now, BERLIN, made) == (past[-1] if past else None)
    assert trigger.begun(BERLIN, made).next_after(now, BERLIN, now) == trigger.next_after(now, BERLIN, made)


def _instants(trigger: ScheduleTrigger, made: datetime, until: datetime) -> list[datetime]:
    found, due = list[datetime](), trigger.next_after(made, BERLIN, made)
    while due is not None and due <= until:
        found.append(due)
        due = trigger.next_after(due, BERLIN, made)
    return found


@pytest.mark.parametrize("every", [0, -1, 367, 1.5, "2", True])
def test_a_count_that_makes_no_sense_is_refused(every: object) -> None:
    with pytest.raises(TriggerError, match="from 1 to 366"):
        ScheduleTrigger(cron="0 9 * * 2", every=every)  # type: ignore[arg-type]
    with pytest.raises(TriggerError):
        ScheduleTrigger(interval_minutes=60, every=2)
    with pytest.raises(TriggerError):
        ScheduleTrigger(cron="0 9 * * 2", every=2, days_before=1)


async def test_the_weeks_stay_the_same_over_a_clock_change_a_pause_and_a_move(harness: Harness) -> None:
    engine, store = harness.engine, harness.store
    await store.db.tenants.change({"timezone": "Europe/Berlin"})
    harness.clock.move(timedelta(hours=14))  # Monday evening, when it is past 9 on Tuesday in Auckland
    task = await engine.create_task(
        tenant_id=harness.tenant, trigger=ScheduleTrigger(cron="0 9 * * 2", every=2), executor="counting"
    )
    harness.clock.move(timedelta(hours=10))
    await harness.work()
    for day in range(60):
        if day == 20:
            await engine.pause_task(harness.tenant, task.id)
        if day == 25:  # a Friday in a week that does not count
            await engine.resume_task(harness.tenant, task.id)
        if day == 35:
            await store.db.tenants.change({"timezone": "Pacific/Auckland"})
        harness.clock.move(timedelta(days=1))
        await harness.work()
    rung = [
        f"{datetime.fromisoformat(run.occurrence).astimezone(BERLIN):%m-%d %H:%M}" for run in await harness.runs(task)
    ]
    # The clocks of Berlin change on 29 March; Auckland is 10 hours ahead of it in April.
    assert rung == ["03-03 09:00", "03-17 09:00", "03-31 09:00", "04-13 23:00", "04-27 23:00"]


SHORT = "February, April, June, September and November"
LEFT_OUT = [
    # cron, what is said of its days
    ("0 9 31 * *", f"on day 31 of the month, left out in months without a day 31: {SHORT}"),
    ("0 9 30 * *", "on day 30 of the month, left out in months without a day 30: February"),
    ("0 9 29 * *", "on day 29 of the month, left out in months without a day 29: February of most years"),
    ("0 9 28 * *", "on day 28 of the month"),
    ("0 9 31 1,3 *", "on day 31 of the month, in January and March"),
    ("0 9 31 3-4 *", "on day 31 of the month, in March and April, left out in months without a day 31: April"),
    ("0 9 15,31 5-6 *", "on day 15 and 31 of the month, in May and June, left out in months without a day 31: June"),
    ("0 9 31 * 1", "on day 31 of the month or on Monday"),
    ("0 9 L * *", "on the last day of the month"),
]


@pytest.mark.parametrize(("cron", "words"), LEFT_OUT, ids=[cron for cron, _ in LEFT_OUT])
def test_months_that_a_day_leaves_out_are_told(cron: str, words: str) -> None:
    assert in_words(ScheduleTrigger(cron=cron), BERLIN) == f"at 09:00, {words} (Europe/Berlin)"
