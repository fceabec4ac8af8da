"""Time as the page moves it: stopped, fast, ahead; never back, but to the machine's own."""

import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.clock import Clock, set_clock
from core.errors import RequestRefused
from workbench.dev.bench.clock import BenchClock


@pytest.fixture
def bench(tmp_path: Path) -> BenchClock:
    return BenchClock(tmp_path / "clock.json")


def about(span: timedelta, wanted: timedelta) -> bool:
    """Return whether a span is the wanted one but for the rounding of seconds in a file."""
    return abs(span - wanted) < timedelta(milliseconds=1)


def test_a_stopped_clock_stands_still_and_goes_on_from_there(bench: BenchClock) -> None:
    bench.run(0)
    other = Clock(bench.path)
    first = other.now()
    assert other.rate == 0
    assert other.moment_of(time.time() + 60) == first
    bench.run(1)
    assert timedelta() <= other.now() - first < timedelta(seconds=30)


def test_a_fast_clock_passes_an_hour_in_a_second_without_a_jump(bench: BenchClock) -> None:
    before = Clock(bench.path).now()
    bench.run(3600)
    other = Clock(bench.path)
    now = time.time()
    assert other.moment_of(now) - before < timedelta(hours=3)
    assert about(other.moment_of(now + 1) - other.moment_of(now), timedelta(hours=1))
    assert other.real_seconds(7200) == 2


def test_a_stopped_clock_reaches_exactly_what_is_due_when_it_is_moved(bench: BenchClock) -> None:
    chance = random.Random("clock")
    for _ in range(300):
        set_clock(bench.path, base=1.8e9 + chance.random() * 1e8, offset=chance.random() * 1e5, rate=0)
        due = bench.told().now() + timedelta(hours=2)
        for _ in range(2):
            bench.jump(seconds=3600)
        assert bench.told().now() == due


def test_what_waits_for_a_stopped_clock_waits_without_end(bench: BenchClock) -> None:
    bench.run(0)
    other = Clock(bench.path)
    assert other.real_seconds(1) == float("inf")
    assert other.real_seconds(0) == other.real_seconds(-5) == 0


def test_a_jump_keeps_the_speed_and_leads_ahead_only(bench: BenchClock) -> None:
    bench.run(0)
    before = Clock(bench.path).now()
    bench.jump(seconds=7200)
    assert about(Clock(bench.path).now() - before, timedelta(hours=2))
    then = (before + timedelta(days=3)).isoformat()
    bench.jump(to=then)
    assert about(Clock(bench.path).now() - before, timedelta(days=3))
    with pytest.raises(RequestRefused, match="only moves ahead"):
        bench.jump(to=before.isoformat())
    with pytest.raises(RequestRefused, match="a year"):
        bench.jump(seconds=400 * 86_400)
    bench.real()
    assert abs(Clock(bench.path).now() - datetime.now(UTC)) < timedelta(seconds=30)
    assert bench.shown()["rate"] == 1


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"seconds": "soon"}, "must be a number"),
        ({"seconds": True}, "must be a number"),
        ({"to": "tomorrow"}, "must be a moment"),
        ({"to": "2099-01-01T10:00"}, "must say its offset"),
    ],
)
def test_a_moment_that_cannot_be_read_is_refused(bench: BenchClock, wanted: dict[str, object], told: str) -> None:
    with pytest.raises(RequestRefused, match=told):
        bench.jump(**wanted)


@pytest.mark.parametrize("rate", [2, -1, "fast", True, None])
def test_a_speed_that_is_not_offered_is_refused(bench: BenchClock, rate: object) -> None:
    with pytest.raises(RequestRefused, match="real speed"):
        bench.run(rate)
