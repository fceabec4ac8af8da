"""Run the calls of a model answer: checked, journalled, bounded in time, and never twice (promise 5)."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import cast

from core import replies
from core.errors import LeaseLost, ToolError, ToolRetry
from core.hooks.hooks import Hook, HookContext, PlannedCall
from core.journal.types import Effect, Outcome, StepKey, StepKind, StepRecord, StepState
from core.json_types import JsonObject, canonical_hash, storable
from core.llm.types import ToolCall
from core.loop.batches import Numbered, batches, side_by_side
from core.loop.call_consent import call_path, gated_call
from core.loop.context_window import ContextManager
from core.loop.gate import ConsentGate
from core.loop.joint_calls import as_meant
from core.loop.outcomes import UNKNOWN_OUTCOME, Callee, outcome_of, told_of
from core.loop.outside import as_data
from core.loop.passage import Granted
from core.loop.scope import TurnScope
from core.tools.result_entities import Entity, entities_in
from core.tools.results import CallResult, ToolEnd
from core.tools.tool import AnyTool
from core.tools.toolbox import Toolbox

_MAX_NAME = 300
"""Characters of a tool's name in the journal: the model may have made it up."""
_HELD = "waits_for_account"
"""Marks the started row of a call that found no account to open, or asked its person, before any effect."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that may run."""

    key: StepKey
    call: ToolCall
    tool: AnyTool
    granted: Granted
    parsed: Mapping[str, object]
    record: StepRecord
    note: str
    """The note for the model at the end of the result."""
    begins: bool
    """Whether it acts, and has not begun yet."""


class ToolRunner:
    """Run the tool calls of a turn. An instance a turn."""

    def __init__(self, scope: TurnScope, tools: Toolbox, context: ContextManager) -> None:
        self._scope = scope
        self._tools = tools
        self._context = context
        self._gate = ConsentGate(scope.hooks, scope.journal, scope.approval_requests)
        self._not_run: Mapping[int, str] = {}
        # An idempotent call whose end is unknown lends its key to the next with the same arguments.
        self._open_keys: dict[tuple[str, str], str] = {
            (row.name, row.arguments_hash): row.idempotency_key
            for row in scope.recorded.values()
            if row.effect is Effect.IDEMPOTENT and row.outcome is Outcome.UNKNOWN
        }

    async def run_all(self, step: int, calls: Sequence[ToolCall], *, cut: bool = False) -> list[CallResult]:
        """Run calls side by side, each with its own timeout. Return their results in the order of the calls.

        `cut`: the answer that makes the calls was cut off. A call of a tool with `parallel=False` runs alone, and
        approved calls run in the order of their approval. A failure is a result; only `LeaseLost`, `Halted` and
        cancellation end the turn.
        """
        calls = as_meant(step, self._scope.where.agent_path, calls, self._tools, self._scope.approval_requests)
        self._not_run = calls_not_run(calls, self._scope.config.max_calls_per_answer, cut=cut)
        path = self._scope.where.agent_path
        results: dict[int, CallResult] = {}
        for batch in batches(
            calls,
            lambda index: self._gate.approved_at(call_path(StepKey(step, index, path))),
            self._tools.get,
            parallel=self._scope.config.parallel_tools,
        ):
            for (index, _), result in zip(batch, await self._run_batch(step, batch), strict=True):
                results[index] = result
        return [results[index] for index in sorted(results)]

    async def _run_batch(self, step: int, batch: list[Numbered]) -> list[CallResult]:
        """Run calls side by side, once it is known which of them may: all that act begin in one write."""
        where = self._scope.where.at(step)
        keyed = {StepKey(step, index, where.agent_path): call for index, call in batch}
        entered = await side_by_side([self._enter(where, key, call) for key, call in keyed.items()])
        ready = [each for each in entered if isinstance(each, _Ready)]
        if begun := [replace(each.record, state=StepState.STARTED) for each in ready if each.begins]:
            await self._scope.journal.write(*begun)
        results = dict(zip([each.key for each in ready], await side_by_side(map(self._run, ready)), strict=True))
        return [each if isinstance(each, CallResult) else results[each.key] for each in entered]

    async def _enter(self, where: HookContext, key: StepKey, call: ToolCall) -> "_Ready | CallResult":
        """Return a call that may run now, or the result of one that ran before, waits or may not run."""
        known = self._scope.recorded.get(key)
        if known and known.state is StepState.DONE:
            return _from_record(call, known)
        if known and not self._may_run_again(known):
            end = ToolEnd(UNKNOWN_OUTCOME, Outcome.UNKNOWN)
            return await self._end(replace(known, state=StepState.DONE), call, end)
        ready = await self._prepare(where, key, call, known)
        if isinstance(ready, _Ready):
            return ready
        if ready.outcome is not Outcome.WAITING:
            record = StepRecord(key, StepKind.TOOL, call.name[:_MAX_NAME], StepState.DONE)
            ready = await self._end(record, call, ToolEnd(ready.text, ready.outcome))
        await self._scope.hooks.tell(Hook.call_finished, where, ready)
        return ready

    async def _run(self, ready: _Ready) -> CallResult:
        where, record = self._scope.where.at(ready.key.step), ready.record
        began = time.monotonic()
        end = await self._execute(where, ready)
        if end.outcome is Outcome.WAITING:
            result = CallResult(ready.call, end.text, end.outcome)
        else:
            if end.outcome is Outcome.UNKNOWN:
                self._open_keys[record.name, record.arguments_hash] = record.idempotency_key
            text = await self._scope.hooks.pipe(Hook.post_acting, end.text, where, ready.granted.planned)
            text = await self._gate.finish(ready.granted, text, end.outcome)
            took = int((time.monotonic() - began) * 1000)
            result = await self._end(record, ready.call, end._replace(text=text + ready.note), took)
        await self._scope.hooks.tell(Hook.call_finished, where, result)
        return result

    def _may_run_again(self, known: StepRecord) -> bool:
        """Follow the stricter effect: the tool's when the call started, or its present effect."""
        if known.result.get(_HELD):
            return True
        tool = self._tools.get(known.name)
        effects = {known.effect, tool.effect if tool else known.effect}
        return Effect.ONCE not in effects and (tool is not None or known.effect is Effect.READ)

    async def _prepare(
        self, where: HookContext, key: StepKey, call: ToolCall, known: StepRecord | None
    ) -> "_Ready | CallResult":
        """Return a call that may run, or the result of a call that may not."""
        if reason := self._not_run.get(key.call_index):
            return CallResult(call, reason, Outcome.REFUSED)
        tool = self._tools.get(call.name)
        if tool is None:
            text = f"There is no tool named {call.name[:100]!r}. {self._tools.suggest(call.name)}"
            return CallResult(call, text, Outcome.ERROR)
        try:
            understood = self._tools.read(call, tool)
            planned = PlannedCall(call.id, call.name, understood.arguments)
            planned = await self._scope.hooks.pre_acting(where, planned)
            parsed = tool.parse(planned.arguments)
        except ToolRetry as error:
            return CallResult(call, told_of(error), Outcome.ERROR)
        digest = canonical_hash(planned.arguments)
        outside = self._scope.outside
        if refused := outside.refuses(key, tool, planned.arguments, self._scope.recorded):
            return CallResult(call, refused, Outcome.REFUSED)
        asked = self._gate.approved_at(call_path(key)) is not None
        passage = await self._gate.pass_(gated_call(self._scope, where, key, tool, planned, asked=asked))
        if not isinstance(passage, Granted):
            return CallResult(call, passage.text, passage.outcome)
        if passage.planned is not planned:
            parsed, digest = tool.parse(passage.planned.arguments), canonical_hash(passage.planned.arguments)
        if known:
            idempotency_key = known.idempotency_key
        else:
            idempotency_key = self._open_keys.get((tool.name, digest)) or _new_key(self._scope, key)
        record = StepRecord(
            key,
            StepKind.TOOL,
            tool.name[:_MAX_NAME],
            StepState.DONE,
            arguments_hash=digest,
            effect=tool.effect,
            idempotency_key=idempotency_key,
            # A repeated call of an agent or of a tool of the turn would find what the first one left.
            may_wait=tool.effect is Effect.READ and not (tool.agent or tool.of_turn or passage.call_id),
        )
        begins = (known is None or bool(known.result.get(_HELD))) and tool.effect is not Effect.READ
        return _Ready(key, call, tool, passage, parsed, record, understood.note, begins)

    async def _execute(self, where: HookContext, ready: _Ready) -> ToolEnd:
        tool, hooks, config = ready.tool, self._scope.hooks, self._scope.config
        seconds = tool.timeout or (config.agent_tool_execution_timeout if tool.agent else config.tool_execution_timeout)
        context = self._scope.make_context(tool.name, ready.record.idempotency_key)
        context = self._scope.accounts.named(context, tool, ready.granted.planned)
        if not tool.agent:
            context = replace(context, ask=self._scope.accounts.asking(call_path(ready.key, tool)))
        if hooks.hears(Hook.acting_chunk):
            planned = ready.granted.planned
            context = replace(context, progress=lambda text: hooks.tell(Hook.acting_chunk, where, planned, text))
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                end = await tool.run_call(ready.key, ready.call, ready.parsed, context)
            return end._replace(text=as_data(end.text)) if tool.outside and end.outcome is Outcome.OK else end
        except LeaseLost:
            raise
        except Exception as error:  # a tool may raise anything; the model learns that it failed, but not the error
            if isinstance(error, ToolError) and (held := await self._hold(ready, error)):
                return held
            callee = Callee("tool", tool.name, tool.effect, seconds, tool.in_thread)
            end = ToolEnd(*outcome_of(error, callee, limit, turn=where.turn_id, step=ready.key.step))
            await hooks.tell(Hook.on_error, where, error)
            return end

    async def _hold(self, ready: _Ready, error: ToolError) -> ToolEnd | None:
        """Make a call wait for its person or an account; it did nothing yet, so it may run again. None for others."""
        path = call_path(ready.key, ready.tool)
        held = await self._scope.accounts.missed(path, ready.tool.name, ready.call.id, error)
        if held is None:
            return None
        if ready.record.effect is not Effect.READ:
            await self._scope.journal.write(replace(ready.record, state=StepState.STARTED, result={_HELD: True}))
        return ToolEnd(held.text, held.outcome)

    async def _end(self, record: StepRecord, call: ToolCall, end: ToolEnd, duration_ms: int = 0) -> CallResult:
        """Journal the result of a call, cut to its share of the context."""
        stored = storable(end.text)
        kept = self._context.truncate_tool_result(stored)
        result: JsonObject = {"text": kept, "chars": len(end.text), **end.kept()}
        entities = entities_in(record.name, stored) if end.outcome is Outcome.OK else ()
        if entities:
            result["entities"] = [asdict(entity) for entity in entities]
        self._scope.files.note(record.key, end.files, result)
        may_wait = record.may_wait and not end.files  # a repeat would make them again
        ended = replace(record, outcome=end.outcome, result=result, duration_ms=duration_ms, may_wait=may_wait)
        await self._scope.journal.write(ended)
        if end.outcome is Outcome.OK:
            self._scope.outside.take(record.key, self._tools.get(record.name), kept)
        return CallResult(call, kept, end.outcome, len(end.text), duration_ms, entities, end.told)


def _new_key(scope: TurnScope, key: StepKey) -> str:
    path = f"{key.agent_path}." if key.agent_path else ""
    return f"{scope.where.turn_id}.{path}{key.step}.{key.call_index}"


def _from_record(call: ToolCall, known: StepRecord) -> CallResult:
    return CallResult(
        call,
        str(known.result.get("text", "")),
        known.outcome,
        cast(int, known.result.get("chars", 0)),
        known.duration_ms,
        tuple(Entity(**entity) for entity in cast(list[dict[str, str]], known.result.get("entities", []))),
        cast("str | None", known.result.get("told")),
    )


def calls_not_run(calls: Sequence[ToolCall], limit: int, *, cut: bool) -> Mapping[int, str]:
    """Return the reasons of the calls that are not run, by their number from 1.

    The call after the first `limit` is not run, nor is the last call of an answer that was `cut`: its end is missing.
    """
    unfinished = {len(calls): replies.CALL_CUT_OFF} if cut and calls else {}
    return unfinished | {number: replies.too_many_calls(limit) for number in range(limit + 1, len(calls) + 1)}
