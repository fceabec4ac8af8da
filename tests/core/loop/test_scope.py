"""A turn's values: what they share is said once, and no part is asked to carry everything."""

from dataclasses import fields
from itertools import combinations

import pytest

from core.agents.standard_agent import AgentResult, StandardAgent
from core.agents.turn_agents import TurnAgents
from core.agents.valet import valet
from core.hooks.hooks import Hook, HookContext
from core.loop.context_window import Messages
from core.loop.run import LoopRun
from core.loop.scope import LoopTask, TurnScope
from core.turns.orchestrator import Orchestrator
from core.turns.types import FirstCall, FromPerson, FromTask, Kept, Place, Resumed, TurnRequest, TurnWork
from onevalet.turns import new_turn
from tests.core.builders import FakeModel, says, wants

CARRIERS = (TurnScope, LoopTask, TurnAgents)
PARTS = (TurnRequest, TurnWork, Place, FromPerson, FromTask, Resumed, Kept, FirstCall)


def names(value: type) -> set[str]:
    return {field.name for field in fields(value)}


@pytest.mark.parametrize(("one", "other"), [*combinations(CARRIERS, 2)])
def test_what_carries_a_turn_says_nothing_that_another_says(one: type, other: type) -> None:
    assert names(one) & names(other) <= {"scope"}


@pytest.mark.parametrize("value", [*CARRIERS, *PARTS])
def test_no_value_that_is_handed_on_has_more_than_twelve_parts(value: type) -> None:
    assert len(names(value)) <= 12


def test_a_run_keeps_no_copy_of_what_it_was_given() -> None:
    assert names(LoopRun) & (names(TurnScope) | {"scope"}) == set()


class Watching(Hook):
    """Notes whose model calls it hears of."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        """Note the agent's path."""
        self.heard.append(context.agent_path)
        return messages


@valet(effect="read")
class Thinker(StandardAgent):
    """Think."""

    async def on_running(self, msg: str) -> AgentResult:
        """Think by a loop of its own."""
        return self.make_result(raw_message=await self.think("Think"))


async def test_an_agents_loop_tells_the_hooks_of_every_turn_not_those_of_its_own() -> None:
    every, this = Watching(), Watching()
    model = FakeModel([wants(("Thinker", {})), says("Thought"), says("Done")])
    orchestrator = Orchestrator(model, agents=[Thinker], hooks=[every])
    await orchestrator.handle_message(new_turn("Think", "ann").watched_by(this))
    assert (every.heard, this.heard) == (["", "0.1/Thinker", ""], ["", ""])
