"""Hostile downloads and files before a real worker: it answers each in a sentence, within its memory, and lives on."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.abilities.documents.test_files import HOSTILE
from tests.contract.hostile_provider import MB, Answer, HostileProvider, bomb, hostile_provider, plain, raw
from tests.eventually import eventually
from tests.forker import Forker
from tests.kills.harness import System, open_system
from tests.patience import PATIENCE
from tests.scripted_model import ScriptedModel, text
from workbench.simulator.config import Person

MOST = 100
"""MB by which the worker may have grown at its largest: a file of 20 MB, its copies, and what a turn costs."""
ANSWERS: dict[str, tuple[Callable[[HostileProvider], Answer], str]] = {
    "endless": (lambda provider: provider.endless, "is too large"),
    "gzip bomb": (lambda _: raw(plain(bomb(4000), "Content-Encoding: gzip")), "is too large"),
    "png bomb": (lambda _: raw(plain(HOSTILE["png_bomb"][0]())), "takes too much time or memory"),
    "docx bomb": (lambda _: raw(plain(HOSTILE["docx_bomb"][0]())), "takes too much time or memory"),
    "xlsx bomb": (lambda _: raw(plain(HOSTILE["xlsx_bomb"][0]())), "takes too much time or memory"),
    "20 MB of zeros": (lambda _: raw(plain(bytes(20 * MB))), "do not know that kind of file"),
}


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_a_worker_survives_hostile_files_within_its_memory(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    ada = Person("ada", "Ada", "+15550600001", "U0H0000001", 640_000_001)
    model = ScriptedModel(lambda _: text("Hello."))
    async with (
        open_system(tmp_path, database_url, redis_url, [ada], model, forker) as system,
        hostile_provider(raw(b""), behind=system.simulator.wire.url) as provider,
    ):
        system.simulator.wire.url = provider.url
        worker = system.fork_worker("worker", TWILIO_API_URL=f"{provider.url}/twilio")
        await system.say(ada, "ada hello")
        await answered(system, ada, 1)
        before = reset_peak(worker.pid)
        for number, (name, (answer, sentence)) in enumerate(ANSWERS.items(), start=2):
            provider.answer = answer(provider)
            data = base64.b64encode(b"not these bytes").decode()
            await system.say(ada, "", {"content_type": "image/png", "data": data})
            assert sentence in await answered(system, ada, number), name
        grown = peak(worker.pid) - before
        await system.say(ada, "ada and again")
        assert await answered(system, ada, len(ANSWERS) + 2) == "Hello."
        assert worker.returncode is None, "it is the same worker"
        assert grown < MOST, f"it grew by {grown:.0f} MB"
        assert len(model.calls) == 2
        await system.end(worker)


async def answered(system: System, person: Person, count: int, *, within: float = PATIENCE) -> str:
    """Wait for so many answers in all; return the last one."""
    await eventually(lambda: len(system.answers(person)) >= count, f"answer {count}", within=within)
    answers = system.answers(person)
    assert len(answers) == count
    return answers[-1]


def reset_peak(pid: int) -> float:
    """Let a process' peak count from now on; return what it holds, in MB."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return peak(pid)


def peak(pid: int) -> float:
    """Return the most memory that a process ever held, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024
