"""Promises 1, 2 and 4 with Redis behind Sentinels, whose primary dies in the middle; wakeups go on after that."""

import asyncio
import random
from functools import partial
from pathlib import Path

import pytest

from tests.eventually import eventually
from tests.forker import Forker
from tests.servers.sentinels import Group, sentinels
from tests.spine.checker import check, until_quiet
from tests.spine.driver import Driver
from tests.spine.system import Setup, running_system
from tests.spine.texts import make_people, make_texts
from workbench.simulator.config import TwilioConfig

MESSAGES = 60


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promises_1_2_4_hold_when_the_primary_of_redis_is_killed(tmp_path: Path, forker: Forker) -> None:
    chance, people = random.Random(3), make_people(8)
    texts = make_texts(people, 2 * MESSAGES, chance)
    async with sentinels() as group:
        setup = Setup(environment={"REDIS_URL": group.url})
        async with running_system(tmp_path, people, forker, webs=1, workers=2, setup=setup) as system:
            driver = Driver(system, TwilioConfig(), chance)
            writing = asyncio.create_task(driver.deliver(texts[:MESSAGES]))
            await eventually(lambda: len(driver.taken) >= MESSAGES // 3, "a third of them")
            await eventually(partial(_wakeups, group, 0), "a wakeup")
            await group.kill_primary()
            await writing
            await until_quiet(system, within=90)
            before = await _wakeups(group, 1)
            await driver.deliver(texts[MESSAGES:])
            await until_quiet(system, within=90)
            assert await _wakeups(group, 1) > before
            findings = await check(system, texts)
            assert findings.kept(2 * MESSAGES), findings


async def _wakeups(group: Group, number: int) -> int:
    """Count the wakeups that one of the servers was told, by a process or as a replica."""
    async with group.client(number) as client:
        told = (await client.info("commandstats")).get("cmdstat_zadd", {"calls": 0})
        return int(told["calls"])
