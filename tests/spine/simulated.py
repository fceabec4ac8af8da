"""People of Slack and Telegram: they write in the simulator, which delivers, retries and repeats as those do."""

import asyncio
import random

from core.db.outages import is_passing
from tests.eventually import eventually
from tests.spine.system import System
from tests.spine.texts import Text
from workbench.simulator.journal import Json
from workbench.simulator.slack import SlackSimulator


class SimulatedPeople:
    """Let people write in the simulator, and let it deliver what they wrote up to five times."""

    def __init__(self, system: System, chance: random.Random, taken: set[str]) -> None:
        self._system = system
        self._chance = chance
        self._taken = taken

    @property
    def delivered(self) -> int:
        """Count the deliveries that the gateway took, repeats included."""
        return sum(1 for status in self._statuses() if 200 <= status < 300)

    @property
    def retried(self) -> int:
        """Count the deliveries that the gateway did not take at once."""
        return sum(1 for status in self._statuses() if not 200 <= status < 300)

    def _statuses(self) -> list[int]:
        calls = self._system.simulator.wire.journal.calls()
        return [call.status for call in calls if call.direction == "in" and call.provider in ("slack", "telegram")]

    async def deliver(self, texts: list[Text]) -> None:
        """Write everything, repeat it, and return once the gateway has taken each text."""
        if not texts:
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._until_taken({text.body for text in texts}))
            for text in texts:
                await self._write(text)
                await asyncio.sleep(0.01)
            await self._repeat(texts)

    async def _write(self, text: Text) -> None:
        provider = self._system.simulator.providers[text.channel]
        await provider.act(text.person.key, "say", {"text": text.body})

    async def _repeat(self, texts: list[Text]) -> None:
        slack = self._system.simulator.providers["slack"]
        assert isinstance(slack, SlackSimulator)
        events = [delivery.number for delivery in slack.hub.world.deliveries if "event_id" in delivery.payload]
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
            await asyncio.sleep(0.002)

    async def _until_taken(self, wanted: set[str]) -> None:
        async def taken() -> bool:
            self._taken |= await self._kept()
            assert wanted <= self._taken, f"{len(wanted - self._taken)} are missing"
            return True

        await eventually(taken, "each text", within=120)

    async def _kept(self) -> set[str]:
        """Return the texts that are in the database, or none while it is away."""
        try:
            connection = await self._system.connect()
        except Exception as error:
            if not is_passing(error):
                raise
            return set()
        try:
            return {row["text"] for row in await connection.fetch("select text from inbound")}
        except Exception as error:
            if not is_passing(error):
                raise
            return set()
        finally:
            connection.terminate()  # closing asks the server, which may be away
