"""The ReAct loop: think, act, observe, until there is an answer. It knows no provider, no SQL and no channel.

Each model answer and each result is in the journal before the next step, and what the journal already holds is
replayed: so the same code runs a turn for the first time and finishes one that another worker began.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from core import replies
from core.budgets.types import OutOfMoney
from core.errors import ModelError
from core.hooks.hooks import Hooks, StepReport
from core.hooks.judge import Judge, Judging
from core.journal.patient import PatientJournal
from core.journal.types import Outcome, StepKey, StepKind, StepRecord, StepState
from core.llm.tokens import estimate_tokens
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role, TokenUsage
from core.loop.answer_limits import told
from core.loop.budget_extension import MoneyAsked, pay_with_more
from core.loop.config import ReactLoopConfig
from core.loop.context_window import ContextManager, repair
from core.loop.model_caller import Asked, ModelCaller, Tell
from core.loop.result import Ended, ReactLoopResult
from core.loop.run import LoopRun
from core.loop.run import LoopTask as LoopTask
from core.loop.steering import Steering
from core.loop.summary import dropped, summarised, summary_request, with_summary
from core.loop.tool_runner import CallResult, ToolRunner
from core.tools.results import ToolCallRecord
from core.tools.toolbox import Toolbox


class LoopFailed(Exception):
    """The model could not be reached in the middle: `partial` holds what did happen."""

    def __init__(self, error: ModelError, partial: ReactLoopResult) -> None:
        super().__init__(str(error))
        self.error = error
        self.partial = partial


class ReactLoop:
    """Think, act, observe. One instance serves many turns at once."""

    def __init__(self, caller: ModelCaller, config: ReactLoopConfig, hooks: Hooks | None = None) -> None:
        self._caller = caller
        self._config = config
        self._context = ContextManager(config)
        self._hooks = hooks or Hooks()

    async def run(self, task: LoopTask) -> ReactLoopResult:
        """Run a turn to its answer, or on from where its journal ends.

        Raises `LoopFailed` when the model stays away, and `LeaseLost` when another worker has the turn.
        """
        run = await self._begin(task)
        try:
            return await self._loop(run)
        except OutOfMoney as spent:
            return run.end(Ended.BUDGET, str(spent))
        except MoneyAsked:
            return replace(run.end(Ended.WAITING, ""), turns=run.step + 1)
        except ModelError as error:
            await run.hooks.on_error(task.where, error)
            raise LoopFailed(error, run.end(Ended.ERRORS, "")) from error

    async def _loop(self, run: LoopRun) -> ReactLoopResult:
        while run.step < self._config.max_turns:
            if not run.replaying and (interrupted := await self._interrupted(run)):
                return interrupted
            if self._over_budget(run):
                return run.end(Ended.BUDGET, replies.OUT_OF_TOKENS)
            if run.step != run.task.go_on_at:
                run.say(*await run.steering.absorb(run.step, replaying=run.replaying))
            answer = await self._think(run)
            results = await self._act(run, answer)
            if stopped := await self._stopped(run, answer, results):
                return stopped
            if results:
                if run.failures >= self._config.max_consecutive_errors:
                    return await self._summarise(run, Ended.ERRORS)
                if await self._judge_results(run):
                    return await self._summarise(run, Ended.STUCK)
            elif answer.text.strip():
                if await self._judge_answer(run, answer):
                    return run.end(Ended.ANSWERED, told(answer))
            elif run.empties > self._config.max_empty_answers:
                return run.end(Ended.EMPTY, replies.NOTHING_SAID)
            else:
                run.say(ChatMessage(Role.USER, replies.SAY_SOMETHING, internal=True), keep=False)
        return await self._summarise(run, Ended.MAX_TURNS)

    async def _think(self, run: LoopRun, *, use_tools: bool = True) -> ModelAnswer:
        known = run.recorded.get(run.key)
        if known is None:
            answer = await self._ask(run, use_tools=use_tools)
        else:
            answer = ModelAnswer.from_json(known.result, known.usage)
            await run.task.budget.settle(run.key, answer.usage)
            run.tools_changed |= known.arguments_hash != run.tools.offered.hash
        run.step += 1
        run.usage += answer.usage
        run.empties = 0 if answer.text.strip() or answer.tool_calls else run.empties + 1
        if answer.usage.total:
            run.window_tokens = answer.usage.total
        return answer

    async def _ask(self, run: LoopRun, *, use_tools: bool) -> ModelAnswer:
        if run.tools_changed:
            run.say(ChatMessage(Role.USER, replies.TOOLS_CHANGED, internal=True), keep=False)
            run.tools_changed = False
        where = run.task.where.at(run.step)
        run.step_began = time.monotonic()
        run.see(await run.hooks.prepare_step(where, run.window))
        await self._make_room(run)
        messages = await run.hooks.pre_reasoning(where, run.window)
        asked = await self._pay_and_ask(
            run,
            run.key,
            ModelRequest(
                messages=messages if messages is run.window else repair(messages),
                tools=run.tools.offered.specs,
                use_tools=use_tools,
                parallel_tools=self._config.parallel_tools,
                max_output_tokens=self._config.max_output_tokens,
                temperature=self._config.temperature,
            ),
            (lambda so_far: run.hooks.reasoning_chunk(where, so_far)) if run.hooks.hears("reasoning_chunk") else None,
        )
        if asked.cut:
            run.see(asked.messages)
        answer = await run.hooks.post_reasoning(where, asked.answer)
        await run.journal.write(
            StepRecord(
                run.key,
                StepKind.MODEL,
                answer.model,
                StepState.DONE,
                arguments_hash=run.tools.offered.hash,
                result=answer.to_json(),
                usage=answer.usage,
                duration_ms=int((time.monotonic() - run.step_began) * 1000),
            )
        )
        await run.task.budget.settle(run.key, answer.usage)
        return answer

    async def _make_room(self, run: LoopRun) -> None:
        """Drop the oldest when the context is nearly full; sum it up first where that is wanted."""
        trimmed = self._context.trim_if_needed(run.window, run.window_tokens)
        gone = dropped(run.window, trimmed) if self._config.summarise_dropped else ()
        if gone:
            limit = self._config.context_token_limit * 2
            key = StepKey(run.step, 0, f"{run.task.where.agent_path}#summary")
            try:
                asked = await self._pay_and_ask(run, key, summary_request(run.state, gone, limit))
            except ModelError as error:
                await run.hooks.on_error(run.task.where, error)
            else:
                await run.task.budget.settle(key, asked.answer.usage)
                run.usage += asked.answer.usage
                run.state = summarised(run.state, asked.answer.text, gone)
                trimmed = with_summary(trimmed, run.state)
        run.see(trimmed)

    async def _pay_and_ask(self, run: LoopRun, key: StepKey, request: ModelRequest, tell: Tell | None = None) -> Asked:
        try:
            await run.task.budget.reserve(key, request)
        except OutOfMoney as spent:
            if run.task.where.agent_path:
                raise
            await pay_with_more(run.task.budget, run.task.consents, key, request, spent)
        try:
            return await self._caller.ask(request, tell)
        except ModelError:
            await run.task.budget.release(key)
            raise

    async def _act(self, run: LoopRun, answer: ModelAnswer) -> list[CallResult]:
        if not answer.tool_calls:
            return []
        step = run.step - 1
        run.results = results = await run.runner.run_all(step, answer.tool_calls, cut=answer.cut)
        run.calls += [
            _call_record(run, one, StepKey(step, number, run.task.where.agent_path), answer.usage)
            for number, one in enumerate(results, start=1)
        ]
        if any(one.outcome is Outcome.WAITING for one in results):
            return results  # history may not hold calls that are not answered
        told = [ChatMessage(Role.TOOL, one.text, tool_call_id=one.call.id, name=one.call.name) for one in results]
        run.say(answer.message(), *told)
        run.state = run.state.having_seen(entity for one in results for entity in one.entities)
        for one in results:
            run.tools.apply(one)
        failed = all(one.outcome not in (Outcome.OK, Outcome.HANDED_OVER) for one in results)
        run.failures = run.failures + 1 if failed else 0
        return results

    async def _stopped(self, run: LoopRun, answer: ModelAnswer, results: list[CallResult]) -> ReactLoopResult | None:
        """Stop where a call waits for the person, or where a waiting turn has taken all."""
        outcomes = {one.outcome for one in results}
        if Outcome.WAITING in outcomes:
            return run.end(Ended.WAITING, "")
        await self._report(run, answer, results)
        return run.end(Ended.HANDED_OVER, "") if outcomes == {Outcome.HANDED_OVER} else None

    async def _report(self, run: LoopRun, answer: ModelAnswer, results: Sequence[CallResult]) -> None:
        """Tell the hooks that a step is over, unless it was all in the journal."""
        if not run.hooks.hears("step_finished"):
            return
        where = run.task.where.at(run.step - 1)
        if StepKey(where.step, len(results), where.agent_path) not in run.recorded:
            took = int((time.monotonic() - run.step_began) * 1000)
            await run.hooks.step_finished(where, StepReport(answer, tuple(results), answer.usage, run.usage, took))

    async def _interrupted(self, run: LoopRun) -> ReactLoopResult | None:
        """Heed the person's wish to stop, and what they wrote meanwhile if they prefer that."""
        if (stopped := await run.steering.stopped()) is not None:
            return run.end(Ended.INTERRUPTED, replies.stopped(stopped))
        return run.end(Ended.SUPERSEDED, "") if await run.steering.superseded() else None

    async def _judge_results(self, run: LoopRun) -> bool:
        """Hear the judges on the newest results; True when there was advice enough."""
        judged = await run.judging.of_results(run.step - 1, run.results)
        run.usage += judged.usage
        if judged.finding and not judged.ends:
            run.say(ChatMessage(Role.USER, judged.advice, internal=True), keep=False)
        return judged.ends

    async def _judge_answer(self, run: LoopRun, answer: ModelAnswer) -> bool:
        """Hear the judges on an answer; True when it is the person's."""
        judged = await run.judging.of_answer(run.step - 1, run.window, answer)
        run.usage += judged.usage
        if judged.finding and not judged.ends:
            run.say(answer.message(), ChatMessage(Role.USER, judged.advice, internal=True), keep=False)
            return False
        return True

    async def _summarise(self, run: LoopRun, ended: Ended) -> ReactLoopResult:
        """Ask for an answer without tools; there is no further turn after it."""
        run.say(ChatMessage(Role.USER, replies.SUMMARISE, internal=True), keep=False)
        answer = await self._think(run, use_tools=False)
        await self._report(run, answer, ())
        return run.end(ended, told(answer) if answer.text.strip() else replies.NOTHING_SAID)

    def _over_budget(self, run: LoopRun) -> bool:
        budget = self._config.max_tokens_budget
        return budget is not None and run.usage.total >= budget

    async def _begin(self, task: LoopTask) -> LoopRun:
        recorded = {record.key: record for record in await task.journal.recorded()}
        journal = PatientJournal(task.journal, self._config.journal_patience)
        window = repair(task.messages)
        hooks = self._hooks.plus(task.hooks)
        if not recorded:
            await hooks.pre_call(task.where, window)
        tools = Toolbox(task.tools, task.state.groups)
        run = LoopRun(
            task=task,
            hooks=hooks,
            tools=tools,
            runner=ToolRunner(
                tools=tools,
                journal=journal,
                recorded=recorded,
                make_context=task.make_context,
                where=task.where,
                config=self._config,
                context=self._context,
                hooks=hooks,
                consents=task.consents,
            ),
            steering=Steering(task.control, journal, recorded, task.inbound, task.where.agent_path, task.while_running),
            judging=Judging(hooks.of(Judge), journal, recorded, task.where, self._config.max_advice, task.budget),
            recorded=recorded,
            journal=journal,
            step=task.go_on_at or 0,
            usage=_used_before(task, recorded),
            state=task.state,
            window=window,
            window_tokens=estimate_tokens(window),
        )
        if task.go_on_at is not None and not run.replaying:
            run.say(ChatMessage(Role.USER, replies.GO_ON, internal=True), keep=False)
        return run


def _used_before(task: LoopTask, recorded: dict[StepKey, StepRecord]) -> TokenUsage:
    """Add up what a turn had used before it waited."""
    before = [one for key, one in recorded.items() if key.agent_path == task.where.agent_path]
    return sum((one.usage for one in before if one.key.step < (task.go_on_at or 0)), TokenUsage())


def _call_record(run: LoopRun, result: CallResult, key: StepKey, usage: TokenUsage) -> ToolCallRecord:
    tool = run.task.tools.get(result.call.name)
    return ToolCallRecord(
        name=result.call.name,
        args_summary=result.arguments_summary(),
        duration_ms=result.duration_ms,
        success=result.outcome in (Outcome.OK, Outcome.HANDED_OVER),
        result_status=tool.status_after(key, result.outcome) if tool else None,
        result_chars=result.chars,
        token_attribution=usage,
    )
