"""The heartbeat of a worker: who counts as hanging, and what the health file and systemd are told."""

import asyncio
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from core.queue.quarantine import CURRENT_WORK
from onevalet.supervision import heartbeat as beats
from onevalet.supervision.health import HealthFile, health_problem, stalls_told
from onevalet.supervision.heartbeat import BEAT_EVERY, HUNG_AFTER, START_WITHIN, Heartbeat, Observer
from onevalet.supervision.loop_watch import WRITE_EVERY, watched_loop
from onevalet.supervision.systemd import notify
from onevalet.wiring.worker_parts import LANE_LEASE
from tests.eventually import eventually


def test_a_busy_worker_counts_as_hanging_after_30_missed_beats() -> None:
    heartbeat = Heartbeat()
    heartbeat.begin_work()
    observer = Observer(heartbeat)
    for beaten in (False, True):
        if beaten:
            heartbeat.beat()
            assert observer.check() == 0
        for look in range(1, HUNG_AFTER + 1):
            assert not observer.hung
            assert observer.check() == look
        assert observer.hung
    assert HUNG_AFTER * BEAT_EVERY == 30


def test_a_private_process_hangs_when_its_lease_has_ended() -> None:
    heartbeat = Heartbeat()
    heartbeat.begin_work()
    observer = Observer(heartbeat, private=True)
    while not observer.hung:
        observer.check()
    assert observer.silent * BEAT_EVERY == LANE_LEASE.total_seconds()


def test_a_worker_that_still_imports_does_not_hang_for_minutes() -> None:
    observer = Observer(Heartbeat())
    for _ in range(START_WITHIN - 1):
        observer.check()
    assert not observer.hung
    observer.check()
    assert observer.hung


def test_a_forked_process_beats_for_who_forked_it() -> None:
    heartbeat = Heartbeat()
    observer = Observer(heartbeat)
    if (pid := os.fork()) == 0:
        heartbeat.beat()
        heartbeat.work = "lane_1"
        os._exit(0)
    os.waitpid(pid, 0)
    assert (observer.check(), heartbeat.work) == (0, "lane_1")
    heartbeat.work = ""
    assert heartbeat.work == ""


async def test_what_blocks_the_loop_is_logged_with_its_place_and_its_lane(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("onevalet.supervision.loop_watch.BEAT_EVERY", 0.05)
    heartbeat = Heartbeat()

    async def work_on(lane: str) -> None:
        CURRENT_WORK.set(lane)
        await asyncio.create_task(block())

    async with watched_loop(heartbeat) as watch:
        watch.begin_work()
        await work_on("lane_7")
        assert heartbeat.work == "lane_7"
        await eventually(lambda: not heartbeat.work, "the thread's notice")
    shown = capsys.readouterr().out
    assert shown.count("loop_blocked") == shown.count("loop_unblocked") == 1
    assert f"{Path(__file__).name}:" in shown
    assert " block" in shown
    assert "lane_7" in shown


async def block() -> None:
    """Let nobody else work for a while."""
    time.sleep(0.6)  # noqa: ASYNC251 - this is the fault


def test_the_health_file_lists_busy_hanging_and_ended_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "health"
    assert "ONEVALET_HEALTH_FILE" in health_problem(None)
    assert "not at work" in health_problem(path)
    file = HealthFile(path)
    file.write()
    assert health_problem(path) == ""
    assert stalls_told(path) == []
    file.stalls = ("telegram: nobody polls it", "new mail: failed 3 times in a row")
    file.write()
    assert health_problem(path) == "", "neither a restart nor another worker ends a stall"
    assert stalls_told(path) == list(file.stalls)
    now = time.monotonic()
    for later in (HUNG_AFTER + 1, -3600):  # it hangs, and the machine was started again
        monkeypatch.setattr(time, "monotonic", lambda later=later: now + later)
        assert "hangs" in health_problem(path)
    file.remove()
    assert "not at work" in health_problem(path)
    assert stalls_told(path) == []
    path.write_text("x")
    assert "not a worker's" in health_problem(path)


async def test_a_worker_writes_its_health_file_while_it_works_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onevalet.supervision.loop_watch.BEAT_EVERY", 0.01)
    path = tmp_path / "health"
    heartbeat = Heartbeat()
    async with watched_loop(heartbeat, health_file=path) as watch:
        await eventually(lambda: heartbeat.beats > WRITE_EVERY, "enough beats to write at")
        assert not path.exists()
        watch.begin_work()
        first = path.read_text()
        await eventually(lambda: path.read_text() != first, "a later file")
    assert not path.exists()


def test_a_health_file_that_cannot_be_written_stops_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = HealthFile(tmp_path / "nowhere" / "health")
    for _ in range(3):
        file.write()
    file.remove()
    assert capsys.readouterr().out.count("health_file_not_written") == 1


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_told_at_the_address_that_it_gave(
    abstract: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"@onevalet-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address.replace("@", "\0"))
        systemd.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notify("READY=1")
        assert systemd.recv(100) == b"READY=1"


def test_without_systemd_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify("READY=1")
    for strange in ("", "relative", "/nowhere/at/all"):
        monkeypatch.setenv("NOTIFY_SOCKET", strange)
        notify("READY=1")


def test_a_loop_in_a_c_call_is_ended_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(beats, "CPU_AFTER", 3.0)
    beats.end_without_beat()
    assert 0 < signal.getitimer(signal.ITIMER_PROF)[0] <= 3.1
    beats.never_end()
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
