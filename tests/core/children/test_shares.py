"""Of every child that reads bytes a person has a share: their many files, however long each takes, hold up nobody."""

import ast
import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from abilities.calendar.objects import expand
from abilities.documents.file import read_content
from abilities.web.page import read_html
from core.children import child_process
from core.files.kinds import FileKind
from core.http.peer import PERSON
from core.http.types import HttpResponse
from providers.email.messages import read_message
from tests.abilities.calendar.samples import event
from tests.eventually import eventually, never
from tests.patience import PATIENCE
from tests.shipping.harness import PRODUCT, ROOT, python_files

_BELOW = {"run_in_child", "kept_for", "KeptProcess", "child_process", "kept_process"}
MANY = 20
SPARE = (2048 - 400) * 2**20
"""Bytes that a worker of 2 GB has besides its own."""
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


async def _page() -> None:
    await read_html(HttpResponse(200, {"Content-Type": "text/html"}, b"<p>Text</p>", url="https://page.example/"))


async def _calendar() -> None:
    await expand([event("DTSTART:20261122T120000Z", uid="one")], NOON, NOON.replace(day=23), ZoneInfo("UTC"))


async def _file() -> None:
    await read_content(b"the lease", FileKind.TEXT)


async def _mail() -> None:
    await read_message(b"From: bob@example.org\r\n\r\nHello")


JOBS: Mapping[str, Callable[[], Awaitable[None]]] = {
    "abilities/calendar/child_script.py": _calendar,
    "abilities/documents/file_script.py": _file,
    "abilities/web/page_script.py": _page,
    "providers/email/mail_script.py": _mail,
}
"""A job of each script that runs in a child."""


def constant(path: Path, name: str) -> int:
    """Return a product of numbers that a script sets a name to."""
    [value] = [
        node.value
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    ]
    return math.prod(int(number) for number in ast.unparse(value).split(" * "))


def scripts(sources: Mapping[str, str]) -> list[str]:
    """Return the scripts among the sources: whatever answers a request in a child."""
    return sorted(path for path, source in sources.items() if _calls(source, "answer_request"))


def beside_the_shares(sources: Mapping[str, str]) -> list[str]:
    """Return the modules that can begin a child's job without a share: they import more than `ask_child`."""
    found = {
        path
        for path, source in sources.items()
        if "core.children" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("core.children")
        for one in node.names
        if one.name in _BELOW
    }
    return sorted(found)


def _calls(source: str, name: str) -> bool:
    if name not in source:
        return False
    called = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return any(name in (getattr(func, "id", ""), getattr(func, "attr", "")) for func in called)


async def others_while_held(monkeypatch: pytest.MonkeyPatch, read: Callable[[], Awaitable[None]]) -> int:
    """Let one person's many jobs take for ever, and have another's read; return how many of the first ran."""
    running, run = 0, child_process.run_in_child

    async def hangs_for_ann(script: Path, data: bytes, *, max_out: int) -> bytes:
        nonlocal running
        if PERSON.get() == "ann":
            running += 1
            await never()
        return await run(script, data, max_out=max_out)

    async def reads(person: str) -> None:
        PERSON.set(person)
        await read()

    monkeypatch.setattr(child_process, "run_in_child", hangs_for_ann)
    held = [asyncio.create_task(reads("ann")) for _ in range(MANY)]
    try:
        await eventually(lambda: running, "a job that hangs")
        async with asyncio.timeout(PATIENCE):
            await asyncio.create_task(reads("ben"))
            await asyncio.create_task(reads(""))
    finally:
        for one in held:
            one.cancel()
        await asyncio.gather(*held, return_exceptions=True)
    return running


def test_every_script_that_reads_in_a_child_is_known() -> None:
    assert scripts(python_files(*PRODUCT)) == sorted(JOBS)
    assert scripts({"new_script.py": "child_job.answer_request(read, memory=1, cpu_seconds=1)"}) == ["new_script.py"]


def test_no_module_begins_a_job_beside_the_shares() -> None:
    outside = {path: source for path, source in python_files(*PRODUCT).items() if not path.startswith("core/children/")}
    assert beside_the_shares(outside) == []
    assert beside_the_shares({"new.py": "from core.children.child_process import run_in_child"}) == ["new.py"]


@pytest.mark.parametrize("script", JOBS)
async def test_promise_12_one_persons_jobs_hold_up_no_other(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    assert (ROOT / script).exists()
    assert await others_while_held(monkeypatch, JOBS[script]) == 1


async def test_jobs_of_all_scripts_fit_into_the_memory_of_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    running = 0

    async def hangs(script: Path, data: bytes, *, max_out: int) -> bytes:
        nonlocal running
        running += 1
        await never()
        return b""

    async def reads(person: str, read: Callable[[], Awaitable[None]]) -> None:
        PERSON.set(person)
        await read()

    monkeypatch.setattr(child_process, "run_in_child", hangs)
    held = [asyncio.create_task(reads(f"{script} {n}", job)) for n in range(3) for script, job in JOBS.items()]
    await eventually(lambda: running, "a job that hangs")
    for _ in range(MANY):
        await asyncio.sleep(0)
    for one in held:
        one.cancel()
    await asyncio.gather(*held, return_exceptions=True)
    memories = [constant(ROOT / script, "MEMORY") for script in JOBS]
    assert running * min(memories) <= SPARE
    assert (running - 1) * max(memories) <= SPARE
