"""The model calls of a conversation: calls a message, and the share of a prompt that repeats the previous prompt."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import asyncpg
import pytest

from onevalet.migrating import migrate
from tests.scripted_model import ModelCall, Reply, Script, text
from tests.services import private_postgres, private_valkey
from workbench.benchmarks.suite.metrics import FLOOR, LEAN, OURS, Benchmark, Metric, Options, Samples, Target

if TYPE_CHECKING:
    from tests.abilities.memory.talking import Talking

_ABOUT = """\
One person's conversation of twenty messages. Calls: each message tells something to remember, which costs most; floor:
the calls that answer. Prompts: the share of bytes, tools included, with which the previous prompt began, which is what
a provider's cache saves. A hello: a first message with all tools that ship, fifty of MCP servers and twenty skills, at
four bytes a token; floor: without tools."""
METRICS = (
    Metric("model-calls", "model calls of a message", "calls", Target(1.1)),
    Metric("prompt-prefix", "share of a prompt that begins like the one before", "%", Target(97, more=True)),
    Metric("hello-tokens", "prompt of a hello", "tokens", Target(3000)),
)


async def run(options: Options) -> Samples:
    """Run all conversations, each in a database of its own."""
    async with private_postgres() as postgres, private_valkey() as valkey:
        await migrate(postgres.url)
        return await _measured(_Servers(postgres.url, valkey.url), options)


@dataclass(slots=True)
class _Servers:
    """Postgres with a migrated database, of which each conversation has a copy, and Valkey."""

    url: str
    valkey_url: str
    copies: int = 0

    async def copy(self) -> str:
        """Copy the database; return the address of the copy."""
        self.copies += 1
        parts = urlsplit(self.url)
        admin = await asyncpg.connect(parts._replace(path="/postgres").geturl())
        try:
            name = f"conversation_{self.copies}"
            await admin.execute(f"create database {name} template {parts.path.removeprefix('/')}")
        finally:
            await admin.close()
        return parts._replace(path=f"/{name}").geturl()


async def _measured(servers: _Servers, options: Options) -> Samples:
    from tests.abilities.memory import test_reading_talks as test_reading  # here, since they load a whole worker
    from tests.jobs.turns import prompt_cost, prompt_share

    samples, count = Samples(), options.of(20, 4)
    levels = ((OURS, "on"), (LEAN, "off"))[: options.of(2, 1)]
    async with _talking(servers, test_reading.answer, onevalet_small_model="openai/small") as person:
        for words in test_reading.PLAIN[:count]:
            await person.say(words)
            await person.remember()
            await person.read()
        await person.be_quiet()
        await person.read()
        calls = person.model.calls
        behind = [call for call in calls if call.system.startswith(test_reading.READS)]
        samples.add("model-calls", FLOOR, (len(calls) - len(behind)) / count)
        samples.add("model-calls", OURS, len(calls) / count)

    def answer(call: ModelCall) -> Reply:
        return (test_reading if call.system.startswith(test_reading.READS) else prompt_share).answer(call)

    for name, level in levels:
        async with _talking(servers, answer, onevalet_memory=level) as person:
            asked = await prompt_share.talk_with(person, "all", count)
            told = [call for call in asked if not call.system.startswith(test_reading.READS)]
            samples.add("prompt-prefix", name, prompt_share.cached_share(told) * 100)
    async with _own(servers) as (url, home, patch):
        async with prompt_cost.everything(url, servers.valkey_url, home, patch, lambda _: text("Hi")) as person:
            await person.say("hello")
            hello = person.model.calls[0]
        parts = prompt_cost.parts_of(hello)
        samples.add("hello-tokens", FLOOR, parts["system prompt"] + parts["messages"])
        samples.add("hello-tokens", OURS, prompt_cost.tokens_of(hello))
    return samples


@asynccontextmanager
async def _talking(servers: _Servers, script: Script, **configured: object) -> AsyncIterator["Talking"]:
    from tests.abilities.memory.talking import talking

    async with (
        _own(servers) as (url, home, patch),
        talking(url, servers.valkey_url, home, patch, script, **configured) as person,
    ):
        yield person


@asynccontextmanager
async def _own(servers: _Servers) -> AsyncIterator[tuple[str, Path, pytest.MonkeyPatch]]:
    """Yield the address of a new database, a folder, and a patch that sets variables meanwhile."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as home:
        yield await servers.copy(), Path(home), patch


BENCHMARK = Benchmark("model-calls", "Requests to models", _ABOUT, METRICS, run)
