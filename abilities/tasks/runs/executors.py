"""Executing runs: through the loop, or by a custom executor."""

import json
from dataclasses import replace

import structlog

from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.messages import disabled_text, failed_text, result_text, says_nothing, trigger_message
from abilities.tasks.reasons import Reason
from abilities.tasks.runs.looks import ReadTools
from abilities.tasks.runs.notifications import Notices, notification
from abilities.tasks.runs.spared import Before, SparedRuns
from abilities.tasks.types import (
    AGENT,
    ORCHESTRATOR,
    ActionExecutor,
    ActionResult,
    Task,
    TaskRun,
    TriggerContext,
)
from core import replies
from core.agents.pool_entry import PoolEnd
from core.approvals.types import ApprovalState
from core.errors import LeaseLost, StoreUnavailable, TurnDelayed
from core.journal.types import Effect, Outcome, StepKey, StepKind, StepRecord, StepState
from core.json_types import JsonObject, canonical_hash
from core.language.catalogue import gettext
from core.llm.types import ToolCall
from core.notifications.types import Notifier
from core.turns.orchestrator import Orchestrator
from core.turns.runs import NoticeKind, RunNote, RunState
from core.turns.types import FirstCall, FromTask, TurnRequest, TurnResult, TurnState

_log = structlog.get_logger()


class OrchestratorExecutor(ActionExecutor):
    """Run the loop: the trigger's message starts a turn in a lane of its own."""

    name = ORCHESTRATOR
    effect = Effect.IDEMPOTENT.value

    def __init__(self, orchestrator: Orchestrator) -> None:
        self.orchestrator = orchestrator

    async def execute(self, context: TriggerContext) -> ActionResult:
        message = trigger_message(context.task, context.run)
        request = context.request.began(FromTask(message, context.task.id))
        if context.task.executor.startswith(AGENT):
            request = replace(request, starts=FirstCall(_first_call(context)))
        result = await self.orchestrator.handle_message(request)
        return ActionResult(result.state is not TurnState.FAILED, result.reply, result.reason, turn=result)


class RunExecutors:
    """Execute runs and return their states."""

    def __init__(
        self,
        engine: TriggerEngine,
        orchestrator: Orchestrator,
        notifier: Notifier,
        notices: Notices,
        reading: ReadTools | None = None,
    ) -> None:
        """Without `reading`, no run is compared with an earlier one."""
        self._engine = engine
        self._store = engine.store
        self._orchestrator = orchestrator
        self._notifier = notifier
        self.notices = notices
        self._default = OrchestratorExecutor(orchestrator)
        self._spared = SparedRuns(engine, orchestrator, reading)

    async def result(self, request: TurnRequest, run_id: str) -> tuple[TurnResult, RunNote]:
        """Execute a run in its turn. Raises only `LeaseLost`, `StoreUnavailable` and `TurnDelayed`."""
        task_and_run = await self._store.run(request.tenant.id, run_id)
        if task_and_run is None:
            raise LeaseLost
        task, run = task_and_run
        executor, before = self._executor(task), None
        if "by_hand" not in run.cause and not await request.work.journal.recorded():
            why, before = await self._begin(task, run, asks=executor is self._default)
            if why:
                return TurnResult(TurnState.DONE, reason=why), RunNote(RunState.SKIPPED, why)
        if executor is None:
            done = ActionResult(False, error=Reason.NO_EXECUTOR)
        else:
            done = await self._execute(executor, self._context(task, run, request))
        if before is not None and done.turn is not None and done.turn.state is TurnState.DONE and not done.error:
            await self._spared.note(task, before, await request.work.journal.recorded())
        return self._ended(task, run, request, done)

    async def _begin(self, task: Task, run: TaskRun, *, asks: bool) -> tuple[str, Before | None]:
        """Return why a run does not begin, empty if it does, and the state before it. `asks`: it would ask a model."""
        if task.held:
            return Reason.UNREACHABLE, None
        if asks and await self._spared.by_quiet(task):
            return Reason.QUIET, None
        before = await self._spared.before(task) if asks else None
        same = before is not None and await self._spared.by_sameness(task, run, before)
        return Reason.UNCHANGED if same else "", before

    def noted(self) -> None:
        """Hand over a run's news for its person, soon."""
        self.notices.wake()

    def _executor(self, task: Task) -> ActionExecutor | None:
        if task.executor == ORCHESTRATOR or task.executor.startswith(AGENT):
            return self._default
        return self._engine.executors.get(task.executor)

    def _context(self, task: Task, run: TaskRun, request: TurnRequest) -> TriggerContext:
        data = run.cause.get("data")
        trigger = task.trigger
        key = canonical_hash([task.tenant_id, run.id, task.executor])[:32]

        async def notify(text: str) -> None:
            news = replace(notification(task, run, text), dedupe_key=f"{run.id}:{canonical_hash(text)[:16]}")
            await self._notifier.notify(task.tenant_id, news)

        return TriggerContext(
            task=task,
            run=run,
            trigger_type=task.kind.value,
            tools=self._orchestrator.tool_context(request, task.executor, key),
            request=request,
            notify=notify,
            event_type=str(run.cause.get("type") or ""),
            event_data=data if isinstance(data, dict) else {},
            condition_expression=trigger.expression if isinstance(trigger, ConditionTrigger) else "",
            old=run.cause.get("old"),
            new=run.cause.get("new"),
        )

    async def _execute(self, executor: ActionExecutor, context: TriggerContext) -> ActionResult:
        if executor is self._default:
            return await executor.execute(context)
        if Effect(executor.effect) is Effect.ONCE and await _had_begun(context):
            unknown = gettext("I cannot tell whether it was done: I was interrupted while I worked on it.")
            return ActionResult(False, output=unknown, error=Reason.END_UNKNOWN)
        await context.request.work.journal.write(_step(executor, context, StepState.STARTED))
        try:
            done = await executor.execute(context)
        except (LeaseLost, StoreUnavailable, TurnDelayed):
            raise
        except Exception as error:
            _log.exception("executor_failed", turn=context.request.turn_id, executor=executor.name)
            done = ActionResult(False, error=type(error).__name__)
        outcome = Outcome.OK if done.success else Outcome.ERROR
        record = _step(executor, context, StepState.DONE)
        await context.request.work.journal.write(replace(record, outcome=outcome, result={"text": done.output}))
        return done

    def _ended(self, task: Task, run: TaskRun, request: TurnRequest, done: ActionResult) -> tuple[TurnResult, RunNote]:
        turn = done.turn or TurnResult(
            TurnState.DONE if done.success else TurnState.FAILED, done.output, reason=done.error
        )
        disabled = disabled_text(task)
        if turn.state is TurnState.WAITING:
            history = (*request.kept.history, *turn.history)
            kind, step = NoticeKind.QUESTION, turn.waiting_step
            note = RunNote(
                RunState.PENDING_APPROVAL, turn.reason, history, kind, step, turn.reply, disabled, turn.media
            )
            return turn, note
        if turn.state is TurnState.FAILED:
            text = failed_text(task, done.output or gettext(replies.MODEL_DOWN) if done.turn else done.output)
            # A silent task runs often: not every failure of it is worth a message.
            text = "" if task.output.silent else text
            media = turn.media if text else ()
            return turn, RunNote(RunState.FAILED, done.error or turn.reason, text=text, disabled=disabled, media=media)
        state = RunState.CANCELLED if turn.state is TurnState.INTERRUPTED else RunState.COMPLETED
        if _expired(request):
            state = RunState.EXPIRED
        if task.output.silent and says_nothing(turn.reply) and not turn.media:
            return replace(turn, reply="", reason=Reason.NOTHING_TO_TELL), RunNote(state, Reason.NOTHING_TO_TELL)
        text = result_text(task, run, turn.reply) if turn.reply else ""
        return turn, RunNote(state, turn.reason, text=text, media=turn.media, outside=done.outside)


def _expired(request: TurnRequest) -> bool:
    questions = any(entry.turn_id == request.turn_id and entry.reason is PoolEnd.EXPIRED for entry in request.kept.pool)
    return questions or any(
        approval.turn_id == request.turn_id and approval.state is ApprovalState.EXPIRED
        for approval in request.kept.approvals
    )


def _first_call(context: TriggerContext) -> ToolCall:
    name = context.task.executor.removeprefix(AGENT)
    configured = context.task.action.get("arguments")
    arguments: JsonObject = dict(configured) if isinstance(configured, dict) else {}
    if context.task.instruction:
        arguments["task_instruction"] = context.task.instruction
    return ToolCall(f"{context.run.id}_first", name, json.dumps(arguments, ensure_ascii=False))


async def _had_begun(context: TriggerContext) -> bool:
    recorded = await context.request.work.journal.recorded()
    return any(step.kind is StepKind.TOOL and step.state is StepState.STARTED for step in recorded)


def _step(executor: ActionExecutor, context: TriggerContext, state: StepState) -> StepRecord:
    return StepRecord(
        StepKey(0, 1),
        StepKind.TOOL,
        executor.name,
        state,
        effect=Effect(executor.effect),
        idempotency_key=context.tools.idempotency_key,
    )
