"""A job limits itself before it reads, answers in values and bytes, and says in a word why it cannot."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.children.child_job import Unreadable
from core.children.child_process import ChildFailed, ask_child
from core.children.kept_process import end_kept
from tests.core.children.children import written
from tests.shipping.harness import PRODUCT, python_files

MB = 1024 * 1024
MEMORY = 256 * MB
CPU_SECONDS = 3


@pytest.fixture(autouse=True)
def no_kept_processes() -> Iterator[None]:
    yield
    end_kept()


def script(folder: Path, body: str) -> Path:
    """Return a script whose `read(asked, data)` has this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return written(
        folder,
        f"import os, resource, sys\nfrom core.children.child_job import Unreadable, answer_request\n"
        f"def read(asked, data):\n{lines}"
        f"answer_request(read, memory={MEMORY}, cpu_seconds={CPU_SECONDS})\n",
    )


async def asked(path: Path, values: dict[str, Any] | None = None, data: bytes = b"") -> tuple[dict[str, Any], bytes]:
    return await ask_child(path, values or {}, data)


async def test_values_and_bytes_go_in_and_out_unchanged(tmp_path: Path) -> None:
    values, data = {"text": "zwei\nZeilen \ud83d", "number": 7, "none": None}, b"\n\0one\n{}\n" * 100_000
    assert await asked(script(tmp_path, "return asked, data"), values, data) == (values, data)


_LIMITS = """
names = ("AS", "CPU", "FSIZE", "CORE")
limits = {name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in names}
with open("/proc/self/oom_score_adj") as score:
    return limits | {"nice": os.nice(0), "first": score.read()}, b""
"""


async def test_its_limits_hold_when_it_reads(tmp_path: Path) -> None:
    found, _ = await asked(script(tmp_path, _LIMITS))
    limits = {name: found[name] for name in ("AS", "CPU", "FSIZE", "CORE")}
    assert limits == {"AS": [MEMORY] * 2, "CPU": [CPU_SECONDS] * 2, "FSIZE": [0, 0], "CORE": [0, 0]}
    assert found["nice"] > 0
    assert found["first"] == "1000\n", "if memory runs out, a job ends before its worker"


@pytest.mark.whole("it works until a limit is reached")
async def test_its_limits_hold_before_its_input_is_read(tmp_path: Path) -> None:
    # The request alone takes more than the memory of the job.
    with pytest.raises(ChildFailed, match="ended with 1"):
        await asked(script(tmp_path, "return {}, b''"), data=bytes(MEMORY))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise Unreadable('locked')", "locked"),
        ("import not_installed", "no_reader"),
        (f"bytearray({MEMORY})", "too_much"),
        ("1 / 0", "broken"),
        ("with open(__file__ + '.new', 'w') as file: file.write('left behind')", "broken"),
    ],
    ids=["own word", "not installed", "memory", "error", "file"],
)
async def test_what_fails_in_a_job_is_a_word_for_its_caller(tmp_path: Path, body: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=f"^{reason}$"):
        await asked(script(tmp_path, f"{body}\nreturn {{}}, b''"))


@pytest.mark.parametrize("said", ["", "no JSON\n", "7\n", "[" * 100_000 + "\n", json.dumps({"a": float("nan")}) + "\n"])
async def test_an_answer_that_is_none_is_a_failed_child(tmp_path: Path, said: str) -> None:
    with pytest.raises(ChildFailed, match="it answers with no"):
        await asked(written(tmp_path, f"import sys\nsys.stdin.buffer.read()\nsys.stdout.write({said!r})"))


def test_every_script_of_ours_limits_itself_by_it() -> None:
    scripts = {path: source for path, source in python_files(*PRODUCT).items() if path.endswith("_script.py")}
    assert len(scripts) >= 4
    for path, source in scripts.items():
        last = ast.parse(source).body[-1]
        assert isinstance(last, ast.If), path
        assert ast.unparse(last).startswith("if __name__ == '__main__':\n    answer_request("), path
        assert "setrlimit" not in source, path
