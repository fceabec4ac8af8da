"""Hooks, the only way to extend the loop: called by priority, the lowest first.

A hook that fails is logged and skipped. A rule is a hook that decides whether a call may run: a rule that fails
denies the call.
"""

import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Concatenate

import structlog

from core.json_types import JsonObject
from core.llm.types import ChatMessage, ModelAnswer, TextSoFar, TokenUsage
from core.tools.results import CallResult
from core.tools.tool import Risk

type Messages = tuple[ChatMessage, ...]

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class HookContext:
    """The turn and the step at which a hook is called; `channel` is None if the turn belongs to no conversation."""

    turn_id: str
    tenant_id: str
    channel: str | None
    step: int = 0
    agent_path: str = ""

    def at(self, step: int) -> "HookContext":
        if step == self.step:
            return self
        return HookContext(self.turn_id, self.tenant_id, self.channel, step, self.agent_path)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that is about to run, with its parsed arguments."""

    id: str
    name: str
    arguments: JsonObject


class Decision(StrEnum):
    """A rule's decision about a call."""

    ALLOW = "allow"
    DENY = "deny"
    APPROVE = "approve"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's verdict on a call; the model reads `reason` if the call does not run.

    `risk="high"` with `APPROVE` asks for the stricter kind of consent.
    """

    decision: Decision = Decision.ALLOW
    reason: str = ""
    risk: Risk = ""


@dataclass(frozen=True, slots=True)
class StepReport:
    """A finished step: the model's answer, the results of its calls, the tokens of the step and of the turn."""

    answer: ModelAnswer
    results: tuple[CallResult, ...]
    usage: TokenUsage
    so_far: TokenUsage
    duration_ms: int


ALLOWED = Verdict()


class Hook:
    """Override the moments you need. Methods that return a value may change it; the others only observe.

    In order: pre_call, then for each step prepare_step, pre_reasoning, reasoning_chunk …, post_reasoning, for each
    call pre_acting, acting_chunk …, post_acting, call_finished, then step_finished, and post_call at the end.
    A step that a take-over replays from the journal calls none of them again.
    """

    priority = 100

    async def pre_call(self, context: HookContext, messages: Messages) -> None:
        """Observe the beginning of a turn."""

    async def prepare_step(self, context: HookContext, messages: Messages) -> Messages:
        """Change the messages to the model from this step on; history stays as it is."""
        return messages

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        """Change the messages to the model in this step only; history stays as it is."""
        return messages

    async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
        """Observe the answer being written. The model is read no faster than this returns."""

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        """Change a model's answer before it is journalled and acted on."""
        return answer

    async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
        """Change the arguments of a call before it is checked and runs; its id and name stay."""
        return call

    async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
        """Observe the progress that a running tool reports."""

    async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
        """Change the result that the model reads of a call that ran."""
        return result

    async def call_finished(self, context: HookContext, result: CallResult) -> None:
        """Observe the result of a call, even if it was not allowed to run."""

    async def step_finished(self, context: HookContext, report: StepReport) -> None:
        """Observe the end of a step."""

    async def state_changed(self, context: HookContext, state: StrEnum) -> None:
        """Observe a new state: a `TurnState` of the turn, or an `AgentStatus` of an agent in it."""

    async def post_call(self, context: HookContext, reply: str) -> str:
        """Change the reply to the person."""
        return reply

    async def on_error(self, context: HookContext, error: Exception) -> None:
        """Observe an error of the model or of a tool."""


class Rule(Hook):
    """A hook that decides, for each call, whether it may run."""

    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        """Allow the call, deny it with a reason for the model, or ask for the person's approval."""
        return Verdict()


_MOMENTS = {name: method for name, method in vars(Hook).items() if inspect.iscoroutinefunction(method)}


class Hooks:
    """All hooks of a turn, called in order."""

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self._hooks = sorted(hooks, key=lambda hook: hook.priority)
        self._rules = self.of(Rule)
        # A moment that no hook overrides costs nothing.
        self._overriding = {
            moment: [hook for hook in self._hooks if getattr(type(hook), moment) is not method]
            for moment, method in _MOMENTS.items()
        }

    def plus(self, hooks: Sequence[Hook]) -> "Hooks":
        """Return these hooks and some more, in order of priority."""
        return Hooks([*self._hooks, *hooks]) if hooks else self

    def of[Kind: Hook](self, kind: type[Kind]) -> list[Kind]:
        return [hook for hook in self._hooks if isinstance(hook, kind)]

    def hears(self, moment: Callable[..., object]) -> bool:
        """Return whether any hook overrides a moment, given as the method of `Hook`."""
        return bool(self._overriding[moment.__name__])

    async def tell[**P](
        self, moment: Callable[Concatenate[Hook, P], Awaitable[None]], *given: P.args, **named: P.kwargs
    ) -> None:
        """Call a moment that returns nothing on every hook: `hooks.tell(Hook.pre_call, where, messages)`."""
        for hook in self._overriding[moment.__name__]:
            await _isolated(hook, getattr(hook, moment.__name__)(*_copied(given), **named), None)

    async def pipe[*Before, T](
        self, moment: Callable[[Any, *Before, T], Awaitable[T]], value: T, *before: *Before
    ) -> T:
        """Pass a value through a moment of every hook; `before` are the arguments before the value."""
        for hook in self._overriding[moment.__name__]:
            value = await _isolated(hook, getattr(hook, moment.__name__)(*_copied(before), value), value)
        return value

    async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
        """Pass a call through all hooks, which may change its arguments only."""
        for hook in self._overriding["pre_acting"]:
            changed = await _isolated(hook, hook.pre_acting(context, _copy(call)), call)
            call = replace(call, arguments=changed.arguments)
        return call

    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        """Return the verdict of all rules: deny precedes approve, approve precedes allow. A rule that fails denies."""
        if not self._rules:
            return ALLOWED
        denied = Verdict(Decision.DENY, "A rule that guards this tool could not be checked.")
        strictest = ALLOWED
        for rule in self._rules:
            verdict = await _isolated(rule, rule.evaluate(context, _copy(call)), denied)
            if verdict.decision is Decision.DENY:
                return verdict
            if verdict.decision is Decision.APPROVE and strictest.decision is Decision.ALLOW:
                strictest = verdict
        return strictest


def _copy(call: PlannedCall) -> PlannedCall:
    """Copy a call so that observers cannot mutate it."""
    return replace(call, arguments=copy.deepcopy(call.arguments))


def _copied(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_copy(value) if isinstance(value, PlannedCall) else value for value in given)


async def _isolated[T](hook: Hook, call: Awaitable[T], otherwise: T) -> T:
    moment = getattr(call, "__name__", "")
    try:
        result = await call
    except Exception as error:  # an extension may raise anything; the turn goes on without it
        _log.warning("hook_failed", hook=type(hook).__qualname__, moment=moment, error=type(error).__name__)
        return otherwise
    if otherwise is not None and not isinstance(result, type(otherwise)):
        _log.warning("hook_failed", hook=type(hook).__qualname__, moment=moment, error=f"gave {type(result).__name__}")
        return otherwise
    return result
