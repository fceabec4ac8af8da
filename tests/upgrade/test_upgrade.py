"""An update as it happens: the newest code migrates the previous release's database while its processes are at work."""

import asyncio
import random
import re
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from core.clock import set_clock
from onevalet.migrating import check_database, migrate
from tests.eventually import eventually
from tests.forker import Forker
from tests.scripted_model import ModelCall, Reply, calls, echo, text
from tests.spine.checker import check, said_to, until_quiet
from tests.spine.driver import Driver
from tests.spine.system import Setup, System, running_system
from tests.spine.texts import Text, make_people, make_texts
from tests.upgrade.previous import migrate_tables, migrate_with, unpack
from workbench.simulator.config import TwilioConfig

PEOPLE = 9
ASKING = 3
REMINDED = ASKING
BEFORE, MEANWHILE, BETWEEN, AFTER = 18, 90, 18, 18
DUE = 7200.0
"""Seconds until the reminder is due."""
_REPLACED = re.compile(
    r"\[error +\] (?:turn_write_refused|worker_part_failed)[^\n]*\nTraceback(?:(?!\n\d{4}-\d\d-\d\d).)*?"
    r"UndefinedFunctionError: sqlstate 42883\n",
    re.DOTALL,
)
"""The lines of 0.1.0 about a call whose function was replaced meanwhile, which it makes again. Later code waits."""


def answer(call: ModelCall) -> Reply:
    """Call the tool that a text asks for, and repeat every other text."""
    if not call.new_user_texts:
        return text("It is done.")
    if mark := re.fullmatch(r"leave mark (\d)", call.last_user):
        return calls(("leave_mark", {"number": int(mark[1]), "word": "kept"}))
    if call.last_user == "remind me":
        return calls(("remind_me", {"text": "the kettle", "at": "in 1 hour"}))
    return echo(call)


@dataclass(slots=True)
class Talk:
    """What people write over the whole update, by SMS. The first of them wait for a card or a reminder."""

    system: System
    chance: random.Random
    texts: list[Text]

    async def deliver(self, count: int) -> None:
        """Let the others write, each text delivered up to five times."""
        fresh = make_texts(self.system.people[ASKING + 1 :], count, self.chance, first=len(self.texts))
        self.texts += fresh
        await self._driver().deliver(fresh)

    async def say(self, number: int, words: str) -> None:
        """Let one of the people say something."""
        sid = f"SM{self.chance.getrandbits(128):032x}"
        await self._driver().deliver([Text(self.system.people[number], "sms", words, sid, 1)])

    async def heard(self, number: int, pattern: str) -> re.Match[str]:
        """Wait until one of the people has been told what matches, and return it."""

        def told() -> re.Match[str]:
            bubbles = said_to(self.system.simulator).get(self.system.people[number].phone, [])
            found = re.search(pattern, "\n".join(bubbles))
            assert found, bubbles
            return found

        return await eventually(told, pattern, within=90)

    def _driver(self) -> Driver:
        return Driver(self.system, TwilioConfig(), self.chance)


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_nothing_is_lost_or_doubled_while_old_and_new_processes_work(tmp_path: Path, forker: Forker) -> None:
    old = unpack(tmp_path / "previous")
    clock = tmp_path / "clock.json"
    set_clock(clock)
    environment = {
        "ONEVALET_CLOCK": str(clock),
        "ONEVALET_PLUGINS": "agents,tests.plugins.consent",
        "CONSENT_FOLDER": str(tmp_path),
    }
    setup = Setup(script=answer, environment=environment, migrate=partial(migrate_with, old))
    with Forker(root=old) as before:
        async with running_system(tmp_path, make_people(PEOPLE), before, webs=1, workers=2, setup=setup) as system:
            talk = Talk(system, random.Random(7), [])
            await talk.deliver(BEFORE)
            for number in range(ASKING):
                await talk.say(number, f"leave mark {number}")
            await talk.say(REMINDED, "PREFS timezone Europe/Berlin")
            await talk.heard(REMINDED, "Berlin")
            await talk.say(REMINDED, "remind me")
            codes = [(await talk.heard(number, r"\bOK ([0-9A-Z]{2,3})\b"))[1] for number in range(ASKING)]
            await talk.heard(REMINDED, "It is done")
            # One decides before the update, one in it, one after it.
            await talk.say(0, f"OK {codes[0]}")
            await _update(talk, old, forker, during=partial(talk.say, 1, f"OK {codes[1]}"))
            await talk.deliver(AFTER)
            await talk.say(2, f"OK {codes[2]}")
            await until_quiet(system, within=90)
            set_clock(clock, offset=DUE)
            await talk.heard(REMINDED, "Reminder: the kettle")
            await until_quiet(system, within=90)
            findings = await check(system, talk.texts)
            assert findings.lost == findings.doubled == findings.out_of_order == findings.unknown == 0, findings
            assert findings.rows == len(talk.texts)
            marks = (tmp_path / "effects").read_text().splitlines()
            assert sorted(mark.split()[0] for mark in marks) == ["0", "1", "2"]
            logs = _REPLACED.sub("", system.logs())
    for word in ("Traceback", "work_failed", "turn_failed"):
        assert word not in logs, logs[max(0, logs.find(word) - 500) : logs.find(word) + 3000]


async def _update(talk: Talk, previous: Path, newest: Forker, *, during: Callable[[], Awaitable[None]]) -> None:
    """Migrate and replace all processes, some by SIGKILL, while people write.

    The tables change while some of them write; others write before the functions do, which is a moment in life.
    """
    system = talk.system
    old = [*system.webs, *system.workers]
    writing = asyncio.create_task(talk.deliver(MEANWHILE))
    await migrate_tables(system.postgres.url, previous)
    await talk.deliver(BETWEEN)
    await migrate(system.postgres.url)
    assert (await check_database(system.postgres.url)).is_current
    await newest.ready()
    new = [await system.add("web", newest), await system.add("worker", newest), await system.add("worker", newest)]
    await old[1].stop(signal.SIGKILL)
    await during()
    await new[1].stop(signal.SIGKILL)
    new[1].start()
    await writing
    for member in (old[0], old[2]):
        await member.stop()
    system.webs.remove(old[0])
