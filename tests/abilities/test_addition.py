"""The product with one more ability, in a folder of its own and in no other file: web and worker serve all of it.

`tests/plugins/habits` is written as a stranger would: two tools, a word, a page, a setting, a table and a reminder.
"""

import asyncio
import base64
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import asyncpg
import pytest

from core.clock import Clock
from tests.eventually import eventually
from tests.forker import plain_environment
from tests.operations.console.browser import open_browser
from tests.ports import free_port
from tests.readiness import is_ready
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from tests.shipping.harness import ROOT
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import PEOPLE, Person, SimulatorConfig

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ADA, GRACE = PEOPLE[:2]
HABITS = "tests.plugins.habits"


def script(call: ModelCall) -> Reply:
    """Call the tool that the person's words name, and say what it returned."""
    if call.messages[-1].get("role") == "tool":
        return text(list(call.tool_results.values())[-1])
    verb, _, name = call.last_user.partition(" ")
    if verb == "stretch":
        return calls(("habit_done", {"name": verb}))
    return calls(("add_habit", {"name": name, "remind_at": "07:30"})) if verb == "keep" else text("What?")


@dataclass(frozen=True, slots=True)
class Running:
    """Web and worker of an installation with habits, and the people who write to it by SMS."""

    url: str
    environment: Mapping[str, str]
    simulator: Simulator
    admin: "asyncpg.Connection[asyncpg.Record]"

    async def say(self, person: Person, words: str, answer: str) -> str:
        """Let a person write; return the message with these words that they get then."""
        before = len(self.told(person))
        await self.simulator.providers["twilio"].act(person.key, "say", {"text": words, "wait": True})
        return await self.hear(person, answer, before)

    async def hear(self, person: Person, words: str, before: int = 0) -> str:
        """Return the message with these words that a person gets."""

        def heard() -> str:
            told = self.told(person)[before:]
            assert any(words in one for one in told), told
            return next(one for one in told if words in one)

        return await eventually(heard, words)

    def told(self, person: Person) -> list[str]:
        """Return all that a person got."""
        people = self.simulator.providers["twilio"].state()["people"]  # type: ignore[index, call-overload]
        bubbles = people[person.key]["bubbles"]  # type: ignore[index, call-overload]
        return [bubble["text"] for bubble in bubbles if bubble["direction"] == "out"]  # type: ignore[index, call-overload, misc, union-attr]

    async def tenant(self, person: Person) -> str:
        return str(await self.admin.fetchval("select tenant_id from identities where user_key = $1", person.phone))


@pytest.fixture
async def running(database_url: str, redis_url: str, tmp_path: Path) -> AsyncIterator[Running]:
    """Migrate, and run web and worker, as an operator does who names the package."""
    async with AsyncExitStack() as stack:
        port, health = free_port(), tmp_path / "worker.health"
        url = f"http://127.0.0.1:{port}"
        config = SimulatorConfig(gateway_url=url, public_url=url, people=(ADA, GRACE), pace=0.05)
        simulator = await stack.enter_async_context(serve_simulator(config, Clock(), "127.0.0.1", 0))
        model = await stack.enter_async_context(ScriptedModel(script))
        environment = plain_environment() | {
            "ONEVALET_PLUGINS": f"agents,{HABITS}",
            "HABITS_MOST": "1",
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "PORT": str(port),
            "PUBLIC_URL": url,
            "ONEVALET_HOME": str(tmp_path / "home"),
            "ONEVALET_HEALTH_FILE": str(health),
            "ONEVALET_ACCESS": "open",
            "ONEVALET_SECRET_KEYS": base64.b64encode(os.urandom(32)).decode(),
            "ONEVALET_MODEL": "openai/scripted",
            "ONEVALET_MEMORY": "off",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_API_BASE": model.url,
            "TWILIO_ACCOUNT_SID": config.twilio.account_sid,
            "TWILIO_AUTH_TOKEN": config.twilio.auth_token,
            "TWILIO_FROM": config.twilio.number,
            "TWILIO_API_URL": simulator.twilio_url,
        }
        assert command(environment, "migrate") == "applied habits/0001_habits\napplied due\napplied habits/habits\n"
        for words in (["web"], ["worker", "--no-spare"]):
            await stack.enter_async_context(process(words, environment, tmp_path / f"{words[0]}.log"))
        await eventually(partial(is_ready, url), "web")
        await eventually(health.exists, "worker")
        admin = await asyncpg.connect(database_url)
        stack.push_async_callback(admin.close)
        yield Running(url, environment, simulator, admin)


@asynccontextmanager
async def process(words: list[str], environment: Mapping[str, str], log: Path) -> AsyncIterator[None]:
    """Run a process of the product for the length of the block."""
    with log.open("wb") as out:
        started = subprocess.Popen(  # noqa: ASYNC220 - it starts at once, and is waited for without blocking
            [sys.executable, "-m", "onevalet", *words], cwd=ROOT, env=environment, stdout=out, stderr=out
        )
    try:
        yield
        started.terminate()
        assert await eventually(lambda: started.poll() is not None, "its end"), words
        assert started.returncode == 0, log.name
    finally:
        started.kill()
        started.wait()


def command(environment: Mapping[str, str], *words: str) -> str:
    """Run a command of the product; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "onevalet", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


async def test_an_ability_in_one_folder_is_served_in_all_its_parts(running: Running, tmp_path: Path) -> None:
    # Its word is answered and listed, its tools are called, and its setting counts.
    await running.say(ADA, "habits", "You have no habits yet")
    await running.say(ADA, "keep stretch", "Kept: stretch, with a reminder at 07:30 each day.")
    await running.say(ADA, "keep reading", "There are too many habits already.")
    await running.say(ADA, "stretch is done", "Done today: stretch.")
    assert await running.say(ADA, "Habits.", "stretch,") == "- stretch, done today"
    assert "HABITS: your habits, and which are done today" in await running.say(ADA, "help!", "HABITS")
    await running.say(GRACE, "habits", "You have no habits yet")
    # Its page is shown to its person, and to nobody else.
    for person, shown in ((ADA, "stretch done on"), (GRACE, "There are no habits yet.")):
        link = (await running.say(person, "console", "Open this")).split()[-1]
        async with open_browser(running.url) as browser:
            assert await browser.get("/console/habits") == 401
            assert await browser.sign_in(link) == 303
            assert await browser.get("/console/habits") == 200
            assert shown in browser.text
            assert '<a href="/console/habits" aria-current="page">Habits' in browser.page
    # Its reminder is sent once, and is planned for the next day.
    await running.admin.execute("update habits set next_at = now()")
    await running.hear(ADA, "Time for: stretch")
    await eventually(
        partial(running.admin.fetchval, "select bool_and(next_at > now()) from habits"), "the next reminder"
    )
    assert sum("Time for" in one for one in running.told(ADA)) == 1
    assert not any("Time for" in one for one in running.told(GRACE))
    # Its rows are exported and deleted with the person.
    ada, archive = await running.tenant(ADA), tmp_path / "ada.zip"
    await asyncio.to_thread(command, running.environment, "tenants", "export", ada, str(archive))
    with ZipFile(archive) as packed:
        [table] = [name for name in packed.namelist() if name.endswith("habits.json")]
        assert b'"name": "stretch"' in packed.read(table)
    # The simulator, in this loop, is asked to delete its copies meanwhile.
    deleted = await asyncio.to_thread(command, running.environment, "tenants", "delete", ada, "--yes")
    assert deleted.startswith(f"Deleted: {ada}.\n")
    assert await running.admin.fetchval("select count(*) from habits") == 0


def test_without_being_named_it_is_not_there(database_url: str, redis_url: str) -> None:
    environment = plain_environment() | {"DATABASE_URL": database_url, "REDIS_URL": redis_url}
    assert "habits" not in command(environment, "migrate")
