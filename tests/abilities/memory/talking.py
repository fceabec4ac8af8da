"""People who talk with a worker as `onevalet worker` has it, whose model is scripted and behind the real wire."""

import base64
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from abilities.memory.jobs import MemoryWork
from abilities.memory.momex import Momex
from abilities.memory.opening import memory_work, talk_reader
from abilities.memory.talks import TalkReader
from core.inbox.inbox import Inbox
from core.messaging.messages import Address, Command, InboundMessage
from core.queue.wakeups import NoWakeups
from onevalet.settings import Settings
from onevalet.supervision.worker_start import ALONE
from onevalet.wiring.worker_parts import WorkerParts
from tests.abilities.memory.patient_recall import be_patient
from tests.core.harness import OPEN, Store, opened
from tests.core.people.harness import CODE
from tests.scripted_model import Script, ScriptedModel

PHONE, CHAT = Address("sms", "+15550009999", "+15550000001"), Address("telegram", "700", "7001")


@dataclass(slots=True)
class Talking:
    """A worker's parts, and one person's addresses. Nothing runs by itself."""

    store: Store
    parts: WorkerParts
    model: ScriptedModel
    memory: MemoryWork
    talks: TalkReader

    async def say(self, words: str, address: Address = PHONE, command: Command | None = None) -> str:
        """Let the person write, and the turn be done; return the reply."""
        inbox, key = Inbox(self.store.database, NoWakeups(), self.store.make_id, OPEN), self.store.make_id("SM")
        await inbox.accept(InboundMessage(address, address.peer, (key,), words, command=command, provider_id=key))
        while lease := await self.parts.turns.claim(None):
            await self.parts.turns.run(lease)
        said = "select text from outbound o join conversations c on c.id = o.conversation_id where c.channel = $1"
        return str(await self.store.one(f"{said} order by o.created_at desc, o.seq desc limit 1", address.channel))

    async def remember(self) -> None:
        """Do memory's jobs, as a worker does right after a turn."""
        while job := await self.memory.claim(None, "w1"):
            await self.memory.run(job)

    async def read(self) -> None:
        """Read what is due by now, as a worker does every few seconds."""
        await self.talks.drain()

    async def be_quiet(self) -> None:
        """Let the person have said nothing for a while."""
        await self.store.admin.execute("update profile_jobs set not_before = not_before - interval '6 minutes'")

    async def link(self) -> None:
        """Let both addresses be those of one person."""
        match = CODE.search(await self.say("/link", CHAT, Command("link", "")))
        assert match is not None
        await self.say(f"LINK {match[1]}", PHONE, Command("link", match[1]))
        await self.say(f"LINK {match[1]} AGREE", PHONE, Command("link", f"{match[1]} AGREE"))
        assert await self.store.one("select count(distinct tenant_id) from identities") == 1


@asynccontextmanager
async def talking(
    database_url: str, redis_url: str, home: Path, monkeypatch: pytest.MonkeyPatch, script: Script, **configured: object
) -> AsyncIterator[Talking]:
    """Yield a worker with the tools that ship, behind a scripted model."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel(script))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        store = await stack.enter_async_context(opened(database_url))
        settings = {
            "onevalet_home": home,
            "onevalet_model": "openai/scripted",
            "onevalet_secret_keys": base64.b64encode(bytes(32)).decode(),
            "onevalet_rate_per_minute": 10_000,  # they say all of it within seconds
        }
        settings |= configured
        loaded = Settings(_env_file=None, database_url=database_url, redis_url=redis_url, **settings)  # type: ignore[arg-type]
        parts = await WorkerParts.open(stack, loaded, ALONE)
        momex = parts.assistant.orchestrator.momex
        if isinstance(momex, Momex):
            be_patient(momex)
        memory = memory_work(momex, parts.connections.database, NoWakeups())
        yield Talking(store, parts, model, memory, talk_reader(parts.foundation, memory))
