"""One run of an agent inside a turn: collect its fields, ask for consent, run its handlers, or put it in the pool.

Everything is in the turn's journal, below the agent's path. A handler that runs has a row of its own, with the step
-1 and the number of the run as call index: it is written before the handler begins, as for any tool that is not
`read`. So a turn that is taken over, or that goes on after a person's answer, enters the agent again from its
beginning, and what was done is not done again.
"""

import asyncio
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import cast

import structlog

from core import replies
from core.agents.consent import agent_consent
from core.agents.field_collection import Collected, asked_names, collect, question
from core.agents.handler_result import call_handler, json_of, result_of, told
from core.agents.pool_entry import WAITING, PoolEntry
from core.agents.schema import INSTRUCTION
from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.agents.turn_agents import MAX_NESTING, TurnAgents, agent_path, nesting
from core.agents.valet import Valet, valet_of
from core.approvals.consent import Consent, ConsentState
from core.approvals.describe import MAY_HAVE_HAPPENED
from core.errors import ConfigError, LeaseLost, ToolError
from core.hooks.hooks import Decision, PlannedCall
from core.journal.types import Effect, Outcome, StepKey, StepKind, StepRecord, StepState
from core.json_types import Json, JsonObject, canonical_hash
from core.llm.types import ChatMessage, Role, ToolCall
from core.loop.loop import LoopFailed, LoopTask
from core.loop.result import Ended
from core.loop.tool_runner import NEEDS_APPROVAL, REFUSED_REPEAT, UNKNOWN_OUTCOME
from core.tools.context import ToolExecutionContext
from core.tools.registry import ToolRegistry
from core.tools.tool import AnyTool, Tool

_log = structlog.get_logger()

_OVER = {
    "cancelled": replies.CANCELLED,
    "expired": "Not done: no answer came in time, so it was dropped. Tell the person in one sentence.",
    "stale": "Not done: it has changed since it was begun, so it was set aside. Tell the person in one sentence.",
}
_DROPPED = "Not done: too much was waiting, so it was dropped. Tell the person in one sentence."
_PAUSED = "paused_inside"


class _WaitsInside(Exception):
    """An agent that this one uses waits for the person; the message is its question."""


@dataclass(frozen=True, slots=True)
class _Run:
    """The run of a handler: which, and what is journalled of it."""

    record: StepRecord
    known: StepRecord | None
    last: AgentResult | None
    """What the run before it gave: it asked something."""
    state: JsonObject
    """What the agent kept meanwhile."""


@dataclass(frozen=True, slots=True)
class _Begin:
    """A run that may begin: with the fields that were approved, and at the place where they were, if anywhere."""

    agent: StandardAgent
    run: _Run
    fields: JsonObject
    place: str = ""
    changed: str = ""


class AgentRun:
    """One agent called once. One instance a call."""

    def __init__(
        self, turn: TurnAgents, valet: Valet, key: StepKey, call: ToolCall, context: ToolExecutionContext
    ) -> None:
        self._turn = turn
        self._valet = valet
        self._call = call
        self._context = context
        self._path = agent_path(key, valet.name)
        self._entry = turn.entries.get(self._path)
        self._instruction = ""
        turn.used = True
        self._run = 1
        self._thoughts = 0

    async def go(self, arguments: Mapping[str, object]) -> tuple[str, Outcome]:
        """Run it, or on from where it waited; return what the model is told, or the question when it waits."""
        entry = self._entry
        if entry is not None and entry.waits and self._is_stale(entry):
            entry = self._entry = entry.ended("stale")
        if entry is not None and not entry.waits:
            if entry.reason != "stale":
                await self._let_go(entry)
            return _OVER.get(entry.reason, _DROPPED), Outcome.ERROR
        collected = self._collect(arguments)
        if not collected.whole:
            asked = question(self._valet.inputs, collected)
            return await self._wait(AgentStatus.WAITING_FOR_INPUT, asked, collected.fields, self._asked(collected))
        if entry is not None and entry.status is AgentStatus.PAUSED:
            return await self._wait(AgentStatus.PAUSED, entry.question, collected.fields, state=entry.state)
        return await self._run_handlers(collected.fields)

    def _is_stale(self, entry: PoolEntry) -> bool:
        return entry.schema_version != self._valet.schema_version

    def _collect(self, arguments: Mapping[str, object]) -> Collected:
        if self._entry is not None:
            self._instruction = self._entry.instruction
            return collect(self._valet.inputs, self._entry.fields, {})
        given = cast("dict[str, Json]", dict(arguments))
        self._instruction = str(given.pop(INSTRUCTION, None) or "")
        return collect(self._valet.inputs, {}, given)

    def _asked(self, collected: Collected) -> tuple[str, ...]:
        return asked_names(self._valet.inputs, collected)

    async def _run_handlers(self, fields: JsonObject) -> tuple[str, Outcome]:
        run = await self._next_run(fields)
        if run.known is not None and run.known.state is StepState.DONE:
            return told(result_of(run.known)), run.known.outcome
        answer = self._entry.answer if self._entry is not None else ""
        if run.last is not None and run.last.status is AgentStatus.WAITING_FOR_INPUT and not answer:
            return await self._wait(run.last.status, run.last.raw_message, fields, state=run.state)
        begin = await self._may_begin(run, fields)
        if not isinstance(begin, _Begin):
            return begin
        if self._valet.effect is not Effect.READ:
            await self._turn.journal.write(replace(begin.run.record, state=StepState.STARTED))
        text, outcome = await self._handle(begin.agent, begin.run, begin.fields, answer)
        if begin.place and self._turn.consents is not None and outcome is not Outcome.WAITING:
            await self._turn.consents.ran(begin.place, outcome.value)
        waits = self._turn.waiting.get(self._path) if outcome is Outcome.WAITING else None
        if waits is not None and waits.status is AgentStatus.WAITING_FOR_APPROVAL and self._turn.consents is not None:
            return await self._ask_for_handler(begin, waits)
        return "\n".join(part for part in (begin.changed, text) if part), outcome

    async def _ask_for_handler(self, begin: _Begin, waits: PoolEntry) -> tuple[str, Outcome]:
        """Ask for the consent that a handler wants, whose next run goes on with it."""
        self._run += 1
        record = replace(begin.run.record, key=StepKey(-1, self._run, self._path))
        last = AgentResult(AgentStatus.WAITING_FOR_APPROVAL, waits.question)
        asked = await self._may_begin(_Run(record, None, last, waits.state), begin.fields)
        if isinstance(asked, _Begin):
            return waits.question, Outcome.WAITING
        if asked[1] is not Outcome.WAITING:
            del self._turn.waiting[self._path]  # nobody is asked, so that it would wait for ever
        return asked

    async def _next_run(self, fields: JsonObject) -> _Run:
        """Find the first run that has not ended, past those that ended by asking."""
        recorded = await self._turn.recorded()
        digest = self._digest(fields)
        last: AgentResult | None = None
        state: Json = {}
        while True:
            key = StepKey(-1, self._run, self._path)
            known = recorded.get(key)
            if known is None or known.state is StepState.STARTED or result_of(known).status not in WAITING:
                break
            last, state = result_of(known), known.result.get("state")
            self._run += 1
        record = StepRecord(
            key,
            StepKind.AGENT,
            self._valet.name,
            StepState.DONE,
            arguments_hash=digest,
            effect=self._valet.effect,
            idempotency_key=self._context.idempotency_key,
        )
        return _Run(record, known, last, state if isinstance(state, dict) else {})

    async def _make(self, fields: JsonObject, state: JsonObject) -> StandardAgent:
        inputs = self._valet.inputs
        values = {name: inputs[name].from_json(value) for name, value in fields.items()}
        agent = await self._turn.make_agent(self._valet, self._context, self._think, values, self._instruction)
        agent.state = dict(state)
        return agent

    def _digest(self, fields: JsonObject) -> str:
        return canonical_hash({**fields, INSTRUCTION: self._instruction})

    async def _may_begin(self, run: _Run, fields: JsonObject) -> "tuple[str, Outcome] | _Begin":
        """Hold a run back that may have happened, or that the person must consent to."""
        known, once = run.known, self._valet.effect is Effect.ONCE
        if known is not None and once and not known.result.get(_PAUSED):
            unknown = json_of(AgentResult(AgentStatus.ERROR, UNKNOWN_OUTCOME))
            await self._turn.journal.write(replace(run.record, outcome=Outcome.UNKNOWN, result=unknown))
            return UNKNOWN_OUTCOME, Outcome.UNKNOWN
        agent = await self._make(fields, run.state)
        if run.last is not None and run.last.status is not AgentStatus.WAITING_FOR_APPROVAL:
            # What was approved before the agent asked something holds after it, too.
            place, consents = f"{self._path}#1", self._turn.consents
            approved = consents is not None and consents.decided_at(place) is not None
            return await self._consented(agent, run, fields, place) if approved else _Begin(agent, run, fields)
        verdict = await self._turn.hooks.evaluate(self._turn.where, self._planned(fields))
        if verdict.decision is Decision.DENY:
            return f"Not run: {verdict.reason or 'a rule forbids it.'}", Outcome.REFUSED
        repeats = once and await self._turn.journal.outcome_unknown(self._valet.name, run.record.arguments_hash)
        asked_itself = run.last is not None
        if not (asked_itself or agent.needs_approval() or verdict.decision is Decision.APPROVE or repeats):
            return _Begin(agent, run, fields)
        if self._turn.consents is None:
            return REFUSED_REPEAT if repeats else NEEDS_APPROVAL, Outcome.REFUSED
        place = f"{self._path}#{self._run}"
        note = MAY_HAVE_HAPPENED if repeats else ""
        return await self._consented(agent, run, fields, place, verdict.risk, note)

    async def _consented(
        self, agent: StandardAgent, run: _Run, fields: JsonObject, place: str, risk: str = "", note: str = ""
    ) -> "tuple[str, Outcome] | _Begin":
        async def make(given: JsonObject) -> StandardAgent:
            return await self._make({name: one for name, one in given.items() if name != INSTRUCTION}, run.state)

        given = fields | ({INSTRUCTION: self._instruction} if self._instruction else {})
        itself = run.last if run.last is not None and run.last.status is AgentStatus.WAITING_FOR_APPROVAL else None
        # What it did before it asked something, or before what it uses had to wait, is a part of what was approved.
        begun = run.known is not None or (run.last is not None and run.last.status is AgentStatus.WAITING_FOR_INPUT)
        assert self._turn.consents is not None  # noqa: S101 - asked by who calls this
        consent: Consent = await self._turn.consents.ask(
            agent_consent(
                place,
                self._valet,
                given,
                make,
                risk=risk,
                note=note,
                begun=begun,
                asks=itself.raw_message if itself else "",
                state=run.state if itself else None,
            )
        )
        if consent.state is ConsentState.PENDING:
            return await self._wait(AgentStatus.WAITING_FOR_APPROVAL, consent.text, fields, state=run.state)
        if consent.state is ConsentState.REFUSED:
            return consent.text, Outcome.REFUSED
        if consent.changed and consent.arguments is not None:
            fields = {name: one for name, one in consent.arguments.items() if name != INSTRUCTION}
            verdict = await self._turn.hooks.evaluate(self._turn.where, self._planned(fields))
            if verdict.decision is Decision.DENY:
                return f"Not run: {verdict.reason or 'a rule forbids it.'}", Outcome.REFUSED
            agent = await self._make(fields, run.state)
            run = replace(run, record=replace(run.record, arguments_hash=self._digest(fields)))
        return _Begin(agent, run, fields, place, consent.changed)

    def _planned(self, fields: JsonObject) -> PlannedCall:
        given = fields | ({INSTRUCTION: self._instruction} if self._instruction else {})
        return PlannedCall(self._call.id, self._valet.name, given)

    async def _handle(self, agent: StandardAgent, run: _Run, fields: JsonObject, answer: str) -> tuple[str, Outcome]:
        seconds = self._valet.timeout or self._turn.config.agent_tool_execution_timeout
        limit = asyncio.timeout(seconds)
        began = time.monotonic()
        try:
            async with limit:
                await self._tell(AgentStatus.RUNNING)
                work = partial(call_handler, agent, run.last, answer or self._instruction)
                result, outcome = await self._turn.execute_agent(agent, work), Outcome.OK
        except _WaitsInside as waits:
            paused = replace(run.record, state=StepState.STARTED, result={_PAUSED: True})
            await self._turn.journal.write(paused)
            if self._entry is not None:  # what the person told it is kept, too
                self._turn.waiting[self._path] = self._entry
            return str(waits), Outcome.WAITING
        except LeaseLost:
            raise
        except Exception as error:  # an agent may raise anything; the model is told that it failed, not with what
            late = isinstance(error, TimeoutError) and limit.expired()
            result, outcome = await self._failed(agent, error, seconds if late else None)
        if result.status in (AgentStatus.ERROR, AgentStatus.CANCELLED) and outcome is Outcome.OK:
            outcome = Outcome.ERROR
        agent.status = result.status
        record = replace(run.record, outcome=outcome, duration_ms=int((time.monotonic() - began) * 1000))
        await self._turn.journal.write(replace(record, result=json_of(result) | {"state": agent.state}))
        if result.status in WAITING:
            return await self._wait(result.status, result.raw_message, fields, state=agent.state)
        await self._tell(result.status)
        return told(result), outcome

    async def _failed(
        self, agent: StandardAgent, error: Exception, seconds: float | None
    ) -> tuple[AgentResult, Outcome]:
        if isinstance(error, ToolError):
            return AgentResult(AgentStatus.ERROR, str(error)), Outcome.ERROR
        frames = traceback.extract_tb(error.__traceback__)[-4:]
        _log.warning(
            "agent_timed_out" if seconds else "agent_failed",
            turn=self._context.turn_id,
            agent=self._valet.name,
            error=type(error).__name__,
            where=[f"{frame.filename}:{frame.lineno}" for frame in frames],
        )
        if (said := await agent.on_error(error)) is not None:
            return said, Outcome.ERROR
        what = f"{self._valet.name} failed with an internal error."
        if seconds is not None:
            what = f"{self._valet.name} gave no answer within {seconds:g} seconds."
        if self._valet.effect is Effect.ONCE:
            return AgentResult(AgentStatus.ERROR, f"{what} {UNKNOWN_OUTCOME}"), Outcome.UNKNOWN
        return AgentResult(AgentStatus.ERROR, f"{what} Go on without it, or tell the person."), Outcome.ERROR

    async def _let_go(self, entry: PoolEntry) -> None:
        """Let the agent see that it was dropped; what it says of that counts for nothing."""
        self._instruction = entry.instruction
        known = {name: value for name, value in entry.fields.items() if name in self._valet.inputs}
        try:
            agent = await self._make(known, entry.state)
            agent.status = AgentStatus.CANCELLED
            await agent.on_cancelled()
        except Exception as error:  # it is over either way
            _log.warning("agent_failed", agent=self._valet.name, error=type(error).__name__, moment="on_cancelled")

    async def _tell(self, status: AgentStatus) -> None:
        where = replace(self._turn.where, agent_path=self._path)
        await self._turn.hooks.state_changed(where, status.value)

    async def _wait(
        self,
        status: AgentStatus,
        asked: str,
        fields: JsonObject,
        names: tuple[str, ...] = (),
        state: JsonObject | None = None,
    ) -> tuple[str, Outcome]:
        """Note that it waits; the turn that stops here puts it in the pool."""
        turn = self._turn
        ttl: timedelta = self._valet.ttl or turn.limits.ttl
        known = self._entry
        same = known is not None and known.question == asked and known.status is status
        entry = PoolEntry(
            agent_id=known.agent_id if known else f"agent_{canonical_hash([turn.where.turn_id, self._path])[:26]}",
            agent_type=self._valet.name,
            conversation_id=turn.conversation_id,
            turn_id=turn.where.turn_id,
            agent_path=self._path,
            tool_call_id=self._call.id,
            status=status,
            schema_version=self._valet.schema_version,
            expires_at=known.expires_at if known and same else turn.clock.now() + ttl,
            fields=fields,
            asked=names,
            question=asked,
            instruction=self._instruction,
            state=state or {},
            reminded=bool(known and same and known.reminded),
            revision=known.revision if known else 0,
        )
        turn.waiting[self._path] = entry
        if not same:
            await self._tell(status)
        return asked, Outcome.WAITING

    async def _think(
        self, instruction: str, tools: "Sequence[AnyTool | type[StandardAgent]]", system_prompt: str
    ) -> str:
        """Run the agent's own loop; raises `_WaitsInside` when an agent that it used waits."""
        self._thoughts += 1
        first = (self._run, self._thoughts) == (1, 1)
        path = self._path if first else f"{self._path}:{self._run}.{self._thoughts}"
        now = self._context.clock.now().isoformat(timespec="minutes")
        system = f"{system_prompt}\n\nYou work for the person's assistant: your answer is read by it. It is {now}."
        turn = self._turn
        task = LoopTask(
            where=replace(turn.where, agent_path=path),
            messages=(ChatMessage(Role.SYSTEM, system), ChatMessage(Role.USER, instruction)),
            tools=self._own_tools(tools),
            journal=turn.journal,
            make_context=turn.make_context,
            budget=turn.budget,
        )
        try:
            result = await turn.run_loop(task)
        except LoopFailed as failed:
            raise failed.error from failed
        if result.ended is Ended.WAITING:
            raise _WaitsInside("\n".join(one.text for one in result.stopped_at if one.outcome is Outcome.WAITING))
        return result.response

    def _own_tools(self, given: "Sequence[AnyTool | type[StandardAgent]]") -> ToolRegistry:
        from core.agents.tool import agent_tools  # an agent's tool runs agents: the two need each other

        plain = [one for one in given if isinstance(one, Tool)]
        valets = [valet_of(one) for one in given if not isinstance(one, Tool)]
        if None in valets:
            raise ConfigError(f"{self._valet.place}: the tools of {self._valet.name} are @tool and @valet objects.")
        deep = nesting(self._path) >= MAX_NESTING
        inner = [] if deep else agent_tools([one for one in valets if one is not None], self._turn)
        return ToolRegistry([*plain, *inner])
