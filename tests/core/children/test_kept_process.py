"""The kept process: small, with nothing of ours, there as long as it is needed and no longer than who needs it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import psutil
import pytest

from abilities.calendar.objects import expand
from abilities.documents.file import read_content
from abilities.web.page import read_html
from core.children import child_process, kept_process
from core.children.child_environment import child_environment
from core.children.child_process import ChildFailed
from core.children.kept_process import KeptProcess, end_kept
from core.files.kinds import FileKind
from core.http.types import HttpResponse
from tests.abilities.calendar.samples import event
from tests.abilities.documents import samples
from tests.core.children.children import TELLS, WAITS, has_ended, number_of, run_told, send, told_in, written
from tests.eventually import eventually, eventually_blocking
from tests.forker import ROOT
from tests.patience import PATIENCE

MB = 1024 * 1024
_SIGNALS = {signal.SIGCHLD, signal.SIGTERM}
DAY = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture(autouse=True)
def no_kept_processes() -> Iterator[None]:
    end_kept()
    yield
    end_kept()


async def test_it_has_nothing_of_our_environment_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEVALET_SEARCH_KEY", "secret")
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        told, _ = await run_told(written(tmp_path, TELLS))
    kept = number_of(told)
    assert psutil.Process(kept).environ() == child_environment(PATH=os.defpath)
    assert os.getsid(kept) != os.getsid(0)
    # We hear of the job's end before its socket is closed.
    await eventually(lambda: _files(kept) == ["socket", "/dev/null", "/dev/null", "socket", "socket"], "only its own")


def _files(pid: int) -> list[str]:
    folder = f"/proc/{pid}/fd"
    return [os.readlink(f"{folder}/{number}").partition(":")[0] for number in sorted(os.listdir(folder))]


async def _page() -> object:
    return await read_html(
        HttpResponse(200, {"Content-Type": "text/html"}, b"<p>Text</p>", url="https://page.example/")
    )


async def _file() -> object:
    return await read_content(samples.picture(), FileKind.PICTURE)


async def _calendar() -> object:
    text = event("DTSTART:20261122T120000Z", "SUMMARY:Dentist", uid="good")
    return await expand([text], DAY, DAY.replace(day=23), ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("read", "room"), [(_page, 30), (_file, 75), (_calendar, 32)], ids=["page", "file", "calendar"]
)
async def test_it_is_small_and_has_no_second_thread(read: Callable[[], Awaitable[object]], room: int) -> None:
    await read()
    # Other tests' children may be ending just now: such a process has no command line.
    [one] = kept_process._kept.values()
    kept = psutil.Process(one._process.pid)
    assert kept.num_threads() == 1
    memory = kept.memory_info()
    assert memory.rss < 60 * MB
    assert memory.vms < room * MB, "so much less do the limits of its jobs leave for data"


def test_it_outlives_the_event_loop_that_began_it(tmp_path: Path) -> None:
    script = written(tmp_path, TELLS)
    assert asyncio.run(run_told(script))[0] == asyncio.run(run_told(script))[0]


def test_threads_share_it_each_with_a_loop_of_its_own(tmp_path: Path) -> None:
    script = written(tmp_path, TELLS)
    # A thread that begins it may block signals, which it inherits.
    with ThreadPoolExecutor(4, initializer=signal.pthread_sigmask, initargs=(signal.SIG_BLOCK, _SIGNALS)) as threads:
        told = list(threads.map(lambda _: asyncio.run(run_told(script)), range(16)))
    # A thread that ends takes none of what it began along.
    told.append(asyncio.run(run_told(script)))
    assert len({kept for kept, _ in told}) == 1
    assert len({job for _, job in told}) == 17


async def test_one_that_was_killed_is_started_again(tmp_path: Path) -> None:
    script = written(tmp_path, TELLS)
    kept, _ = await run_told(script)
    send(kept, signal.SIGKILL)
    again, _ = await run_told(script)
    assert again != kept


async def test_one_that_cannot_begin_is_told(tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match="nothing runs it"):
        await run_told(tmp_path / "missing.py")


async def test_one_that_is_stuck_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "_STUCK_SECONDS", 0.2)
    script = written(tmp_path, TELLS)
    kept, _ = await run_told(script)
    send(kept, signal.SIGSTOP)
    with pytest.raises(ChildFailed, match="too long"):
        await child_process.run_in_child(script, b"", seconds=0.1)
    assert has_ended(kept)
    assert (await run_told(script))[0] != kept


async def test_it_ends_when_nothing_was_read_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_process, "IDLE_SECONDS", 0.1)
    script = written(tmp_path, f"{TELLS}time.sleep(0.4)")
    kept, _ = await run_told(script)  # a job is no idle time
    await eventually(lambda: has_ended(kept), "it ends")
    again, _ = await run_told(script)
    assert again != kept


async def test_more_jobs_than_it_can_be_asked_for_at_once_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = written(tmp_path, TELLS)
    kept, _ = await run_told(script)
    asking, ask, taken = kept_process._kept[script]._asking, KeptProcess.ask, list[bool]()
    asking.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)  # as little as may be: a handful

    def asked(self: KeptProcess, files: Sequence[int]) -> bool:
        taken.append(ask(self, files))
        return taken[-1]

    monkeypatch.setattr(KeptProcess, "ask", asked)
    send(kept, signal.SIGSTOP)
    calls = [asyncio.create_task(run_told(script)) for _ in range(20)]
    await eventually(lambda: False in taken, "one that has to wait")
    send(kept, signal.SIGCONT)
    told = await asyncio.gather(*calls)
    assert {one for one, _ in told} == {kept}


_WORKER = """
import asyncio, sys, threading
from pathlib import Path
from core.children.child_process import run_in_child
def work(): asyncio.run(run_in_child(Path(sys.argv[1]), b"job", seconds=600))
"""


@pytest.mark.parametrize("begins", ["work()", "threading.Thread(target=work).start()"], ids=["main", "another"])
def test_it_ends_with_its_jobs_when_the_worker_is_killed(tmp_path: Path, begins: str) -> None:
    program = f"{_WORKER}{begins}"
    script = written(tmp_path, WAITS)
    with subprocess.Popen([sys.executable, "-c", program, str(script)], cwd=ROOT) as worker:
        kept, job = eventually_blocking(lambda: told_in(tmp_path / "job"), "the job runs")
        worker.kill()
    eventually_blocking(lambda: has_ended(kept) and has_ended(job), "they end with the worker")


_FORKS = """
import asyncio, os, sys
from pathlib import Path
from tests.core.children.children import run_told
script = Path(sys.argv[1])
before, _ = asyncio.run(run_told(script))
reading, writing = os.pipe()
if not os.fork():
    after, _ = asyncio.run(run_told(script))
    os.write(writing, after.encode())
    sys.exit()
_, status = os.wait()
still, _ = asyncio.run(run_told(script))
print(before, os.read(reading, 100).decode(), still, status)
"""


def test_a_fork_of_the_worker_has_one_of_its_own(tmp_path: Path) -> None:
    script = written(tmp_path, TELLS)
    done = subprocess.run(
        [sys.executable, "-c", _FORKS, str(script)], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stderr == ""
    before, after, still, status = done.stdout.split()
    assert before == still != after
    assert status == "0"
    eventually_blocking(lambda: has_ended(before) and has_ended(after), "each ends with who needed it")


_LEAVES_A_FORK = """
import asyncio, os, sys, threading, time
from pathlib import Path
from tests.core.children.children import run_told
script, told = map(Path, sys.argv[1:])
kept = []
# Begun by a thread, it learns by its socket alone that nobody is left.
thread = threading.Thread(target=lambda: kept.extend(asyncio.run(run_told(script))))
thread.start()
thread.join()
if not os.fork():
    told.with_suffix(".new").write_text(kept[0])
    told.with_suffix(".new").rename(told)
    sys.stdin.read()
    sys.exit()
time.sleep(600)
"""


def test_a_fork_that_lives_on_does_not_keep_it(tmp_path: Path) -> None:
    script, told = written(tmp_path, TELLS), tmp_path / "told"
    command = [sys.executable, "-c", _LEAVES_A_FORK, str(script), str(told)]
    # The fork lives until its input ends.
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE) as worker:
        [kept] = eventually_blocking(lambda: told_in(told), "the fork is there")
        worker.kill()
        eventually_blocking(lambda: has_ended(kept), "it ends with the worker")
