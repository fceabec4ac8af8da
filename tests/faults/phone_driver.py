"""The people, in a separate process: they write what their plan says through the providers, and record it.

`python -m tests.faults.phone_driver FILE`, FILE holding the JSON of `PhonesPlan`. It ends when everything is said.
"""

import asyncio
import json
import random
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests.faults.journals import append

PROVIDERS = {"sms": "twilio", "slack": "slack", "telegram": "telegram"}


@dataclass(frozen=True, slots=True)
class Saying:
    """One text: `at` seconds after the start, arriving `copies` times."""

    at: float
    token: str
    person: str
    channel: str
    body: str
    copies: int = 1


@dataclass(frozen=True, slots=True)
class PhonesPlan:
    """What all people write. `seed` shuffles the copies."""

    url: str
    journal: str
    sayings: list[Saying]
    seed: int

    def to_json(self) -> str:
        """Return this as text for the process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "PhonesPlan":
        """Parse the text of `to_json`."""
        values = json.loads(text)
        return cls(**values | {"sayings": [Saying(**saying) for saying in values["sayings"]]})


def main() -> None:
    """Write everything."""
    asyncio.run(_write_all(PhonesPlan.from_json(Path(sys.argv[1]).read_text())))


async def _write_all(plan: PhonesPlan) -> None:
    began = time.monotonic()
    people: dict[tuple[str, str], list[Saying]] = {}
    for saying in sorted(plan.sayings, key=lambda saying: saying.at):
        people.setdefault((saying.person, saying.channel), []).append(saying)
    async with aiohttp.ClientSession(plan.url, timeout=aiohttp.ClientTimeout(total=60)) as session:

        async def person(sayings: list[Saying]) -> None:
            for saying in sayings:
                await asyncio.sleep(max(0.0, began + saying.at - time.monotonic()))
                await _say(session, Path(plan.journal), saying)

        async with asyncio.TaskGroup() as group:
            for sayings in people.values():
                group.create_task(person(sayings))
        await _repeat_slack(session, plan)


async def _say(session: aiohttp.ClientSession, journal: Path, saying: Saying) -> None:
    known = {"token": saying.token, "person": saying.person, "channel": saying.channel}
    append(journal, event="saying", **known)
    status, answer = await _act(session, saying, "say", {"text": saying.body})
    append(journal, event="said", status=status, **known)
    if status == 200 and saying.copies > 1:
        if saying.channel == "sms":
            await _act(session, saying, "duplicate", {"sid": answer["sid"], "times": saying.copies - 1})
        elif saying.channel == "telegram":
            for _ in range(saying.copies - 1):
                await _act(session, saying, "redeliver", {"n": 1})


async def _repeat_slack(session: aiohttp.ClientSession, plan: PhonesPlan) -> None:
    """Deliver Slack's events again, shuffled; they are known by their number only."""
    repeated = [saying for saying in plan.sayings if saying.channel == "slack" and saying.copies > 1]
    if not repeated:
        return
    chance = random.Random(plan.seed)
    # Events are numbered from 1; a number that is not an event's is refused, which does no harm.
    numbers = range(1, sum(saying.channel == "slack" for saying in plan.sayings) + 1)
    again = [number for number in numbers for _ in range(chance.randint(0, 4))]
    chance.shuffle(again)
    for number in again:
        await _act(session, repeated[0], "redeliver", {"number": number})


async def _act(
    session: aiohttp.ClientSession, saying: Saying, action: str, arguments: dict[str, Any]
) -> tuple[int, Any]:
    path = f"/sim/{PROVIDERS[saying.channel]}/{action}"
    async with session.post(path, json={"person": saying.person, **arguments}) as answer:
        return answer.status, await answer.json()


if __name__ == "__main__":
    main()
