"""A run of an agent's handler: found at the end of the journal, executed within its time, and journalled.

A handler that runs has a row of its own, with the step -1 and the number of the run as call index, written before the
handler begins unless the agent's effect is `read`.
"""

import asyncio
import time
from dataclasses import dataclass, replace
from functools import partial

from core.agents.agent_call import AgentCall
from core.agents.handler_result import call_handler, json_of, result_of
from core.agents.own_loop import WaitsInside
from core.agents.pool_entry import WAITING
from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.errors import LeaseLost, ToolError
from core.journal.types import Effect, Outcome, StepKey, StepKind, StepRecord, StepState
from core.json_types import Json, JsonObject
from core.loop.outcomes import UNKNOWN_OUTCOME, Callee, outcome_of
from core.tools.account_access import MissingAccess, Prompt
from core.tools.undo import note_offers
from core.tracing import agent_span

_PAUSED = "paused_inside"


class WaitsForAccount(Exception):
    """An agent found no account to open, before it did anything."""

    def __init__(self, wanted: MissingAccess, prompt: Prompt) -> None:
        super().__init__(prompt.text)
        self.wanted = wanted
        self.prompt = prompt


@dataclass(frozen=True, slots=True)
class HandlerRun:
    """A run of a handler. `last` is the result of the run before, which asked a question; `state` is its stored state.

    `record` is the row to write, `known` the row that the journal holds.
    """

    record: StepRecord
    known: StepRecord | None
    last: AgentResult | None
    state: JsonObject

    @property
    def number(self) -> int:
        """Return the number of the run within its call, from 1."""
        return self.record.key.call_index

    @property
    def asks_itself(self) -> bool:
        """Return whether the run before asked for the person's approval by itself."""
        return self.last is not None and self.last.status is AgentStatus.WAITING_FOR_APPROVAL

    @property
    def already_started(self) -> bool:
        """Return whether part of the approved action has happened, before a question or an inner agent's wait."""
        return self.known is not None or (self.last is not None and self.last.status is AgentStatus.WAITING_FOR_INPUT)

    def after_question(self, question: str, state: JsonObject) -> "HandlerRun":
        """Return the run that follows this run's own request for approval."""
        key = replace(self.record.key, call_index=self.number + 1)
        last = AgentResult(AgentStatus.WAITING_FOR_APPROVAL, question)
        return HandlerRun(replace(self.record, key=key), None, last, state)


async def next_run(call: AgentCall, fields: JsonObject) -> HandlerRun:
    """Return the first run that has not ended, after the runs that ended with a question."""
    recorded = await call.turn.recorded()
    last: AgentResult | None = None
    state: Json = {}
    number = 1
    while True:
        key = StepKey(-1, number, call.path)
        known = recorded.get(key)
        if known is None or known.state is StepState.STARTED or result_of(known).status not in WAITING:
            break
        last, state = result_of(known), known.result.get("state")
        number += 1
    record = StepRecord(
        key,
        StepKind.AGENT,
        call.valet.name,
        StepState.DONE,
        arguments_hash=call.digest(fields),
        effect=call.valet.effect,
        idempotency_key=call.context.idempotency_key,
    )
    return HandlerRun(record, known, last, state if isinstance(state, dict) else {})


async def may_have_happened(call: AgentCall, run: HandlerRun) -> bool:
    """Return whether a run started before and may not start again; journal that its outcome is unknown."""
    if run.known is None or call.valet.effect is not Effect.ONCE or run.known.result.get(_PAUSED):
        return False
    unknown = json_of(AgentResult(AgentStatus.ERROR, UNKNOWN_OUTCOME))
    await call.turn.scope.journal.write(replace(run.record, outcome=Outcome.UNKNOWN, result=unknown))
    return True


async def execute(
    call: AgentCall, run: HandlerRun, agent: StandardAgent, answer: str | None
) -> tuple[AgentResult, Outcome]:
    """Run a handler within the agent's time limit and journal its result.

    Raises `WaitsInside` if an inner agent waits, and `WaitsForAccount` if the agent itself found no account.
    """
    turn, valet = call.turn, call.valet
    if valet.effect is not Effect.READ:
        await turn.scope.journal.write(replace(run.record, state=StepState.STARTED))
    seconds = valet.timeout or turn.scope.config.agent_tool_execution_timeout
    limit = asyncio.timeout(seconds)
    began = time.monotonic()
    try:
        async with limit:
            await call.tell(AgentStatus.RUNNING)
            work = partial(call_handler, agent, run.last, answer or call.instruction)
            with agent_span(valet.name):
                result, outcome = await turn.execute_agent(agent, work), Outcome.OK
    except ToolError as error:
        wanted = await turn.scope.accounts.wanted_by(error)
        if wanted is not None and (prompt := await turn.scope.accounts.prompt(wanted)) is not None:
            await turn.scope.journal.write(replace(run.record, state=StepState.STARTED, result={_PAUSED: True}))
            raise WaitsForAccount(wanted, prompt) from error
        result, outcome = await _failed(call, agent, error, limit, seconds)
    except WaitsInside:
        # Its own loop is journalled: the agent may be entered again.
        await turn.scope.journal.write(replace(run.record, state=StepState.STARTED, result={_PAUSED: True}))
        raise
    except LeaseLost:  # or `Halted`, which tells as little of what the handler did by itself before
        raise
    except Exception as error:  # an agent may raise anything; the model learns that it failed, not the error's text
        result, outcome = await _failed(call, agent, error, limit, seconds)
    if result.status in (AgentStatus.ERROR, AgentStatus.CANCELLED) and outcome is Outcome.OK:
        outcome = Outcome.ERROR
    agent.status = result.status
    record = replace(run.record, outcome=outcome, duration_ms=int((time.monotonic() - began) * 1000))
    kept = json_of(result) | {"state": agent.state}
    if outcome is Outcome.OK:
        turn.scope.files.note(record.key, call.context.attached, kept)
        note_offers(call.context.undo.offered, kept)
    await turn.scope.journal.write(replace(record, result=kept))
    return result, outcome


async def _failed(
    call: AgentCall, agent: StandardAgent, error: Exception, limit: asyncio.Timeout, seconds: float
) -> tuple[AgentResult, Outcome]:
    # Only `once` matters here: an agent that may run again leaves nothing unknown, since it journals its steps.
    effect = Effect.ONCE if call.valet.effect is Effect.ONCE else Effect.READ
    callee = Callee("agent", call.valet.name, effect, seconds)
    text, outcome = outcome_of(error, callee, limit, turn=call.context.turn_id)
    if not isinstance(error, ToolError) and (own := await agent.on_error(error)) is not None:
        return own, Outcome.ERROR
    return AgentResult(AgentStatus.ERROR, text), outcome
