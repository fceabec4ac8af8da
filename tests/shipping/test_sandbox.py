"""Web and worker do all their work as the units of deploy/systemd confine them: no call is missing from the filter."""

import asyncio
import base64
import errno
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from core.json_types import Json
from tests.abilities.documents import samples
from tests.forker import ROOT, Forker
from tests.kills.harness import open_system
from tests.kills.test_hostile_files import answered
from tests.needs import need
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.scripted_model import ScriptedModel, text
from workbench.simulator.config import Person

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes")]

UNIT_OF = {"web": "onevalet-web.service", "worker": "onevalet-worker@.service"}
FILES = (
    ("image/jpeg", samples.picture(width=400, height=300), "I cannot see pictures."),
    ("image/heic", samples.heic(), "I cannot see pictures."),
    ("application/pdf", samples.pdf(["Words"]), "> Words"),
    ("application/octet-stream", samples.docx("Words"), "> Words"),
)
"""Files, and what the model is told of each once it was read."""
FORBIDDEN = """
import mmap, os, socket
for try_it in (
    lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    lambda: os.unshare(os.CLONE_NEWUSER),
    lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    lambda: os.chown(".", 0, 0),
    lambda: os.sched_setaffinity(0, {0}),
):
    try:
        try_it()
        print("allowed")
    except OSError as error:
        print(error.errno)
"""


async def sandboxed(
    unit: str, *command: str, environment: dict[str, str] | None = None, stdout: int = asyncio.subprocess.DEVNULL
) -> asyncio.subprocess.Process:
    """Start our Python with a command, in the unit's sandbox."""
    need("systemd-analyze")
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.shipping.sandbox", unit, sys.executable, *command),
        cwd=ROOT,
        env=environment,
        stdout=stdout,
    )


async def test_the_sandbox_refuses_what_the_unit_forbids() -> None:
    process = await sandboxed(UNIT_OF["worker"], "-c", FORBIDDEN, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    assert printed.decode().split() == [str(errno.EACCES), *[str(errno.EPERM)] * 4]


async def test_web_and_worker_do_their_work_in_the_units_sandbox(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    ada = Person("ada", "Ada", "+15550700001", "U0R0000001", 650_000_001)
    model = ScriptedModel(lambda _: text("Read."))
    async with AsyncExitStack() as stack:
        system = await stack.enter_async_context(open_system(tmp_path, database_url, redis_url, [ada], model, forker))
        health = tmp_path / "health"
        port = str(free_port())
        environment = system.environment | {"PORT": port, "ONEVALET_HEALTH_FILE": str(health)}
        web, worker = [
            await sandboxed(unit, "-m", "onevalet", name, environment=environment) for name, unit in UNIT_OF.items()
        ]
        for number, (kind, data, _) in enumerate(FILES, start=1):
            sent: Json = {"content_type": kind, "data": base64.b64encode(data).decode()}
            await system.say(ada, "ada what is it?", sent)
            assert await answered(system, ada, number, within=4 * PATIENCE) == "Read."
        assert health.exists()
        async with aiohttp.ClientSession() as client, client.get(f"http://127.0.0.1:{port}/readyz") as answer:
            assert answer.status == 200
        for process in (web, worker):
            process.terminate()
        assert [await process.wait() for process in (web, worker)] == [0, 0]
    for call, (_, _, told) in zip(model.calls, FILES, strict=True):
        assert told in call.last_user
