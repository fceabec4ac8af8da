"""A run of the ReAct loop: its state, its journal and its beginning."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import structlog

from core import metrics, replies
from core.errors import StoreUnavailable
from core.hooks.hooks import Hook
from core.hooks.judge import Judge, Judging, Trail, act_of, act_recorded
from core.journal.types import Journal, Outcome, StepKey, StepKind, StepRecord, StepState
from core.language.catalogue import gettext
from core.llm.types import ChatMessage, ModelAnswer, Role, TokenUsage, estimate_tokens
from core.loop.context_window import ContextManager, Messages, repair
from core.loop.conversation_state import ConversationState
from core.loop.outside import for_later
from core.loop.result import Ended, ReactLoopResult
from core.loop.scope import LoopTask, TurnScope
from core.loop.steering import Steering
from core.loop.tool_runner import ToolRunner
from core.tools.results import CallResult, ToolCallRecord
from core.tools.toolbox import Toolbox


@dataclass(slots=True)
class LoopRun:
    """The state of a run. `window` is the conversation as the model sees it, `new` the messages for the history."""

    task: LoopTask
    tools: Toolbox
    steering: Steering
    judging: Judging | None
    """None if there is no judge."""
    window: Messages
    state: ConversationState
    began: float = field(default_factory=time.monotonic)
    step_began: float = field(default_factory=time.monotonic)
    step: int = 0
    failures: int = 0
    """Answers in a row whose every call failed."""
    empties: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    window_tokens: int = 0
    new: list[ChatMessage] = field(default_factory=list)
    calls: list[ToolCallRecord] = field(default_factory=list)
    results: list[CallResult] = field(default_factory=list)
    """The results of the newest calls."""
    told: list[str] = field(default_factory=list)
    tools_changed: bool = False
    dropped: list[ChatMessage] = field(default_factory=list)
    """Messages that are neither in the window nor in a summary."""
    _runner: ToolRunner | None = None

    @property
    def scope(self) -> TurnScope:
        """Return the scope of the run's turn."""
        return self.task.scope

    @property
    def key(self) -> StepKey:
        """Return the key of the next model answer."""
        return StepKey(self.step, 0, self.scope.where.agent_path)

    @property
    def replaying(self) -> bool:
        """Return whether the next model answer is in the journal."""
        return self.key in self.scope.recorded

    @property
    def runner(self) -> ToolRunner:
        """Return the runner of the calls, the same for every step."""
        if self._runner is None:
            self._runner = ToolRunner(self.scope, self.tools, ContextManager(self.scope.config))
        return self._runner

    @property
    def all_cancelled(self) -> bool:
        """Return whether the newest calls were all cancelled by the person, on their cards."""
        return bool(self.results) and all(
            result.outcome is Outcome.REFUSED and result.text == replies.CANCELLED for result in self.results
        )

    def add_results(self, results: list[CallResult], step: int, usage: TokenUsage) -> None:
        """Keep the results of an answer's calls; `usage` is the answer's own."""
        self.results = results
        for number, result in enumerate(results, start=1):
            tool = self.task.tools.get(result.call.name)
            key = StepKey(step, number, self.scope.where.agent_path)
            record = ToolCallRecord(
                name=result.call.name,
                args_summary=result.arguments_summary(),
                duration_ms=result.duration_ms,
                success=result.outcome in (Outcome.OK, Outcome.HANDED_OVER),
                result_status=tool.status_after(key, result.outcome) if tool else None,
                result_chars=result.chars,
                token_attribution=usage,
            )
            self.calls.append(record)

    def say(self, *messages: ChatMessage, keep: bool = True) -> None:
        """Show messages to the model, and add them to history if `keep`."""
        self.window += messages
        self.window_tokens += estimate_tokens(messages)
        if keep:
            self.new += map(for_later, messages)

    def hear(self, messages: Sequence[ChatMessage]) -> None:
        """Show the model the messages that the person wrote while it worked."""
        self.say(*messages)
        outside = self.scope.outside
        outside.hear(messages)
        outside.passed_on = outside.passed_on or any(message.outside for message in messages)

    def see(self, messages: Messages) -> None:
        """Replace the model's view from now on."""
        if messages is not self.window:
            self.window = repair(messages)
            self.window_tokens = estimate_tokens(self.window)

    async def interrupted(self) -> ReactLoopResult | None:
        """Return the end at the person's wish, or for their next message if they prefer that; None to go on."""
        if (stopped := await self.steering.stopped()) is not None:
            return self.end(Ended.INTERRUPTED, replies.stopped(stopped))
        return self.end(Ended.SUPERSEDED, "") if await self.steering.superseded() else None

    async def judge_results(self) -> bool:
        """Ask the judges about the newest results. Return True after enough advice."""
        if self.judging is None:
            return False
        async with self.steering.cuts_off():
            acts = [act_of(result, self.task.tools.get(result.call.name)) for result in self.results]
            judged = await self.judging.of_results(self.step - 1, acts)
        self.usage += judged.usage
        if judged.finding and not judged.ends:
            self.say(ChatMessage(Role.USER, judged.advice, internal=True), keep=False)
        return judged.ends

    async def judge_answer(self, answer: ModelAnswer, *, last: bool = False) -> str | None:
        """Ask the judges about an answer. Return its text for the person; None if the model is asked again.

        After the `last` answer it is not.
        """
        if self.judging is None:
            return answer_text(answer)
        async with self.steering.cuts_off():
            judged = await self.judging.of_answer(self.step - 1, self.window, answer, last=last)
        self.usage += judged.usage
        if judged.advice and not judged.ends and not last:
            self.say(answer.message(), ChatMessage(Role.USER, judged.advice, internal=True), keep=False)
            return None
        return f"{answer_text(answer)}\n\n{judged.mark}" if judged.mark else answer_text(answer)

    def end(self, ended: Ended, text: str) -> ReactLoopResult:
        """Return the result of the run, with the text that the person reads."""
        if text:
            self.new.append(ChatMessage(Role.ASSISTANT, text))
        return ReactLoopResult(
            response=text,
            turns=self.step,
            tool_calls=tuple(self.calls),
            token_usage=self.usage,
            duration_ms=int((time.monotonic() - self.began) * 1000),
            pending_approvals=self.scope.pending_approvals,
            ended=ended,
            messages=tuple(self.new),
            told=tuple(self.told),
            absorbed=tuple(self.steering.absorbed),
            joined=tuple(self.steering.joined),
            state=self._state_left(),
            stopped_at=tuple(self.results) if ended is Ended.WAITING else (),
        )

    def _state_left(self) -> ConversationState:
        groups = self.tools.groups
        return self.state if groups == self.state.groups else replace(self.state, groups=groups)


def answer_text(answer: ModelAnswer) -> str:
    """Return an answer's text for the person, with a note if it was cut off. A withheld answer is not shown in part."""
    if answer.refused:
        return replies.refused(answer.refusal)
    text = replies.without_notes(answer.text) or gettext(replies.NOTHING_SAID)
    return f"{text.rstrip()}\n\n{gettext(replies.ANSWER_CUT_OFF)}" if answer.cut else text


_log = structlog.get_logger()
_PAUSE = 0.3
"""Seconds between two tries to write."""


class RunJournal:
    """The journal of a turn as a run writes it: it waits for its store, and reports each step.

    A tool's action has happened whether or not it can be recorded: giving up at once would leave its outcome unknown.
    After `patience`, in seconds, `StoreUnavailable` is raised as it came. Replayed steps are not written, hence not
    reported again. `find_tool` returns None for a name that no tool has: a model made it up, and it may be any text.
    """

    def __init__(
        self, journal: Journal, turn_id: str, find_tool: Callable[[str], object], patience: float = 0.0
    ) -> None:
        self._journal = journal
        self._turn_id = turn_id
        self._find_tool = find_tool
        self._patience = patience
        self.recorded, self.outcome_unknown = journal.recorded, journal.outcome_unknown
        self.flush, self.waiting = journal.flush, journal.waiting

    async def write(self, *records: StepRecord) -> None:
        ends = time.monotonic() + self._patience
        while True:
            try:
                await self._journal.write(*records)
                break
            except StoreUnavailable:
                if time.monotonic() >= ends:
                    raise
                await asyncio.sleep(_PAUSE)
        for record in records:
            if record.state is StepState.DONE:
                self.report(record)

    def report(self, record: StepRecord) -> None:
        """Report a step that is over to log and metrics."""
        is_call = record.kind is StepKind.TOOL
        name = metrics.UNKNOWN if is_call and self._find_tool(record.name) is None else record.name
        kind, outcome = record.kind.value, record.outcome.value
        metrics.STEP_SECONDS.labels(kind, name if is_call else "", outcome).observe(record.duration_ms / 1000)
        _log.debug(
            "step_finished",
            turn=self._turn_id,
            step=record.key.step,
            call=record.key.call_index,
            agent=record.key.agent_path,
            kind=kind,
            name=name,
            outcome=outcome,
            duration_ms=record.duration_ms,
        )


async def begin_run(task: LoopTask) -> LoopRun:
    """Return a run at the task's first step."""
    scope, config = task.scope, task.scope.config
    recorded = {record.key: record for record in await scope.journal.recorded()}
    window = repair(task.messages)
    tools = Toolbox(task.tools, task.state.groups, config.tools_in_full, config.groups_in_full)
    journal = RunJournal(scope.journal, scope.where.turn_id, tools.get, config.journal_patience)
    scope = replace(scope, journal=journal, recorded=recorded)
    task = replace(task, scope=scope)
    scope.files.begin(recorded)
    scope.outside.begin(window, recorded, task.tools, scope.where.agent_path)
    if not recorded:
        await scope.hooks.tell(Hook.pre_call, scope.where, window)
    judging = None
    if judges := scope.hooks.of(Judge):
        trail = _trail_before(task) if task.go_on_at else ()
        judging = Judging(judges, journal, recorded, scope.where, config.max_advice, scope.budget, trail)
    run = LoopRun(
        task=task,
        tools=tools,
        steering=Steering(task),
        judging=judging,
        step=task.go_on_at or 0,
        usage=_used_before(scope, task.go_on_at or 0),
        state=task.state,
        window=window,
        window_tokens=estimate_tokens(window),
    )
    if task.go_on_at is not None and not run.replaying:
        run.say(ChatMessage(Role.USER, replies.GO_ON, internal=True), keep=False)
    return run


def _trail_before(task: LoopTask) -> Trail:
    """Return the calls of a turn before the step at which it resumes."""
    path, ends = task.scope.where.agent_path, task.go_on_at or 0
    calls = (row for row in task.scope.recorded.values() if row.kind is StepKind.TOOL and row.state is StepState.DONE)
    before = [row for row in calls if row.key.agent_path == path and row.key.step < ends]
    before.sort(key=lambda row: (row.key.step, row.key.call_index))
    return tuple(
        tuple(act_recorded(row, task.tools.get(row.name)) for row in rows)
        for _, rows in groupby(before, key=lambda row: row.key.step)
    )


def _used_before(scope: TurnScope, step: int) -> TokenUsage:
    """Return the usage of a turn before the step at which it resumes."""
    path = scope.where.agent_path
    before = (row.usage for key, row in scope.recorded.items() if key.agent_path == path and key.step < step)
    return sum(before, TokenUsage())
