"""T17: one person, or one stranger, does the worst that they can, and another's text is answered as soon as before."""

import asyncio
import itertools
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass

import aiohttp

from tests.eventually import eventually
from tests.faults.harness import Harness
from tests.faults.phone_driver import PROVIDERS, Saying
from tests.faults.results import Result, conclude, settle, timed
from tests.faults.script import FLOOD, MANY, NUMBERS
from tests.patience import patience
from workbench.simulator.config import Person

MOST = 2.0
"""How many times as long as without it an answer may take, in the median."""
ANSWERED_WITHIN = 60.0
_CONNECTIONS = 600
_DEEP = """
insert into tasks (tenant_id, id, number, title, kind, trigger, executor, action, anchor, due_at, next_at, created_at)
select i.tenant_id, 'task_deep', 900, 'Deep', 'condition',
       '{"tool": "act_deep", "expression": "value == 1", "path": "$..*..*..*..*..*", "every_minutes": 1}',
       'orchestrator', '{"instruction": "go"}', now(), now(), now(), now()
from identities i where i.user_key = $1
"""
_KNOWN = "select 1 from identities where user_key = $1"
_LOOK_AGAIN = "update tasks set next_at = clock_timestamp() where id = 'task_deep'"
_NO_MORE_LOOKS = "delete from tasks where id = 'task_deep'"

type Worst = Callable[[Harness, Person], AbstractAsyncContextManager[None]]


@dataclass(slots=True)
class Ears:
    """Hear when the provider is handed an answer, by what its journal says."""

    session: aiohttp.ClientSession
    url: str

    async def until_answered(self, token: str) -> None:
        """Wait for the answer that names a token, which is timed: the looks are close to each other."""
        async with asyncio.timeout(patience(ANSWERED_WITHIN)):
            while not await self._answered(token):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)

    async def _answered(self, token: str) -> bool:
        async with self.session.get(f"{self.url}/sim/journal?provider=twilio&last=200") as answer:
            calls = await answer.json()
        return any(call["endpoint"] == "twilio.messages.create" and token in str(call["request"]) for call in calls)


async def neighbours(harness: Harness, *, texts: int) -> Result:
    """T17: so many texts by SMS, one after the other: alone, and beside the worst of somebody else."""
    result = Result("T17", "one person does the worst that they can", f"others wait at most {MOST:.0f} times as long")
    # Those who write by SMS, in turn: nobody meets the limit that is there for who writes too much.
    *others, worst_of_all = harness.people[::3]
    turns = itertools.cycle(others)
    sayings: list[Saying] = []
    async with timed(result), aiohttp.ClientSession() as session:
        ears = Ears(session, harness.simulator_url)
        sayings += (await _talk(harness, ears, turns, 3))[0]
        for name, worst in WORST.items():
            before, alone = await _talk(harness, ears, turns, texts)
            async with worst(harness, worst_of_all):
                await asyncio.sleep(1)  # it has begun
                beside, with_it = await _talk(harness, ears, turns, texts)
            sayings += [*before, *beside]
            usual, now = statistics.median(alone) * 1000, statistics.median(with_it) * 1000
            ratio = now / usual
            result.numbers[name] = f"{ratio:.2f} times ({now:.0f} and {usual:.0f} ms)"
            result.require(ratio <= MOST, f"{name}: answers took {ratio:.2f} times as long")
        await settle(harness, result)
        await conclude(harness, sayings, result)
    return result


async def _talk(harness: Harness, ears: Ears, turns: Iterator[Person], texts: int) -> tuple[list[Saying], list[float]]:
    """Let people write, one after the other, and wait for the answer; return what was said and how long each took."""
    sayings, took = [], []
    for person in itertools.islice(turns, texts):
        token = harness.token(person.key)
        began = time.monotonic()
        await harness.act(person.key, "twilio", "say", text=token)
        await ears.until_answered(token)
        took.append(time.monotonic() - began)
        sayings.append(Saying(0.0, token, person.key, "sms", token))
    return sayings, took


@asynccontextmanager
async def _again(act: Callable[[], Awaitable[object]], every: float) -> AsyncIterator[None]:
    """Do something again and again for the block."""

    async def loop() -> None:
        while True:
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                await act()
            await asyncio.sleep(every)

    task = asyncio.create_task(loop())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _saying(word: str, every: float) -> Worst:
    """Return what lets a person write texts that the model answers at its worst."""

    @asynccontextmanager
    async def worst(harness: Harness, person: Person) -> AsyncIterator[None]:
        async def say() -> None:
            text = f"{harness.token(person.key)} {word}".strip()
            await harness.act(person.key, PROVIDERS["telegram"], "say", text=text)

        async with _again(say, every):
            yield

    return worst


@asynccontextmanager
async def _watching(harness: Harness, person: Person) -> AsyncIterator[None]:
    """Look again and again, by a path that has no end, at an answer that is ninety deep."""
    await harness.act(person.key, "twilio", "say", text="hello")
    connection = await harness.connect()
    try:
        await eventually(lambda: connection.fetchval(_KNOWN, person.phone), "somebody who is known")
        await connection.execute(_DEEP, person.phone)
        async with _again(lambda: connection.execute(_LOOK_AGAIN), 0.5):
            yield
        await connection.execute(_NO_MORE_LOOKS)
    finally:
        await connection.close()


@asynccontextmanager
async def _holding_connections(harness: Harness, _: Person) -> AsyncIterator[None]:
    """Hold more connections than the gateway has room for, and open again those that it closes."""
    held: list[asyncio.StreamWriter] = []
    port = int(harness.webs[0].environment["PORT"])

    async def top_up() -> None:
        held[:] = [saying for saying in held if not saying.is_closing()]
        while len(held) < _CONNECTIONS:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            held.append(writer)

    async with _again(top_up, 0.2):
        yield
    for saying in held:
        saying.close()


def _flooding(path: str) -> Worst:
    """Return what posts unproven requests, as fast as one client can."""

    @asynccontextmanager
    async def worst(harness: Harness, _: Person) -> AsyncIterator[None]:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:

            async def post() -> None:
                form = {"MessageSid": "SM" + "0" * 32, "From": "+15550001111", "Body": "x" * 500}
                async with session.post(f"{harness.webs[0].url}{path}", data=form) as answer:
                    await answer.read()

            async with _again(post, 0.01):
                yield

    return worst


WORST: dict[str, Worst] = {
    "a watch without end": _watching,
    "answers of 200,000 characters": _saying(FLOOD, 1.0),
    "500 calls in one answer": _saying(MANY, 1.0),
    "numbers that are none": _saying(NUMBERS, 1.0),
    "texts without pause": _saying("", 0.1),
    f"{_CONNECTIONS} idle connections": _holding_connections,
    "forged texts without pause": _flooding("/webhooks/sms"),
    "events of unknown sources without pause": _flooding("/events/nobody"),
}
