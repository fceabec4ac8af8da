"""The system that is killed: a web process, workers that die one after another, and one that finishes their turns."""

import base64
import signal
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import asyncpg

from core.clock import Clock
from core.json_types import Json
from tests.eventually import eventually
from tests.forker import Forked, Forker, plain_environment
from tests.ports import free_port
from tests.readiness import is_ready
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import Person, SimulatorConfig

STEPS = 4
MARKS = STEPS - 1
BETWEEN = tuple(f"{step}.{call}" for step in range(STEPS) for call in (0, 1) if (step, call) != (STEPS - 1, 1))
"""The points between any two steps: behind each answer of the model and each result of a tool."""
LAST = BETWEEN[-1]
"""Behind the answer that ends the turn: it is written with the end, and asked for again if there is none."""
INSIDE = tuple(f"{word}{step}{rest}" for step in range(MARKS) for word, rest in (("started ", ".1"),)) + tuple(
    f"acted {step}" for step in range(MARKS)
)
"""The points inside a step: the tool has started, or has acted, and nobody wrote down how it ended."""
_OPEN = "select waiting_messages + running_turns + open_outbound from count_work()"
HOLD = "update lanes set lease_until = clock_timestamp() + '1 hour' where owner is not null"
RELEASE = "update lanes set lease_until = clock_timestamp() where owner is not null"
"""Ends the leases of workers that have died."""
_SENT = "select count(*) from outbound where state = 'sent'"


@dataclass(frozen=True, slots=True)
class Fate:
    """The outcome of one turn. `runs` are the processes that worked on it, in order."""

    plan: str
    died: bool
    runs: tuple[str, ...]
    marks: dict[int, int]
    model_calls: int
    answers: tuple[str, ...]

    @property
    def well(self) -> bool:
        """Return whether its process died and another finished it as if nothing had happened."""
        marks = dict.fromkeys(range(MARKS), 1)
        finished = self.died and len(set(self.runs)) == 2 and self.marks == marks
        asked = STEPS + (self.plan == LAST)
        return finished and self.model_calls == asked and self.answers == ("all marks are made",)

    @property
    def bounded(self) -> bool:
        """Return whether each tool ran at most once and there was one answer, which holds inside a step too."""
        return self.died and len(self.answers) == 1 and max(self.marks.values(), default=0) <= 1


async def run_kills(
    folder: Path, database_url: str, redis_url: str, plans: Sequence[str], forker: Forker
) -> list[Fate]:
    """Run a turn for each plan in a process that dies at the plan's point; then let one process finish them all.

    The dead ones' leases are held until the last has died, so that none takes another's turn with it.
    """
    people = tuple(
        Person(f"k{n:02}", f"Person {n}", f"+1555030{n:04}", f"U0K{n:07}", 610_000_000 + n) for n in range(len(plans))
    )
    async with open_system(folder, database_url, redis_url, people, ScriptedModel(_next_step), forker) as system:
        for person, plan in zip(people, plans, strict=True):
            await system.say(person, f"{person.key} {plan}")
            victim = system.fork_worker("victim", KILLS_ONLY=person.key)
            ended = await victim.wait()
            assert ended == -signal.SIGKILL, (plan, ended, (folder / "victim.log").read_text()[-3000:])
            await system.admin.execute(HOLD)
        await system.admin.execute(RELEASE)
        await system.finish(len(plans))
    return [_fate(system, person, plan) for person, plan in zip(people, plans, strict=True)]


@dataclass(slots=True)
class System:
    """A web process, and workers as they are wanted."""

    folder: Path
    forker: Forker
    environment: dict[str, str]
    simulator: Simulator
    model: ScriptedModel
    admin: "asyncpg.Connection[asyncpg.Record]"

    async def say(self, person: Person, words: str, *media: Json) -> str:
        """Let a person write; return its id at the provider when it is stored."""
        told = await self.simulator.providers["twilio"].act(
            person.key, "say", {"text": words, "media": [*media], "wait": True}
        )
        assert isinstance(told, dict)
        return str(told["sid"])

    async def on_telegram(self, person: Person, action: str, **values: Json) -> int:
        """Let a person write or edit on Telegram; return the message's number once the update is stored."""
        told = await self.simulator.providers["telegram"].act(person.key, action, values)
        assert isinstance(told, dict)

        async def stored() -> bool:
            key = f"update:{told['update_id']}"
            known = await self.admin.fetchval("select exists (select from inbox_keys where key = $1)", key)
            assert known, (self.folder / "web.log").read_text()[-3000:]
            return True

        await eventually(stored, "the update")
        return int(str(told["message_id"]))

    def fork_worker(self, name: str, **more: str) -> Forked:
        """Start a worker."""
        return self.forker.fork(["worker", "--no-spare"], self.environment | more, self.folder / f"{name}.log")

    async def finish(self, sent: int) -> None:
        """Let a last worker finish all that is left, which makes so many messages in all."""
        survivor = self.fork_worker("survivor")
        try:
            await _until_quiet(self.admin, sent, self.folder)
        finally:
            await _end(survivor)

    async def end(self, worker: Forked) -> None:
        """Ask a worker to end, and wait until it has."""
        await _end(worker)

    def answers(self, person: Person) -> tuple[str, ...]:
        """Return what the person got."""
        people = self.simulator.providers["twilio"].state()["people"]  # type: ignore[index, call-overload]
        bubbles = people[person.key]["bubbles"]  # type: ignore[index, call-overload]
        return tuple(bubble["text"] for bubble in bubbles if bubble["direction"] == "out")  # type: ignore[index, call-overload, misc, union-attr]


@asynccontextmanager
async def open_system(
    folder: Path,
    database_url: str,
    redis_url: str,
    people: Sequence[Person],
    model: ScriptedModel,
    forker: Forker,
    *,
    telegram: bool = False,
) -> AsyncIterator[System]:
    """Yield a system without workers, on SMS, and on Telegram if that is asked for."""
    (folder / "effects").touch()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(model)
        port = free_port()
        config = SimulatorConfig(
            gateway_url=f"http://127.0.0.1:{port}", public_url="https://valet.example", people=tuple(people), pace=0.05
        )
        simulator = await stack.enter_async_context(serve_simulator(config, Clock(), "127.0.0.1", 0))
        environment = _environment(folder, database_url, redis_url, config, simulator, model)
        if telegram:
            token = {"TELEGRAM_BOT_TOKEN": config.telegram.bot_token, "TELEGRAM_API_URL": simulator.telegram_url}
            environment |= token
        await forker.ready()
        web = forker.fork(["web"], environment | {"PORT": str(port)}, folder / "web.log")
        stack.push_async_callback(_end, web)
        await _until_listening(port)
        admin = await stack.enter_async_context(_admin(database_url))
        yield System(folder, forker, environment, simulator, model, admin)


def _next_step(call: ModelCall) -> Reply:
    """Ask for one mark after another, then answer; the conversation shows which is next."""
    turn = call.last_user.split()[0]
    done = len(call.tool_results)
    return calls(("mark", {"turn": turn, "number": done})) if done < MARKS else text("all marks are made")


def _fate(system: System, person: Person, plan: str) -> Fate:
    runs = [line.split() for line in (system.folder / "runs").read_text().splitlines()]
    return Fate(
        plan=plan,
        died=(system.folder / f"died-{person.key}").exists(),
        runs=tuple(pid for turn, pid in runs if turn == person.key),
        marks=made_marks(system.folder, person.key),
        model_calls=sum(call.last_user.split()[0] == person.key for call in system.model.calls),
        answers=system.answers(person),
    )


def made_marks(folder: Path, turn: str) -> dict[int, int]:
    """Return how often each mark of a turn was made."""
    effects = [line.split() for line in (folder / "effects").read_text().splitlines()]
    return dict(Counter(int(number) for whose, number in effects if whose == turn))


async def _until_quiet(admin: "asyncpg.Connection[asyncpg.Record]", turns: int, folder: Path) -> None:
    async def quiet() -> bool:
        # An answer too many is on its way by the time that nothing is open any more.
        done = not await admin.fetchval(_OPEN) and await admin.fetchval(_SENT) >= turns
        assert done, (folder / "survivor.log").read_text()[-5000:]
        return True

    await eventually(quiet, "quiet")


async def _end(process: Forked) -> None:
    process.send_signal(signal.SIGTERM)
    await process.wait()


@asynccontextmanager
async def _admin(database_url: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    connection = await asyncpg.connect(database_url)
    try:
        yield connection
    finally:
        await connection.close()


def _environment(
    folder: Path, database_url: str, redis_url: str, config: SimulatorConfig, simulator: Simulator, model: ScriptedModel
) -> dict[str, str]:
    return plain_environment() | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PUBLIC_URL": config.public_url,
        "ONEVALET_ACCESS": "open",
        "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
        "ONEVALET_MODEL": "openai/scripted",
        "ONEVALET_MEMORY": "off",  # has kills of its own, and asks the scripted model nothing here
        "ONEVALET_PLUGINS": "tests.plugins.kills",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_API_BASE": model.url,
        "TWILIO_ACCOUNT_SID": config.twilio.account_sid,
        "TWILIO_AUTH_TOKEN": config.twilio.auth_token,
        "TWILIO_FROM": config.twilio.number,
        "TWILIO_API_URL": simulator.twilio_url,
        "ONEVALET_FILES": str(folder / "files"),
        "KILLS_FOLDER": str(folder),
    }


async def _until_listening(port: int) -> None:
    await eventually(partial(is_ready, f"http://127.0.0.1:{port}"), "readiness")
