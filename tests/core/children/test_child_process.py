"""A job has a process of its own, with nothing of anybody else's, and touches no other whatever it does."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.children.child_process import ChildFailed, run_in_child
from core.children.kept_process import end_kept
from tests.core.children.children import TELLS, WAITS, has_ended, run_told, send, told_in, written
from tests.eventually import eventually
from tests.patience import PATIENCE

MB = 1024 * 1024


@pytest.fixture(autouse=True)
def no_kept_processes() -> Iterator[None]:
    yield
    end_kept()


async def test_each_job_is_a_fresh_process_of_one_that_is_kept(tmp_path: Path) -> None:
    script = written(
        tmp_path, f"PRELOADED = ('decimal', 'not_installed')\nimport sys\nassert 'decimal' in sys.modules\n{TELLS}"
    )
    first, second = await run_told(script), await run_told(script)
    assert first[0] == second[0]
    assert first[1] != second[1]


async def test_a_job_has_no_file_but_its_own_input_and_output(tmp_path: Path) -> None:
    listed = (
        "import os; print(sorted(os.readlink(f'/proc/self/fd/{n}').split(':')[0] for n in os.listdir('/proc/self/fd')"
    )
    script = written(tmp_path, f"{WAITS}\n{listed} if os.path.exists(f'/proc/self/fd/{{n}}')))")
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        jobs = [asyncio.create_task(run_in_child(script, name, seconds=PATIENCE)) for name in (b"one", b"two")]
        await eventually(lambda: (tmp_path / "one").exists() and (tmp_path / "two").exists(), "both jobs at once")
        for name in ("one.go", "two.go"):
            (tmp_path / name).touch()
        for out in await asyncio.gather(*jobs):
            assert out.decode().endswith("['/dev/null', 'pipe', 'pipe']\n")


async def test_jobs_of_one_script_run_side_by_side(tmp_path: Path) -> None:
    script = written(tmp_path, WAITS.replace('name + ".go"', '{"one": "two", "two": "one"}[name]'))
    one, two = await asyncio.gather(run_told(script, b"one"), run_told(script, b"two"))
    assert one[0] == two[0]


_LOOKS = """
import sys
do, _, rest = sys.stdin.read().partition(":")
word = rest.partition(":")[0][::-1].encode()
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    for line in maps if do == "look" else ():
        where, rights = line.split()[:2]
        if rights.startswith("r") and "[v" not in line:
            first, last = (int(part, 16) for part in where.split("-"))
            memory.seek(first)
            found += memory.read(last - first).count(word)
sys.stdout.write(str(found))
"""
"""Counts in its memory what stands backwards at its input."""


async def test_a_job_finds_no_byte_of_an_earlier_one(tmp_path: Path) -> None:
    script = written(tmp_path, _LOOKS)
    word = b"of a letter to somebody else"

    async def found(rest: bytes) -> int:
        return int(await run_in_child(script, rest, seconds=PATIENCE))

    own = await found(b"look:" + word[::-1])
    assert await found(b"look:" + word[::-1] + b":" + word * 9) > own, "what is there is found"
    await found(b"keep:" + word * 1000)
    assert await found(b"look:" + word[::-1]) == own


async def test_more_than_any_pipe_holds_goes_in_and_out(tmp_path: Path) -> None:
    script = written(tmp_path, "import shutil, sys; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)")
    data = os.urandom(6 * MB)
    assert await run_in_child(script, data, seconds=PATIENCE) == data


_BREAKS = {
    b"crash": "os.kill(os.getpid(), 11)",
    b"exit": "raise SystemExit(3)",
    b"group": "os.killpg(0, 9)",
    b"flood": "[sys.stdout.write('x' * 65536) for _ in iter(int, 1)]",
    b"memory": "resource.setrlimit(resource.RLIMIT_AS, (1 << 28,) * 2); bytearray(1 << 29)",
    b"processor": "resource.setrlimit(resource.RLIMIT_CPU, (1, 1)); [0 for _ in iter(int, 1)]",
    b"forks": "[os.fork() or time.sleep(600) for _ in range(5)]; raise SystemExit(4)",
    b"hang": "time.sleep(600)",
}


@pytest.mark.whole("it works until its limits are reached")
async def test_what_one_job_does_touches_no_other(tmp_path: Path) -> None:
    branches = "".join(f"if name == {name.decode()!r}: {code}\n" for name, code in _BREAKS.items())
    waits = WAITS.replace("while not", f"{branches}while not")
    script = written(tmp_path, f"import os, resource, sys, time\n{waits}")
    patient = asyncio.create_task(run_told(script, b"patient"))
    await eventually(lambda: (tmp_path / "patient").exists(), "the job that goes on")
    seconds = dict.fromkeys(_BREAKS, PATIENCE) | {b"hang": 3.0}
    broken = [run_in_child(script, name, seconds=seconds[name]) for name in _BREAKS]
    told = await asyncio.gather(*broken, return_exceptions=True)
    assert [type(one) for one in told] == [ChildFailed] * len(_BREAKS)
    codes = [str(one) for one in told]
    assert codes == [
        *("it ended with -11", "it ended with 3", "it ended with -9", "it says too much", "it ended with 1"),
        *("it ended with -9", "it ended with 4", "it took too long"),
    ]
    (tmp_path / "patient.go").touch()
    kept, _ = await patient
    for name in _BREAKS:
        assert told_in(tmp_path / name.decode())[0] == kept
        assert has_ended(told_in(tmp_path / name.decode())[1]), name
    again, _ = await run_told(script, b"patient")
    assert again == kept


@pytest.mark.parametrize(
    ("script", "code"),
    [("raise SystemExit('why')", 1), ("raise SystemExit(256 + 7)", 7), ("1 / 0", 1)],
    ids=["sentence", "large", "error"],
)
async def test_a_script_ends_with_the_code_of_an_interpreter(tmp_path: Path, script: str, code: int) -> None:
    with pytest.raises(ChildFailed, match=f"ended with {code}$"):
        await run_in_child(written(tmp_path, script), b"", seconds=PATIENCE)


async def test_what_is_said_before_a_good_exit_is_the_answer(tmp_path: Path) -> None:
    script = written(tmp_path, "import sys; print('said'); sys.exit()")
    assert await run_in_child(script, b"", seconds=PATIENCE) == b"said\n"


_LEAVES = """
sys.stdout.flush()
reading, writing = os.pipe()
if not os.fork():
    sys.stdout.write(" " + named(os.getpid()))
    sys.stdout.flush()
    os.close(writing)
    time.sleep(600)
os.close(writing)
os.read(reading, 1)
"""


async def test_what_a_job_leaves_in_its_group_ends_with_it(tmp_path: Path) -> None:
    script = written(tmp_path, f"{TELLS}{_LEAVES}")
    *_, left = (await run_in_child(script, b"", seconds=PATIENCE)).decode().split()
    await eventually(lambda: has_ended(left), "what was left behind is killed")


async def test_a_call_that_is_given_up_ends_its_job(tmp_path: Path) -> None:
    script = written(tmp_path, WAITS)
    call = asyncio.create_task(run_in_child(script, b"job", seconds=PATIENCE))
    kept, job = await eventually(lambda: told_in(tmp_path / "job"), "the job runs")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert has_ended(job)
    assert not has_ended(kept)


async def test_a_job_that_no_process_is_left_for_is_told(tmp_path: Path) -> None:
    script = written(tmp_path, f"PRELOADED = ('tests.core.children.forks_once',)\n{TELLS}")
    kept, _ = await run_told(script)
    with pytest.raises(ChildFailed, match="no room"):
        await run_told(script)
    assert not has_ended(kept)


async def test_a_job_ends_when_the_kept_process_is_killed(tmp_path: Path) -> None:
    call = asyncio.create_task(run_in_child(written(tmp_path, WAITS), b"job", seconds=PATIENCE))
    kept, job = await eventually(lambda: told_in(tmp_path / "job"), "the job runs")
    send(kept, signal.SIGKILL)
    with pytest.raises(ChildFailed, match="keeps it has ended"):
        await call
    await eventually(lambda: has_ended(job), "the job ends")
