"""Waiting for a fact: it ends with the fact, says what lacked, and is more patient on a slow machine."""

import asyncio
from itertools import count
from pathlib import Path

import pytest

from tests import patience
from tests.eventually import eventually, eventually_blocking


async def test_what_comes_is_returned_at_once() -> None:
    looks = count()
    assert await eventually(lambda: next(looks) >= 3 and "there") == "there"


async def test_a_look_may_await_and_assert() -> None:
    looks = count()

    async def look() -> bool:
        assert next(looks) >= 2
        return True

    assert await eventually(look)


async def test_what_does_not_come_is_named_with_what_was_seen_last() -> None:
    with pytest.raises(AssertionError, match=r"the reply did not come .* seen last: \[\]"):
        await eventually(lambda: [], "the reply", within=0.01)


async def test_the_last_failed_assertion_is_the_cause() -> None:
    def look() -> bool:
        assert [1] == [2]
        return True

    with pytest.raises(AssertionError) as raised:
        await eventually(look, within=0.01)
    assert isinstance(raised.value.__cause__, AssertionError)


async def test_a_notification_ends_the_pause_before_the_next_look() -> None:
    came = asyncio.Event()
    seen: list[int] = []

    def look() -> bool:
        seen.append(1)
        return len(seen) > 1

    asyncio.get_running_loop().call_soon(came.set)
    assert await eventually(look, on=came)


async def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    log = tmp_path / "log"
    asyncio.get_running_loop().call_soon(log.write_text, "begun")
    assert await eventually(log.read_text) == "begun"
    with pytest.raises(AssertionError, match="no log"):
        await eventually((tmp_path / "other").read_text, "no log", within=0.01)


def test_code_without_a_loop_waits_alike() -> None:
    looks = count()
    assert eventually_blocking(lambda: next(looks) >= 3)
    with pytest.raises(AssertionError, match="the file did not come"):
        eventually_blocking(lambda: False, "the file", within=0.01)


def test_patience_grows_with_the_load_and_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (6.0, 0.0, 0.0))
    assert patience.patience(10) >= 30
    monkeypatch.setattr("os.getloadavg", lambda: (600.0, 0.0, 0.0))
    assert patience.patience(10) == 10 * patience.MOST
