"""Backup, wipe, restore: what people had left open goes on where the backup was taken."""

import random
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from redis.asyncio import Redis

from core.clock import set_clock
from core.json_types import JsonObject
from tests.eventually import eventually
from tests.forker import Forker
from tests.scripted_model import ModelCall, Reply, calls, echo, text
from tests.spine.checker import said_to, until_quiet
from tests.spine.driver import Driver
from tests.spine.system import Setup, System, running_system
from tests.spine.texts import Text, make_people
from workbench.simulator.config import TwilioConfig

ANN, BOB = 0, 1
HOUR_LATER = 7200.0


def answer(call: ModelCall) -> Reply:
    """Call the tool that a text asks for; tell what is known of the person; repeat every other text."""
    if not call.new_user_texts:
        results = [result for result in call.tool_results.values() if result.startswith("Known:")]
        return text(f"You told me: {results[-1]}" if results else "It is done.")
    tools: dict[str, tuple[str, JsonObject]] = {
        "leave mark 1": ("leave_mark", {"number": 1, "word": "kept"}),
        "remind me": ("remind_me", {"text": "the kettle", "at": "in 1 hour"}),
        "remember my dog": ("remember", {"statement": "My dog is called Pixel"}),
        "what is my dog called?": ("search_memory", {"question": "what is my dog called?"}),
    }
    found = tools.get(call.last_user)
    return calls(found) if found else echo(call)


@dataclass(slots=True)
class Talk:
    """What people write by SMS, and what they hear."""

    system: System
    chance: random.Random

    async def say(self, number: int, words: str) -> None:
        """Let one of the people say something."""
        sid = f"SM{self.chance.getrandbits(128):032x}"
        driver = Driver(self.system, TwilioConfig(), self.chance)
        await driver.deliver([Text(self.system.people[number], "sms", words, sid, 1)])

    def bubbles(self, number: int) -> list[str]:
        """Return what one of the people was told."""
        return said_to(self.system.simulator).get(self.system.people[number].phone, [])

    async def heard(self, number: int, pattern: str, *, after: int = 0) -> re.Match[str]:
        """Wait until one of the people was told what matches, after the first so many messages."""

        def told() -> re.Match[str]:
            found = re.search(pattern, "\n".join(self.bubbles(number)[after:]))
            assert found, self.bubbles(number)
            return found

        return await eventually(told, pattern)


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_approval_reminder_and_memory_outlive_a_wiped_installation(tmp_path: Path, forker: Forker) -> None:
    clock = tmp_path / "clock.json"
    set_clock(clock)
    environment = {
        "ONEVALET_CLOCK": str(clock),
        "ONEVALET_HOME": str(tmp_path / "home"),
        "ONEVALET_PLUGINS": "agents,tests.plugins.consent",
        "ONEVALET_MEMORY": "rules",
        "CONSENT_FOLDER": str(tmp_path),
    }
    setup = Setup(script=answer, environment=environment)
    async with running_system(tmp_path, make_people(2), forker, webs=1, workers=1, setup=setup) as system:
        talk = Talk(system, random.Random(3))
        await talk.say(ANN, "remember my dog")
        await talk.heard(ANN, "done")
        await talk.say(ANN, "leave mark 1")
        code = (await talk.heard(ANN, r"\bOK ([0-9A-Z]{2,3})\b"))[1]
        await talk.say(BOB, "PREFS timezone Europe/Berlin")
        await talk.heard(BOB, "Berlin")
        await talk.say(BOB, "remind me")
        await talk.heard(BOB, "done")
        await until_quiet(system, within=60)
        backup = tmp_path / "backup.zip"
        told = await _run(system, forker, "backup", str(backup))
        assert re.search(r"backup\.zip: \d+ rows and 0 files", told)
        assert "can be restored" in await _run(system, forker, "restore", "--verify", str(backup))
        assert "not empty" in await _run(system, forker, "restore", str(backup), code=2)
        for member in (*system.webs, *system.workers):
            await member.stop()
        await _wipe(system)
        assert "Restored: " in await _run(system, forker, "restore", str(backup))
        for member in (*system.webs, *system.workers):
            member.start()
        await talk.say(ANN, f"OK {code}")
        await talk.heard(ANN, "done", after=len(talk.bubbles(ANN)))
        assert (tmp_path / "effects").read_text().startswith("1 kept ")
        before = len(talk.bubbles(ANN))
        await talk.say(ANN, "what is my dog called?")
        await talk.heard(ANN, r"You told me: Known:\s+1\. My dog is called Pixel", after=before)
        set_clock(clock, offset=HOUR_LATER)
        await talk.heard(BOB, "Reminder: the kettle")
        await until_quiet(system, within=60)
        assert "\n".join(talk.bubbles(BOB)).count("Reminder: the kettle") == 1
        assert "Traceback" not in system.logs()


async def _run(system: System, forker: Forker, *words: str, code: int = 0) -> str:
    """Run a command; return what it said."""
    log = system.folder / "command.log"
    log.write_text("")
    process = forker.fork(words, system.environment, log)
    assert await process.wait() == code, log.read_text()
    return log.read_text()


async def _wipe(system: System) -> None:
    """Lose the database, and all of Redis."""
    url = urlsplit(system.postgres.url)
    connection = await asyncpg.connect(url._replace(path="/postgres").geturl())
    name = url.path.removeprefix("/")
    await connection.execute(f'drop database "{name}" with (force)')
    await connection.execute(f'create database "{name}"')
    await connection.close()
    async with Redis.from_url(system.valkey.url) as client:
        await client.flushall()
