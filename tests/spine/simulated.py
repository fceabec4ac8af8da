"""People of Slack and Telegram: they write in the simulator, which delivers, retries and repeats as those do."""

import asyncio
import random

from simulator.journal import Json
from simulator.slack import SlackSimulator
from tests.spine.system import System
from tests.spine.texts import Text


class SimulatedPeople:
    """Let people write in the simulator, and let it deliver what they wrote up to five times."""

    def __init__(self, system: System, chance: random.Random, taken: set[str]) -> None:
        self._system = system
        self._chance = chance
        self._taken = taken
        self.delivered = 0

    @property
    def retried(self) -> int:
        """Count the deliveries that the gateway did not take at once."""
        calls = self._system.simulator.wire.journal.calls()
        return sum(
            1
            for call in calls
            if call.direction == "in" and call.provider in ("slack", "telegram") and not 200 <= call.status < 300
        )

    async def deliver(self, texts: list[Text]) -> None:
        """Write everything, repeat it, and return once the gateway has taken each text."""
        for text in texts:
            await self._write(text)
            await asyncio.sleep(0.002)
        if texts:
            await self._repeat(texts)
        await self._until_taken({text.body for text in texts})

    async def _write(self, text: Text) -> None:
        provider = self._system.simulator.providers[text.channel]
        await provider.act(text.person.key, "say", {"text": text.body})

    async def _repeat(self, texts: list[Text]) -> None:
        slack = self._system.simulator.providers["slack"]
        assert isinstance(slack, SlackSimulator)
        events = [one.number for one in slack.hub.world.deliveries if "event_id" in one.payload]
        repeats: list[tuple[str, str, dict[str, Json]]] = [
            ("telegram", text.person.key, {"n": text.copies - 1})
            for text in texts
            if text.channel == "telegram" and text.copies > 1
        ]
        repeats += [
            ("slack", texts[0].person.key, {"number": number})
            for number in events
            for _ in range(self._chance.randint(0, 4))
        ]
        self._chance.shuffle(repeats)
        for provider, person, arguments in repeats:
            await self._system.simulator.providers[provider].act(person, "redeliver", arguments)
            self.delivered += 1
            await asyncio.sleep(0.002)

    async def _until_taken(self, wanted: set[str]) -> None:
        connection = await self._system.connect()
        try:
            async with asyncio.timeout(120):
                while not wanted <= self._taken:
                    rows = await connection.fetch("select text from inbound")
                    self._taken |= {row["text"] for row in rows}
                    await asyncio.sleep(0.2)
        finally:
            await connection.close()
