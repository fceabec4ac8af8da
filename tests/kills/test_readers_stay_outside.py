"""Web and worker load none of the libraries that read files, whatever is sent: a child process does."""

import asyncio
import base64
import re
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from core.json_types import Json
from tests.abilities.documents import samples
from tests.forker import ROOT, Forker
from tests.kills.harness import open_system
from tests.kills.test_hostile_files import answered
from tests.patience import PATIENCE
from tests.scripted_model import ScriptedModel, text
from workbench.simulator.config import Person

READERS = {"PIL", "pillow_heif", "pypdf", "resiliparse", "openpyxl", "docx"}
FILES = (
    ("image/jpeg", samples.picture(width=400, height=300)),
    ("image/heic", samples.heic()),
    ("application/pdf", samples.pdf(["Words"])),
    ("application/octet-stream", samples.docx("Words")),
    ("application/octet-stream", samples.xlsx([["Words"]])),
    ("text/plain", "Größe".encode("cp1252")),
)
IMPORTED = re.compile(r"^import time:[ \d|]*\|\s+(\w+)", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_web_and_workers_never_load_a_reader(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    ada = Person("ada", "Ada", "+15550700001", "U0R0000001", 650_000_001)
    model = ScriptedModel(lambda _: text("Read."))
    async with AsyncExitStack() as stack:
        system = await stack.enter_async_context(open_system(tmp_path, database_url, redis_url, [ada], model, forker))
        environment = system.environment | {"PYTHONPROFILEIMPORTTIME": "1", "PORT": "0"}
        processes = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "onevalet", *words),
                cwd=ROOT,
                env=environment,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=stack.enter_context((tmp_path / f"{words[0]}.imports").open("w")),
            )
            for words in (("web",), ("worker", "--no-spare"))
        ]
        for number, (kind, data) in enumerate(FILES, start=1):
            sent: Json = {"content_type": kind, "data": base64.b64encode(data).decode()}
            await system.say(ada, "ada what is it?", sent)
            # Whole interpreters that tell of each import begin slowly on a machine that has much to do.
            assert await answered(system, ada, number, within=4 * PATIENCE) == "Read."
        for process in processes:
            process.terminate()
            await process.wait()
    assert len(model.calls) == len(FILES)
    for name in ("web", "worker"):
        loaded = set(IMPORTED.findall((tmp_path / f"{name}.imports").read_text()))
        assert loaded & READERS == set(), name
        assert "aiohttp" in loaded, "what is imported is seen"
