"""People who write to a running system, in a burst or at a rate, and the measured cost."""

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import asyncpg
import psutil

from tests.spine.checker import TOKEN
from tests.spine.driver import Driver
from tests.spine.texts import Text, make_texts
from workbench.benchmarks.cpu import until_rest
from workbench.benchmarks.scale.cost import PARTS, used
from workbench.benchmarks.scale.installation import Installation
from workbench.benchmarks.whole.model import plain
from workbench.simulator.config import Person, TwilioConfig
from workbench.simulator.twilio import TwilioSimulator

_WITHIN = 3600.0
_OURS = TwilioConfig().number
_TO_REMEMBER = "memory_jobs where not_before <= now() or lease_until > now()"
_QUIET = f"""
update profile_jobs j set not_before = j.not_before - interval '10 minutes'
from (select tenant_id, turn_id from profile_jobs where attempts = 0 and not_before > now() - interval '5 minutes'
        and tenant_id not in (select tenant_id from {_TO_REMEMBER}) for update skip locked) q
where j.tenant_id = q.tenant_id and j.turn_id = q.turn_id
"""  # noqa: S608
"""Lets the people have been quiet: a message is a talk of its own, read as soon as memory has taken it."""
_UNREAD = f"select exists (select from profile_jobs) or exists (select from {_TO_REMEMBER})"  # noqa: S608
type _Connection = "asyncpg.Connection[asyncpg.Record]"


@dataclass(frozen=True, slots=True)
class Load:
    """The results of a load; `cost`: milliseconds of CPU by part for all that a message leads to.

    `rate`: messages a second until the last was answered; `sustained`: until the workers had done all else and rested.
    """

    rate: float
    sustained: float
    cost: dict[str, float]


class People:
    """The people who write, each with texts of their own."""

    def __init__(self, installation: Installation, everyone: Sequence[Person]) -> None:
        self._installation = installation
        self._everyone = tuple(everyone)
        self._chance = random.Random(0)
        self._written = 0

    async def burst(self, messages: int) -> Load:
        """Write a number of messages as fast as they are accepted; all are answered before this returns."""
        return await self._measured(messages, lambda driver, texts: driver.deliver(texts))

    async def steadily(self, rate: float, seconds: float) -> Load:
        """Write single messages at a rate per second."""
        return await self._measured(round(rate * seconds), lambda driver, texts: driver.deliver(texts, rate=rate))

    async def _measured(self, messages: int, write: Callable[[Driver, list[Text]], Awaitable[None]]) -> Load:
        texts = make_texts(self._everyone, messages, self._chance, ("sms",), first=self._written)
        texts = [replace(text, copies=1, body=plain(number, text.body)) for number, text in enumerate(texts)]
        self._written += messages
        system = self._installation.system
        driver, admin = Driver(system, TwilioConfig(), self._chance), await system.connect()
        try:
            before, began = used(self._installation), time.monotonic()
            async with asyncio.timeout(_WITHIN):
                async with asyncio.TaskGroup() as group:
                    await self._until_answered(admin, group.create_task(write(driver, texts)))
                answered = time.monotonic()
                await _until_done(admin)
            await until_rest(*(psutil.Process(worker.pid) for worker in system.workers))
            spent, rested = used(self._installation).since(before), time.monotonic()
        finally:
            await admin.close()
        cost = {part: spent[part] * 1000 / messages for part in PARTS}
        return Load(messages / (answered - began), messages / (rested - began), cost)

    async def _until_answered(self, admin: _Connection, writing: "asyncio.Task[None]") -> None:
        """Wait until every message that was ever written has its answer; each second what was said becomes a talk."""
        provider = self._installation.system.simulator.providers["twilio"]
        assert isinstance(provider, TwilioSimulator)  # noqa: S101 - a measurement
        for look in itertools.count():
            if writing.done() and _answers(provider) >= self._written:
                return
            if look % 5 == 0:
                await admin.execute(_QUIET)
            await asyncio.sleep(0.2)


async def _until_done(admin: _Connection) -> None:
    """Wait until memory has done what follows the answers."""
    while await admin.fetchval(_UNREAD):
        await admin.execute(_QUIET)
        await asyncio.sleep(0.2)


def _answers(provider: TwilioSimulator) -> int:
    """Count the answered messages: a person who writes twice before an answer gets a single answer to both."""
    return sum(len(TOKEN.findall(sent.body)) for sent in provider._store.messages.values() if sent.sender == _OURS)
