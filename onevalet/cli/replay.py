"""`replay TURN`: a turn's journal as JSON lines, or the turn run again with its recorded tool results."""

import json
import sys
from datetime import datetime
from typing import override

from core.agents.registry import AgentRegistry, read_exposed
from core.clock import Clock
from core.hooks.hooks import Hook, Rule
from core.hooks.judge import AskingJudge, Judge
from core.journal.in_memory import MemoryJournal
from core.llm.types import ModelClient
from core.tools.storage import Storage
from onevalet.ability_registry import all_abilities
from onevalet.cli.runner import say
from onevalet.cli.session import open_database
from onevalet.settings import Settings
from onevalet.wiring.loop import hooks_of_abilities, loop_config
from onevalet.wiring.orchestrator import AGENT_REGISTRY
from onevalet.wiring.plugins import Plugins, load_plugins
from onevalet.wiring.workbench import demo_model
from operations.paths.replay import (
    Difference,
    RecordedConsent,
    RecordedControl,
    RecordedJudge,
    RecordedModel,
    ResultsOnly,
    differences,
    recorded_agents,
    recorded_tools,
)
from operations.paths.transcript import Transcript, read_transcript
from providers.models.litellm_client import LiteLLMClient

RECORDED = "recorded"


async def print_replay(settings: Settings, turn: str, model: str, *, as_json: bool) -> bool:
    """Print the journal; with a model, print the differences of the repeated turn. Return whether there are none."""
    async with open_database(settings, "replay") as database:
        triggers = [ability.trigger for ability in all_abilities() if ability.trigger is not None]
        transcript = await read_transcript(database, turn, triggers)
        if not model:
            for line in transcript.lines():
                sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
            return True
        differing = await run_again(settings, transcript, model, storage=Storage(database))
    for difference in differing:
        sys.stdout.write(_as_line(difference) if as_json else _as_text(difference))
    if not as_json:
        say(f"It diverges at step {differing[0].step}." if differing else "It goes as it went.")
    return not differing


async def run_again(
    settings: Settings,
    transcript: Transcript,
    model: str,
    plugins: Plugins | None = None,
    storage: Storage | None = None,
) -> list[Difference]:
    """Run a turn again at its original time, over the recorded answers or a live model, without any effect.

    Hooks and rules are those of today; `storage` serves rules that query the database. Approvals that rules ask for
    count as given.
    """
    plugins = plugins or load_plugins(settings.onevalet_plugins)
    client = _client(settings, transcript, model)
    config = loop_config(settings.loop)
    offered = AgentRegistry(plugins.agents, read_exposed(AGENT_REGISTRY)).offered(None)
    journal = MemoryJournal()
    orchestrator = plugins.orchestrator(
        client,
        settings.system_prompt,
        tools=[*recorded_tools(plugins.tools, transcript.rows), *recorded_agents(offered, transcript.rows)],
        hooks=_hooks(settings, transcript, client, plugins, storage),
        config=config,
        clock=_Then(transcript.started_at),
    )
    request = transcript.again(journal, RecordedControl(transcript.steered))
    try:
        await orchestrator.handle_message(request)
    finally:
        await client.close()
    return differences(transcript.rows, await journal.recorded())


def _hooks(
    settings: Settings, transcript: Transcript, client: ModelClient, plugins: Plugins, storage: Storage | None
) -> list[Hook]:
    hooks = [*hooks_of_abilities(settings, loop_config(settings.loop), client, storage), *plugins.hooks]
    if isinstance(client, RecordedModel):
        # The recorded answers are for the loop: a judge that asks a model would use them up.
        hooks = [hook for hook in hooks if not isinstance(hook, AskingJudge)]
        hooks = [ResultsOnly(hook) if isinstance(hook, Judge) else hook for hook in hooks]
        hooks.append(RecordedJudge(transcript.rows))
    return [RecordedConsent(hook) if isinstance(hook, Rule) else hook for hook in hooks]


def _client(settings: Settings, transcript: Transcript, model: str) -> ModelClient:
    if model == RECORDED:
        return RecordedModel(transcript.rows)
    return LiteLLMClient(
        model,
        keys=settings.keys_for(model),
        reasoning_effort=settings.onevalet_reasoning_effort,
        tool_mode=settings.onevalet_tool_mode,
        local=demo_model(),
    )


def _as_line(difference: Difference) -> str:
    return json.dumps(difference.to_json(), ensure_ascii=False) + "\n"


def _as_text(difference: Difference) -> str:
    recorded, now = (json.dumps(value, ensure_ascii=False) for value in (difference.recorded, difference.now))
    return f"step {difference.step}, {difference.what}:\n  recorded  {recorded}\n  now       {now}\n"


class _Then(Clock):
    """A clock that always shows the time of the turn, so that the prompt is the same."""

    def __init__(self, at: datetime) -> None:
        super().__init__()
        self._at = at

    @override
    def now(self) -> datetime:
        return self._at
