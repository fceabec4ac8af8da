"""People who write to a running system, in a burst or at a rate, and the measured cost."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from tests.spine.checker import TOKEN
from tests.spine.driver import Driver
from tests.spine.texts import Text, make_texts
from workbench.benchmarks.scale.cost import PARTS, used
from workbench.benchmarks.scale.installation import Installation
from workbench.simulator.config import Person, TwilioConfig
from workbench.simulator.twilio import TwilioSimulator

_WITHIN = 3600.0
_OURS = TwilioConfig().number


@dataclass(frozen=True, slots=True)
class Load:
    """The results of a load; `cost`: milliseconds of CPU a message, by part."""

    messages: int
    seconds: float
    cost: dict[str, float]

    @property
    def rate(self) -> float:
        """Return the messages a second, from the first that was sent to the last that was answered."""
        return self.messages / self.seconds


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
        texts = [replace(text, copies=1) for text in texts]
        self._written += messages
        driver = Driver(self._installation.system, TwilioConfig(), self._chance)
        before, began = used(self._installation), time.monotonic()
        await write(driver, texts)
        await self._until_answered()
        ended = time.monotonic()
        spent = used(self._installation).since(before)
        return Load(messages, ended - began, {part: spent[part] * 1000 / messages for part in PARTS})

    async def _until_answered(self) -> None:
        """Wait until every message that was ever written has its answer."""
        provider = self._installation.system.simulator.providers["twilio"]
        assert isinstance(provider, TwilioSimulator)  # noqa: S101 - a measurement
        async with asyncio.timeout(_WITHIN):
            while _answers(provider) < self._written:  # noqa: ASYNC110 - it counts
                await asyncio.sleep(0.2)


def _answers(provider: TwilioSimulator) -> int:
    """Count the answered messages: a person who writes twice before an answer gets a single answer to both."""
    return sum(len(TOKEN.findall(sent.body)) for sent in provider._store.messages.values() if sent.sender == _OURS)
