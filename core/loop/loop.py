"""The ReAct loop: think, act, observe, until there is an answer. It knows no provider, no SQL and no channel.

Each model answer and each result is journalled before the next step, and journalled steps are replayed: the same code
runs a turn for the first time and finishes a turn that another worker began.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from core import replies
from core.budgets.types import OutOfMoney
from core.errors import ModelError
from core.hooks.hooks import Hook, StepReport
from core.journal.types import Outcome, StepKey
from core.language.catalogue import gettext
from core.llm.types import ChatMessage, ModelAnswer, Role
from core.loop.budget_extension import MoneyAsked
from core.loop.control import CutOff
from core.loop.reasoning import ModelCaller, Reasoning
from core.loop.result import Ended, ReactLoopResult
from core.loop.run import LoopRun, answer_text, begin_run
from core.loop.scope import LoopTask
from core.tools.results import CallResult


class LoopFailed(Exception):
    """The model could not be reached. `partial` holds the steps that did happen."""

    def __init__(self, error: ModelError, partial: ReactLoopResult) -> None:
        super().__init__(str(error))
        self.error = error
        self.partial = partial


class ReactLoop:
    """Think, act, observe. An instance serves many turns at once."""

    def __init__(self, caller: ModelCaller) -> None:
        self._config = caller.config
        self._reasoning = Reasoning(caller)

    async def run(self, task: LoopTask) -> ReactLoopResult:
        """Run a turn to its answer, resuming where its journal ends.

        Raises `LoopFailed` if no model answers, and `LeaseLost` if another worker has the turn.
        """
        run = await begin_run(task)
        try:
            with task.scope.span():
                return await self._loop(run)
        except CutOff as cut:
            if cut.superseded:
                return run.end(Ended.SUPERSEDED, "")
            return run.end(Ended.INTERRUPTED, replies.stopped(cut.words))
        except OutOfMoney as spent:
            return run.end(Ended.BUDGET, str(spent))
        except MoneyAsked:
            return replace(run.end(Ended.WAITING, ""), turns=run.step + 1)
        except ModelError as error:
            await run.scope.journal.flush()  # it may be away for hours
            await run.scope.hooks.tell(Hook.on_error, task.scope.where, error)
            raise LoopFailed(error, run.end(Ended.ERRORS, "")) from error

    async def _loop(self, run: LoopRun) -> ReactLoopResult:
        while run.step < self._config.max_turns:
            if not run.replaying and (interrupted := await run.interrupted()):
                return interrupted
            if self._over_budget(run):
                return run.end(Ended.BUDGET, gettext(replies.OUT_OF_TOKENS))
            if run.step != run.task.go_on_at:
                run.hear(await run.steering.absorb(run.step, replaying=run.replaying))
            answer = await self._reasoning.think(run)
            results = await self._act(run, answer)
            if stopped := await self._stopped(run, answer, results):
                return stopped
            if results:
                if run.failures >= self._config.max_consecutive_errors:
                    return await self._summarise(run, Ended.ERRORS)
                if await run.judge_results():
                    return await self._summarise(run, Ended.STUCK)
            elif answer.refused or answer.text.strip():
                if answered := await self._answered(run, answer):
                    return answered
            elif silent := self._said_nothing(run):
                return silent
        return await self._summarise(run, Ended.MAX_TURNS)

    async def _answered(self, run: LoopRun, answer: ModelAnswer) -> ReactLoopResult | None:
        """Return the end of a run with an answer; None if the model is to go on."""
        if answer.refused:
            return run.end(Ended.REFUSED, answer_text(answer))
        text = await run.judge_answer(answer)
        return None if text is None else run.end(Ended.ANSWERED, text)

    def _said_nothing(self, run: LoopRun) -> ReactLoopResult | None:
        """Return the end of a run whose model answers nothing; None if it is asked again."""
        if run.all_cancelled:
            run.say(ChatMessage(Role.ASSISTANT, gettext("Cancelled.")))  # history has the card's words
            return run.end(Ended.CANCELLED, "")
        if run.empties > self._config.max_empty_answers:
            return run.end(Ended.EMPTY, gettext(replies.NOTHING_SAID))
        run.say(ChatMessage(Role.USER, replies.SAY_SOMETHING, internal=True), keep=False)
        return None

    async def _act(self, run: LoopRun, answer: ModelAnswer) -> list[CallResult]:
        if not answer.tool_calls or answer.refused:
            return []
        step = run.step - 1
        results = await run.runner.run_all(step, answer.tool_calls, cut=answer.cut)
        run.add_results(results, step, answer.usage)
        outcomes = {result.outcome for result in results}
        if Outcome.WAITING in outcomes:
            return results  # history may not hold unanswered calls
        run.say(answer.message(), *(_message(run, result) for result in results))
        run.told += [result.told for result in results if result.told]
        run.state = run.state.having_seen(entity for result in results for entity in result.entities)
        for result in results:
            run.tools.apply(result)
        succeeded = bool(outcomes & {Outcome.OK, Outcome.HANDED_OVER})
        run.failures = 0 if succeeded else run.failures + 1
        return results

    async def _stopped(self, run: LoopRun, answer: ModelAnswer, results: list[CallResult]) -> ReactLoopResult | None:
        """Stop if a call waits for the person, if a waiting turn has every call, or at a result to be said."""
        outcomes = {result.outcome for result in results}
        if Outcome.WAITING in outcomes:
            return run.end(Ended.WAITING, "")
        await self._report(run, answer, results)
        if outcomes == {Outcome.HANDED_OVER}:
            return run.end(Ended.HANDED_OVER, "")
        if run.task.says_result and results and run.step == 1:
            return run.end(Ended.ANSWERED, "\n".join(result.in_words for result in results))
        return None

    async def _report(self, run: LoopRun, answer: ModelAnswer, results: Sequence[CallResult]) -> None:
        """Tell the hooks that a step is over, unless the whole step was replayed."""
        hooks, where = run.scope.hooks, run.scope.where.at(run.step - 1)
        if not hooks.hears(Hook.step_finished):
            return
        if StepKey(where.step, len(results), where.agent_path) not in run.scope.recorded:
            took = int((time.monotonic() - run.step_began) * 1000)
            report = StepReport(answer, tuple(results), answer.usage, run.usage, took)
            await hooks.tell(Hook.step_finished, where, report)

    async def _summarise(self, run: LoopRun, ended: Ended) -> ReactLoopResult:
        run.say(ChatMessage(Role.USER, replies.SUMMARISE, internal=True), keep=False)
        answer = await self._reasoning.think(run, use_tools=False)
        await self._report(run, answer, ())
        if answer.refused:
            return run.end(ended, answer_text(answer))
        text = await run.judge_answer(answer, last=True) if answer.text.strip() else None
        return run.end(ended, text or gettext(replies.NOTHING_SAID))

    def _over_budget(self, run: LoopRun) -> bool:
        budget = self._config.max_tokens_budget
        return budget is not None and run.usage.total >= budget


def _message(run: LoopRun, result: CallResult) -> ChatMessage:
    tool = run.task.tools.get(result.call.name)
    return result.message(outside=tool is not None and tool.outside)
