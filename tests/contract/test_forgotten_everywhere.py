"""What is forgotten is nowhere: in no table, no key and no file of Valkey, no log and no folder of two workers."""

import base64
import json
import re
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis

from core.inbox.inbox import Inbox
from core.json_types import Json
from core.queue.wakeups import RedisWakeups
from onevalet.servers.valkey import Valkey
from tests.contract.canaries import TWILIO
from tests.contract.channel_harnesses import SmsHarness
from tests.contract.harness import PUBLIC_URL, ChannelHarness, open_harness
from tests.core.harness import OPEN, Store, opened
from tests.eventually import eventually
from tests.forker import Forker, plain_environment
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text

CANARY = "Quixotania"
"""A word that stands nowhere else."""
WORKERS = ("one", "two")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("processes"), pytest.mark.timeout(400)]


@dataclass(slots=True)
class Everything:
    """Two workers over one channel, and all the places where they may leave a word."""

    harness: ChannelHarness
    store: Store
    valkey: Valkey
    folder: Path

    async def say(self, words: str, answered: str) -> None:
        """Write, and wait for the answer."""
        await self.harness.said(words)
        await eventually(lambda: any(answered in bubble.text for bubble in self.harness.bubbles()), answered)

    async def come_to(self, statement: str, value: object) -> None:
        """Wait until the database says so."""

        async def look() -> bool:
            return await self.store.one(statement) == value

        await eventually(look, statement)

    async def found(self) -> set[str]:
        """Return the places where the word stands."""
        places = set()
        for table in await self.store.column("select tablename::text from pg_tables where schemaname = 'public'"):
            if await self.store.one(f"select bool_or(x::text ~* $1) from {table} x", CANARY):  # noqa: S608
                places.add(str(table))
        prompts = await self.store.db.prompts.column("packed")
        if any(CANARY.encode() in zlib.decompress(bytes(packed)) for packed in prompts):  # type: ignore[call-overload]
            places.add("prompts")
        if CANARY.encode() in await self._in_valkey():
            places.add("valkey")
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        assert any(path.suffix == ".log" and path.stat().st_size for path in files), "there are logs to look into"
        assert any(path.parent.name.startswith("appendonly") for path in files), "and Valkey's own files"
        return places | {str(path) for path in files if CANARY.encode() in path.read_bytes()}

    async def _in_valkey(self) -> bytes:
        """Return all that Valkey holds, entries of streams too."""
        held = b""
        async with Redis.from_url(self.valkey.url) as client:
            async for key in client.scan_iter():
                match await client.type(key):
                    case b"stream":
                        value: object = await client.xrange(key)
                    case b"zset":
                        value = await client.zrange(key, 0, -1)
                    case b"list":
                        value = await client.lrange(key, 0, -1)
                    case b"set":
                        value = await client.smembers(key)
                    case b"hash":
                        value = await client.hgetall(key)
                    case b"string":
                        value = await client.get(key)
                    case kind:
                        raise AssertionError(f"what is a {kind!r}?")
                held += key + repr(value).encode()
        return held


@pytest.fixture
async def everything(database_url: str, tmp_path: Path, forker: Forker) -> AsyncIterator[Everything]:
    """Run two workers with memory on, each with a folder and a log file of its own."""
    valkey = Valkey(tmp_path)
    await valkey.start()
    wakeups = RedisWakeups(valkey.url)
    await wakeups.start()
    async with ScriptedModel(answer) as model, opened(database_url) as store:
        inbox = Inbox(store.database, wakeups, store.make_id, OPEN)
        async with open_harness(SmsHarness, inbox) as harness:
            environment, before = _environment(harness, database_url, valkey.url, model.url), len(forker.children)
            for name in WORKERS:
                home = {"ONEVALET_HOME": str(tmp_path / name)}
                forker.fork(["worker"], environment | home, tmp_path / f"{name}.log")
            yield Everything(harness, store, valkey, tmp_path)
            forker.end_since(before)
    await wakeups.stop()
    await valkey.stop()


def answer(call: ModelCall) -> Reply:
    """Answer the person; read nothing and decide nothing for memory, whose rules then do."""
    words = call.last_user
    if "Which of the earlier ones" in words or "KnowledgeResponse" in words:
        return text("I'd rather not.")
    results = "".join(call.tool_results.values())
    if "Forgotten for good" in results:
        return text("It is gone.")
    new = " ".join(call.new_user_texts) or words
    for asked, reply in (
        ("my holidays", text(f"{CANARY} is lovely!")),
        ("Where was I", text(f"Of course: you were in {CANARY}.")),
    ):
        if asked in new:
            return reply
    if "You may mean this" in results:
        lines = [line for line in results.splitlines() if re.match(r"\d+\. ", line)]
        return calls(("forget", {"memories": list[Json](lines)}))
    return calls(("ask_to_forget", {"what": CANARY}))


async def test_what_is_forgotten_is_in_no_table_no_key_no_file_and_no_log(everything: Everything) -> None:
    await everything.say(f"I spent my holidays in {CANARY}. I like tea.", f"{CANARY} is lovely!")
    await everything.come_to("select count(*) >= 2 from memories", True)
    await everything.say("Where was I?", "Of course: you were in")
    assert {
        "inbound",
        "history",
        "steps",
        "prompts",
        "outbound",
        "outbound_parts",
        "memories",
    } <= await everything.found()
    await everything.say(f"Forget {CANARY}, please", "I spent my holidays in")
    code = await everything.store.db.approvals.one("code")
    await everything.say(f"OK {code}", "It is gone.")
    await everything.come_to("select count(*) from memory_forgettings", 0)
    assert await everything.found() == set()
    assert await everything.store.db.memories.column("text", kind="told") == ["I like tea."]
    for name in WORKERS:
        logged = (everything.folder / f"{name}.log").read_text()
        events = [json.loads(line).get("event") for line in logged.splitlines() if line.startswith("{")]
        assert "worker_started" in events


def _environment(harness: ChannelHarness, database_url: str, redis_url: str, model_url: str) -> dict[str, str]:
    return plain_environment() | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PUBLIC_URL": PUBLIC_URL,
        "ONEVALET_ACCESS": "open",
        "ONEVALET_LOG": "json",
        "ONEVALET_MODEL": "openai/scripted",
        "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_API_BASE": model_url,
        "TWILIO_ACCOUNT_SID": TWILIO.account_sid,
        "TWILIO_AUTH_TOKEN": TWILIO.auth_token,
        "TWILIO_FROM": TWILIO.number,
        "TWILIO_API_URL": harness.simulator.twilio_url,
    }
