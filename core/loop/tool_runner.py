"""Run the calls of one model answer: checked, journalled, bounded in time, and never twice (promise 5)."""

import asyncio
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import structlog

from core.approvals.consent import Consents, ConsentState, call_place
from core.approvals.describe import MAY_HAVE_HAPPENED, tool_consent
from core.errors import LeaseLost, ToolError, ToolRetry
from core.hooks.hooks import Decision, HookContext, Hooks, PlannedCall, Verdict
from core.journal.types import Effect, Journal, Outcome, StepKey, StepKind, StepRecord, StepState
from core.json_types import JsonObject, canonical_hash, read_json, storable
from core.llm.types import ToolCall
from core.loop.answer_limits import calls_not_run
from core.loop.config import ReactLoopConfig
from core.loop.context_window import ContextManager
from core.tools.context import ToolExecutionContext
from core.tools.result_entities import Entity, entities_in
from core.tools.results import CallResult as CallResult
from core.tools.tool import AnyTool
from core.tools.toolbox import Toolbox

_log = structlog.get_logger()
_MAX_SHOWN = 300

UNKNOWN_OUTCOME = (
    "The outcome of this call is unknown: it started, and it may or may not have taken effect. It was not "
    "repeated. Do not call it again with the same arguments; tell the person what is uncertain."
)
REFUSED_REPEAT = (
    "Not run: an earlier call with the same arguments has an unknown outcome, so repeating it needs the "
    "person's approval. Tell the person what is uncertain."
)
NEEDS_APPROVAL = "Not run: this needs the person's approval, and there is no way to ask for one here. Say so."


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that may run."""

    key: StepKey
    call: ToolCall
    tool: AnyTool
    planned: PlannedCall
    parsed: Mapping[str, object]
    arguments_hash: str
    idempotency_key: str
    place: str = ""
    """Where consent was given, empty where none was needed."""
    changed: str = ""
    """What the model is told of changes that the person made."""


class ToolRunner:
    """Run the tool calls of one turn. One instance a turn."""

    def __init__(
        self,
        *,
        tools: Toolbox,
        journal: Journal,
        recorded: Mapping[StepKey, StepRecord],
        make_context: Callable[[str, str], ToolExecutionContext],
        where: HookContext,
        config: ReactLoopConfig,
        context: ContextManager,
        hooks: Hooks,
        consents: Consents | None = None,
    ) -> None:
        self._tools = tools
        self._journal = journal
        self._recorded = recorded
        self._make_context = make_context
        self._where = where
        self._config = config
        self._context = context
        self._hooks = hooks
        self._consents = consents
        self._not_run: Mapping[int, str] = {}
        self._asking = asyncio.Lock()
        # An idempotent call whose end is unknown lends its key to the next with the same arguments.
        self._open_keys: dict[tuple[str, str], str] = {
            (row.name, row.arguments_hash): row.idempotency_key
            for row in recorded.values()
            if row.effect is Effect.IDEMPOTENT and row.outcome is Outcome.UNKNOWN
        }

    async def run_all(self, step: int, calls: Sequence[ToolCall], *, cut: bool = False) -> list[CallResult]:
        """Run calls side by side, each with its own timeout; give their results in the order of the calls.

        `cut`: the answer that makes them was cut off. A call of a tool with `parallel=False` runs alone, and what
        people approved runs in the order in which they did. What fails is told as a result; only `LeaseLost` and
        cancellation end the turn.
        """
        numbered = list(enumerate(calls, start=1))
        self._not_run = calls_not_run(calls, self._config.max_calls_per_answer, cut=cut)
        approved = self._approved(step, numbered)
        rest = [one for one in numbered if one not in approved]
        results: dict[int, CallResult] = {}
        for batch in [*([one] for one in approved), *self._batches(rest)]:
            for (index, _), result in zip(batch, await self._run_batch(step, batch), strict=True):
                results[index] = result
        return [results[index] for index, _ in numbered]

    def _approved(self, step: int, calls: list[tuple[int, ToolCall]]) -> list[tuple[int, ToolCall]]:
        if self._consents is None:
            return []
        found = [
            (moment, one)
            for one in calls
            if (moment := self._consents.decided_at(call_place(self._where.agent_path, step, one[0])))
        ]
        return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1][0]))]

    def _batches(self, calls: list[tuple[int, ToolCall]]) -> list[list[tuple[int, ToolCall]]]:
        batches: list[list[tuple[int, ToolCall]]] = []
        together = False
        for numbered in calls:
            tool = self._tools.get(numbered[1].name)
            parallel = self._config.parallel_tools and (tool is None or tool.parallel)
            if parallel and together:
                batches[-1].append(numbered)
            else:
                batches.append([numbered])
            together = parallel
        return batches

    async def _run_batch(self, step: int, batch: list[tuple[int, ToolCall]]) -> list[CallResult]:
        where = self._where.at(step)
        keys = [StepKey(step, index, self._where.agent_path) for index, _ in batch]
        if len(batch) == 1:
            return [await self._run(where, keys[0], batch[0][1])]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._run(where, key, call)) for key, (_, call) in zip(keys, batch, strict=True)
                ]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        return [task.result() for task in tasks]

    async def _run(self, where: HookContext, key: StepKey, call: ToolCall) -> CallResult:
        known = self._recorded.get(key)
        if known and known.state is StepState.DONE:
            return _from_record(call, known)
        if known and not self._may_run_again(known):
            return await self._end(replace(known, state=StepState.DONE), call, UNKNOWN_OUTCOME, Outcome.UNKNOWN)
        result = await self._run_now(where, key, call, known)
        await self._hooks.call_finished(where, result)
        return result

    async def _run_now(self, where: HookContext, key: StepKey, call: ToolCall, known: StepRecord | None) -> CallResult:
        ready = await self._prepare(where, key, call)
        if isinstance(ready, CallResult):
            if ready.outcome is Outcome.WAITING:
                return ready
            record = self._record(key, call.name, "", Effect.READ, "")
            return await self._end(record, call, ready.text, ready.outcome)
        record = self._record(key, ready.tool.name, ready.arguments_hash, ready.tool.effect, ready.idempotency_key)
        if known:
            record = replace(record, idempotency_key=known.idempotency_key)
            ready = replace(ready, idempotency_key=known.idempotency_key)
        elif ready.tool.effect is not Effect.READ:
            await self._journal.write(replace(record, state=StepState.STARTED))
        began = time.monotonic()
        text, outcome = await self._execute(where, ready)
        if outcome is Outcome.WAITING:
            return CallResult(call, text, outcome)
        if outcome is Outcome.UNKNOWN:
            self._open_keys[ready.tool.name, ready.arguments_hash] = ready.idempotency_key
        text = await self._hooks.post_acting(where, ready.planned, text)
        if ready.place and self._consents is not None:
            await self._consents.ran(ready.place, outcome.value)
            text = "\n".join(part for part in (ready.changed, text) if part)
        return await self._end(record, call, text, outcome, int((time.monotonic() - began) * 1000))

    def _may_run_again(self, known: StepRecord) -> bool:
        """Follow the stricter of what the tool was when it started and what it is now."""
        tool = self._tools.get(known.name)
        effects = {known.effect, tool.effect if tool else known.effect}
        return Effect.ONCE not in effects and (tool is not None or known.effect is Effect.READ)

    async def _prepare(self, where: HookContext, key: StepKey, call: ToolCall) -> "_Ready | CallResult":
        if why := self._not_run.get(key.call_index):
            return CallResult(call, why, Outcome.REFUSED)
        tool = self._tools.get(call.name)
        if tool is None:
            text = f"There is no tool named {call.name[:100]!r}. {self._tools.suggest(call.name)}"
            return CallResult(call, text, Outcome.ERROR)
        try:
            planned = await self._hooks.pre_acting(where, PlannedCall(call.id, call.name, _arguments(call, tool)))
            parsed = tool.parse(planned.arguments)
        except ToolRetry as error:
            return CallResult(call, str(error), Outcome.ERROR)
        verdict = await self._hooks.evaluate(where, planned)
        if verdict.decision is Decision.DENY:
            return _denied(call, verdict)
        ready = _Ready(key, call, tool, planned, parsed, canonical_hash(planned.arguments), "")
        # An agent holds its own calls against the rules, once it knows all that it runs with.
        needed = not tool.agent and (tool.needs_approval or verdict.decision is Decision.APPROVE)
        once = tool.effect is Effect.ONCE
        # One after the other: where not all may be asked for, the first calls are.
        async with self._asking:
            repeats = once and await self._journal.outcome_unknown(tool.name, ready.arguments_hash)
            asked = await self._consented(where, ready, verdict, repeats=repeats) if needed or repeats else ready
        if isinstance(asked, CallResult):
            return asked
        ready = asked
        idempotency_key = self._open_keys.get((tool.name, ready.arguments_hash)) or self._new_key(key)
        return replace(ready, idempotency_key=idempotency_key)

    async def _consented(
        self, where: HookContext, ready: _Ready, verdict: Verdict, *, repeats: bool
    ) -> "_Ready | CallResult":
        """Return the call as the person approved it, or why it may not run now."""
        call, tool, planned = ready.call, ready.tool, ready.planned
        if self._consents is None:
            return CallResult(call, REFUSED_REPEAT if repeats else NEEDS_APPROVAL, Outcome.REFUSED)
        place = call_place(ready.key.agent_path, ready.key.step, ready.key.call_index, tool.name)
        note = MAY_HAVE_HAPPENED if repeats else ""
        begun = ready.key in self._recorded
        what = tool_consent(place, tool, planned.arguments, risk=verdict.risk, note=note, begun=begun)
        consent = await self._consents.ask(what)
        if consent.state is not ConsentState.GRANTED:
            waits = consent.state is ConsentState.PENDING
            return CallResult(call, consent.text, Outcome.WAITING if waits else Outcome.REFUSED)
        arguments = planned.arguments if consent.arguments is None else consent.arguments
        approved = replace(planned, arguments=arguments)
        if consent.changed:
            verdict = await self._hooks.evaluate(where, approved)
            if verdict.decision is Decision.DENY:
                return _denied(call, verdict)
        return replace(
            ready,
            planned=approved,
            parsed=tool.parse(arguments),
            arguments_hash=canonical_hash(arguments),
            place=place,
            changed=consent.changed,
        )

    def _new_key(self, key: StepKey) -> str:
        path = f"{key.agent_path}." if key.agent_path else ""
        return f"{self._where.turn_id}.{path}{key.step}.{key.call_index}"

    async def _execute(self, where: HookContext, ready: _Ready) -> tuple[str, Outcome]:
        tool = ready.tool
        seconds = tool.timeout or (
            self._config.agent_tool_execution_timeout if tool.agent else self._config.tool_execution_timeout
        )
        context = self._make_context(tool.name, ready.idempotency_key)
        if self._hooks.hears("acting_chunk"):
            context = replace(context, progress=lambda text: self._hooks.acting_chunk(where, ready.planned, text))
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await tool.run_call(ready.key, ready.call, ready.parsed, context)
        except ToolError as error:
            await self._hooks.on_error(where, error)
            return str(error) or f"{tool.name} failed.", Outcome.ERROR
        except LeaseLost:
            raise
        except Exception as error:  # a tool may raise anything; the model is told that it failed, not with what
            late = isinstance(error, TimeoutError) and limit.expired()
            self._log_failure(ready, error, late=late)
            await self._hooks.on_error(where, error)
            return _failure_text(tool, seconds if late else None), _failure_outcome(tool)

    def _log_failure(self, ready: _Ready, error: Exception, *, late: bool) -> None:
        frames = traceback.extract_tb(error.__traceback__)[-4:]
        _log.warning(
            "tool_timed_out" if late else "tool_failed",
            turn=self._where.turn_id,
            tool=ready.tool.name,
            step=ready.key.step,
            error=type(error).__name__,
            where=[f"{frame.filename}:{frame.lineno}" for frame in frames],
        )

    def _record(self, key: StepKey, name: str, digest: str, effect: Effect, idempotency_key: str) -> StepRecord:
        return StepRecord(
            key,
            StepKind.TOOL,
            name[:_MAX_SHOWN],
            StepState.DONE,
            arguments_hash=digest,
            effect=effect,
            idempotency_key=idempotency_key,
        )

    async def _end(
        self, record: StepRecord, call: ToolCall, text: str, outcome: Outcome, duration_ms: int = 0
    ) -> CallResult:
        stored = storable(text)
        kept = self._context.truncate_tool_result(stored)
        result: JsonObject = {"text": kept, "chars": len(text)}
        entities = entities_in(record.name, stored) if outcome is Outcome.OK else ()
        if entities:
            result["entities"] = [one.to_json() for one in entities]
        await self._journal.write(record.ended(outcome, result, duration_ms))
        return CallResult(call, kept, outcome, len(text), duration_ms, entities)


def _denied(call: ToolCall, verdict: Verdict) -> CallResult:
    return CallResult(call, f"Not run: {verdict.reason or 'a rule forbids it.'}", Outcome.REFUSED)


def _arguments(call: ToolCall, tool: AnyTool) -> JsonObject:
    """Read the arguments' JSON. Raises `ToolRetry`, which tells the model what is right."""
    try:
        value = read_json(call.arguments or "{}")
    except ValueError as error:
        raise ToolRetry(
            f"The arguments of {tool.name} are not valid JSON. Send one JSON object; NaN and Infinity are no numbers."
        ) from error
    if not isinstance(value, dict):
        raise ToolRetry(f"The arguments of {tool.name} must be one JSON object with its parameters.")
    return value


def _from_record(call: ToolCall, known: StepRecord) -> CallResult:
    return CallResult(
        call,
        str(known.result.get("text", "")),
        known.outcome,
        cast(int, known.result.get("chars", 0)),
        known.duration_ms,
        tuple(Entity.from_json(one) for one in cast(list[JsonObject], known.result.get("entities", []))),
    )


def _failure_text(tool: AnyTool, seconds: float | None) -> str:
    what = f"{tool.name} failed with an internal error."
    if seconds is not None:
        still = " It may still be running." if tool.in_thread else ""
        what = f"{tool.name} gave no answer within {seconds:g} seconds.{still}"
    if tool.effect is Effect.ONCE:
        return f"{what} {UNKNOWN_OUTCOME}"
    return f"{what} Go on without it, try once more, or tell the person."


def _failure_outcome(tool: AnyTool) -> Outcome:
    """Return whether a call that ended badly may have taken effect: only a `ToolError` says that it has not."""
    return Outcome.ERROR if tool.effect is Effect.READ else Outcome.UNKNOWN
