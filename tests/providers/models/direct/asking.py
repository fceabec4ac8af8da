"""A whole turn over the wire: an assistant with one tool, and a provider that replays given answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from core.journal.in_memory import MemoryJournal
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.tool import tool
from core.turns.event_stream import StreamEventType
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Place, TurnRequest, TurnWork
from providers.models.litellm_client import LiteLLMClient
from tests.core.turns.test_orchestrator import NOW
from tests.providers.models.direct.replay import Transcript, Wire, replaying

PROVIDERS: Mapping[str, tuple[str, str]] = {
    "openai": ("OPENAI_API_BASE", "OPENAI_API_KEY"),
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_API_KEY"),
    "gemini": ("GEMINI_API_BASE", "GEMINI_API_KEY"),
}


@dataclass(slots=True)
class Asked:
    """What came of a turn: the reply and why, what was shown meanwhile, the sums made, and what the provider got."""

    reply: str
    reason: str
    shown: str
    added: list[tuple[int, int]] = field(default_factory=list)
    sent: list[Wire] = field(default_factory=list)


async def ask(
    monkeypatch: pytest.MonkeyPatch,
    *answers: Transcript,
    streamed: bool,
    model: str = "openai/mine",
    direct: bool = True,
    json_mode: bool = False,
) -> Asked:
    """Run a turn whose model gives these answers, the last one again and again."""
    added: list[tuple[int, int]] = []

    @tool(effect="read")
    async def add(a: int, b: int) -> int:
        """Add."""
        added.append((a, b))
        return a + b

    base, key = PROVIDERS[model.partition("/")[0]]
    client = LiteLLMClient(model, direct=direct, tool_mode="json" if json_mode else "native")
    await client.warm_up()
    config = ReactLoopConfig(llm_streaming=streamed, llm_retry_base_delay=0.001)
    request = TurnRequest(
        TurnWork("turn", MemoryJournal()),
        TurnTenant("t"),
        Place("sms"),
        FromPerson((TurnMessage("m", "3 and 4?", NOW),)),
    )
    async with replaying(answers[0]) as replay:
        replay.following.extend(answers[1:])
        monkeypatch.setenv(base, replay.url if "ANTHROPIC" in base else f"{replay.url}/v1")
        monkeypatch.setenv(key, "sk-test")
        try:
            assistant = Orchestrator(client, "Koi", tools=[add], config=config)
            events = [event async for event in assistant.stream_message(request)]
        finally:
            await client.close()
    result = events[-1].result
    assert result is not None
    shown = "".join(event.text for event in events if event.type is StreamEventType.MESSAGE_CHUNK)
    return Asked(result.reply, result.reason, shown, added, replay.asked)
