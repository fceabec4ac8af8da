"""Judges: hooks that rate the course of a turn, advise the model first, and end the turn after enough advice.

Judgements are journalled, so that a take-over repeats the same advice and asks no model twice.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from core.budgets.types import OutOfMoney, TurnBudget
from core.errors import ModelError
from core.hooks.hooks import Hook, HookContext, Messages
from core.journal.types import Journal, Outcome, StepKey, StepKind, StepRecord, StepState
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelClient, ModelRequest, TokenUsage
from core.tools.results import CallResult
from core.tools.tool import AnyTool

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Act:
    """A finished call. `arguments` are canonical JSON; `ok` is true if it succeeded.

    `acted`: it changed something, or may have: a tool with an effect, or an agent, whose end is good or unknown.
    """

    name: str
    arguments: str
    result: str
    ok: bool = True
    acted: bool = False


type Trail = tuple[tuple[Act, ...], ...]
"""The calls of a turn so far, by model answer. Of a turn that waited, those before it come first, without arguments."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's rating. Without a `finding` all is well; `usage` are the tokens of the judge's own model call.

    `finding` is a word or two for the journal, `advice` the text for the model. Without advice, and where it may not be
    asked again, the person reads the answer with `mark` below it.
    """

    finding: str = ""
    advice: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    ends: bool = False
    """True after enough advice; set by the loop, not by judges."""
    mark: str = ""

    @classmethod
    def from_record(cls, record: StepRecord) -> "Judgement":
        """Return a journalled judgement."""
        told = record.result
        return cls(record.name, str(told.get("advice", "")), record.usage, mark=str(told.get("mark", "")))


ALL_WELL = Judgement()


class Judge(Hook):
    """A hook that rates a turn. It must not store anything of a turn."""

    async def rate_results(self, context: HookContext, trail: Trail) -> Judgement:
        """Rate the results of the trail's last step in the light of the earlier results."""
        return ALL_WELL

    async def rate_answer(
        self, context: HookContext, messages: Messages, trail: Trail, answer: ModelAnswer
    ) -> Judgement:
        """Rate an answer before the person reads it; `messages` are the conversation that it answers."""
        return ALL_WELL


class AskingJudge(Judge):
    """A judge that asks a model: `client`, within the turn's budget. Without an answer there is no judgement."""

    client: ModelClient

    def question(
        self, context: HookContext, messages: Messages, trail: Trail, answer: ModelAnswer
    ) -> ModelRequest | None:
        """Return the request that rates an answer; None to ask nothing."""
        return None

    def judgement(self, rating: ModelAnswer) -> Judgement:
        """Parse the model's rating, with its usage."""
        return ALL_WELL


type _Ask = Callable[[Judge, HookContext], Awaitable[Judgement]]


class Judging:
    """Ask the judges of a turn and journal their findings. An instance for each turn."""

    def __init__(
        self,
        judges: Sequence[Judge],
        journal: Journal,
        recorded: Mapping[StepKey, StepRecord],
        where: HookContext,
        max_advice: int,
        budget: TurnBudget,
        trail: Trail = (),
    ) -> None:
        self._judges = judges
        self._journal = journal
        self._recorded = recorded
        self._where = where
        self._max_advice = max_advice
        self._budget = budget
        self._advised = 0
        self._trail = trail

    async def of_results(self, step: int, acts: Sequence[Act]) -> Judgement:
        self._trail = (*self._trail, tuple(acts))
        key = StepKey(step, len(acts) + 1, self._where.agent_path)
        return await self._judge(key, lambda judge, where: judge.rate_results(where, self._trail))

    async def of_answer(self, step: int, messages: Messages, answer: ModelAnswer, *, last: bool = False) -> Judgement:
        """Ask about an answer; no model is asked about the `last`, which no advice can change."""
        key = StepKey(step, 1, self._where.agent_path)

        async def ask(judge: Judge, where: HookContext) -> Judgement:
            if isinstance(judge, AskingJudge):
                if last:
                    return ALL_WELL
                return await self._ask_model(judge, key, judge.question(where, messages, self._trail, answer))
            return await judge.rate_answer(where, messages, self._trail, answer)

        return await self._judge(key, ask)

    async def _judge(self, key: StepKey, ask: _Ask) -> Judgement:
        if known := self._recorded.get(key):
            judged = Judgement.from_record(known)
        elif StepKey(key.step + 1, 0, key.agent_path) in self._recorded:
            return ALL_WELL
        else:
            judged = await self._ask(self._where.at(key.step), ask)
            if judged is not ALL_WELL:
                await self._journal.write(_record(key, judged))
        if judged is ALL_WELL:
            return judged
        await self._budget.settle(key, judged.usage)
        self._advised += bool(judged.finding)
        return replace(judged, ends=bool(judged.finding) and self._advised > self._max_advice)

    async def _ask_model(self, judge: AskingJudge, key: StepKey, request: ModelRequest | None) -> Judgement:
        if request is None:
            return ALL_WELL
        try:
            await self._budget.reserve(key, request)
            return judge.judgement(await judge.client.answer(request))
        except OutOfMoney:
            return ALL_WELL  # there is an answer, and it is the person's
        except ModelError:
            await self._budget.release(key)
            return ALL_WELL

    async def _ask(self, where: HookContext, ask: _Ask) -> Judgement:
        usage = TokenUsage()
        for judge in self._judges:
            try:
                judged = await ask(judge, where)
            except Exception as error:  # an extension may raise anything; the turn goes on without its word
                _log.warning("judge_failed", judge=type(judge).__qualname__, error=type(error).__name__)
                continue
            if judged is not ALL_WELL:
                usage += judged.usage
            if judged.finding:
                return replace(judged, usage=usage)
        return Judgement(usage=usage) if usage.total else ALL_WELL


def act_of(result: CallResult, tool: AnyTool | None) -> Act:
    """Return the result of a tool's call as judges see it."""
    name, arguments, outcome = result.call.name, result.call.canonical_arguments(), result.outcome
    return Act(name, arguments, result.text, outcome is Outcome.OK, _acted(tool, outcome))


def act_recorded(record: StepRecord, tool: AnyTool | None) -> Act:
    """Return a call of an earlier run of the turn, whose arguments its journal does not have."""
    text, outcome = str(record.result.get("text", "")), record.outcome
    return Act(record.name, "", text, outcome is Outcome.OK, _acted(tool, outcome))


def _acted(tool: AnyTool | None, outcome: Outcome) -> bool:
    if outcome is Outcome.HANDED_OVER:
        return True  # a waiting turn goes on with it
    return tool is not None and tool.acts and outcome in (Outcome.OK, Outcome.UNKNOWN)


def _record(key: StepKey, judged: Judgement) -> StepRecord:
    told: JsonObject = {"advice": judged.advice}
    if judged.mark:
        told["mark"] = judged.mark
    return StepRecord(key, StepKind.JUDGE, judged.finding, StepState.DONE, result=told, usage=judged.usage)
