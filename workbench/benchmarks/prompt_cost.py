"""The cost of a "hello" with all that ships, fifty tools of MCP servers and twenty skills; and the cost of groups.

    uv run -m workbench.benchmarks.prompt_cost

Tokens are counted at four bytes each, on the model's input. Then a model that knows which tools it needs makes the 150
requests of `workbench.benchmarks.assistant`: with all tools in the prompt, with groups that it opens first, and with
groups whose tools it calls by their names.
"""

import asyncio
import logging
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import structlog

from core.json_types import JsonObject
from core.tools.toolbox import SWITCH, groups_in
from onevalet.migrating import migrate
from tests.jobs.turns.prompt_cost import described, everything, parts_of, tokens_of
from tests.scripted_model import ModelCall, Reply, Script, ScriptedModel, calls, text
from tests.services import private_postgres, private_valkey
from workbench.benchmarks.assistant.__main__ import measure
from workbench.benchmarks.assistant.matching import Call
from workbench.benchmarks.assistant.running import Run
from workbench.benchmarks.assistant.scenarios import Scenario, scenarios

IN_FULL = {"tools_in_full": "1000"}


@dataclass(frozen=True, slots=True)
class Choices:
    """The results of the requests: their calls, without those that open groups, and the number of model calls."""

    reached: Mapping[str, Sequence[Call]]
    model_calls: int
    met: int

    @classmethod
    def of(cls, runs: Sequence[Run]) -> "Choices":
        return cls(
            {run.scenario.name: [call for call in run.called if call.name != SWITCH] for run in runs},
            sum(run.model_calls for run in runs),
            sum(run.judged.right_arguments for run in runs),
        )


async def hello(**loop: str) -> ModelCall:
    """Return the model's request for a hello."""
    async with private_postgres() as postgres, private_valkey() as valkey:
        await migrate(postgres.url)
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
            async with everything(
                postgres.url, valkey.url, Path(home), patch, lambda _: text("Hi"), loop=loop
            ) as person:
                await person.say("hello")
                return person.model.calls[0]


async def choices(chosen: Sequence[Scenario], *, opens: bool, **loop: str) -> Choices:
    """Make requests by a model that knows which tools it wants. `opens`: it opens their groups before it calls them."""
    async with ScriptedModel(_knowing(chosen, opens=opens)) as model:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_API_BASE", model.url)
            patch.setenv("OPENAI_API_KEY", "sk-scripted")
            return Choices.of(await measure("openai/scripted", list(chosen), 2, loop=loop))


def _knowing(chosen: Sequence[Scenario], *, opens: bool) -> Script:
    by_text = {scenario.text: scenario for scenario in chosen}

    def answer(call: ModelCall) -> Reply:
        said = [str(message.get("content")) if message["role"] == "user" else "" for message in call.messages]
        asked = max((number for number, words in enumerate(said) if words in by_text), default=None)
        if asked is None:
            return text("Done.")
        since = [made for message in call.messages[asked:] for made in cast(list[Any], message.get("tool_calls") or [])]
        done = {made["function"]["name"] for made in since}
        wanted = [one for one in by_text[said[asked]].example if one[0] not in done]
        switches = [tool["description"] for tool in described(call) if tool["name"] == SWITCH]
        groups = groups_in(switches[0]) if opens and switches else {}
        closed = dict.fromkeys(groups[name] for name, _ in wanted if name not in call.tools and name in groups)
        if closed:
            return calls(*[(SWITCH, cast(JsonObject, {"group": group})) for group in closed])
        return calls(*wanted) if wanted else text("Done.")

    return answer


async def main() -> None:
    """Print the two tables."""
    full, shipped = await hello(**IN_FULL), await hello()
    before, after = parts_of(full), parts_of(shipped)
    write = sys.stdout.write
    write("| part of the prompt | all tools in full | as shipped |\n|---|---|---|\n")
    for part in dict.fromkeys([*before, *after]):
        write(f"| {part} | {before.get(part, 0):,} | {after.get(part, 0):,} |\n")
    write(f"| **tokens of a hello** | **{tokens_of(full):,}** | **{tokens_of(shipped):,}** |\n")
    write("\n")
    chosen = list(scenarios())
    whole = await choices(chosen, opens=True, **IN_FULL)
    write("| tools | requests with the same calls | met | model calls | more |\n|---|---|---|---|---|\n")
    write(f"| all in full | | {whole.met} | {whole.model_calls} | |\n")
    for name, opens in (("in groups, opened first", True), ("in groups, called by name", False)):
        made = await choices(chosen, opens=opens)
        same = sum(made.reached[one.name] == whole.reached[one.name] for one in chosen)
        more = made.model_calls - whole.model_calls
        write(f"| {name} | {same} of {len(chosen)} | {made.met} | {made.model_calls} | {more} |\n")


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(main())
