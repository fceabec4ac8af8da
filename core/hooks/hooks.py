"""The one way to extend the loop: hooks, called by priority, the lowest first.

A hook that fails is logged and passed over. A rule is the hook that decides whether a call may run: one that
fails denies it.
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
    """Where in which turn a hook is called."""

    turn_id: str
    tenant_id: str
    channel: str
    step: int = 0
    agent_path: str = ""

    def at(self, step: int) -> "HookContext":
        """Return the same place at another step."""
        if step == self.step:
            return self
        return HookContext(self.turn_id, self.tenant_id, self.channel, step, self.agent_path)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call with its parsed arguments, about to run."""

    id: str
    name: str
    arguments: JsonObject


class Decision(StrEnum):
    """What a rule says of a call."""

    ALLOW = "allow"
    DENY = "deny"
    APPROVE = "approve"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's word on one call; the model reads `reason` when the call does not run.

    `risk="high"` with `APPROVE` asks for the stricter kind of consent.
    """

    decision: Decision = Decision.ALLOW
    reason: str = ""
    risk: Risk = ""


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step that is over: what the model said, what its calls came to, and the tokens of step and turn."""

    answer: ModelAnswer
    results: tuple[CallResult, ...]
    usage: TokenUsage
    so_far: TokenUsage
    duration_ms: int


ALLOWED = Verdict()


class Hook:
    """Override what you need. Those that give something back may change it; the others only see.

    In order: pre_call, then for each step prepare_step, pre_reasoning, reasoning_chunk …, post_reasoning, for each
    call pre_acting, acting_chunk …, post_acting, call_finished, then step_finished, and post_call at the end.
    What a take-over replays from the journal calls none of them again.
    """

    priority = 100

    async def pre_call(self, context: HookContext, messages: Messages) -> None:
        """See a turn begin."""

    async def prepare_step(self, context: HookContext, messages: Messages) -> Messages:
        """Change what the model sees from this step on; history stays as it is."""
        return messages

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        """Change what the model is about to be sent, this once; history stays as it is."""
        return messages

    async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
        """See the answer being written. The model is read no faster than this returns."""

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        """Change a model's answer before it is journalled and acted on."""
        return answer

    async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
        """Change the arguments of a call before it is checked and runs; its id and name stay."""
        return call

    async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
        """See what a running tool says of its progress."""

    async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
        """Change what the model is told of a call that ran."""
        return result

    async def call_finished(self, context: HookContext, result: CallResult) -> None:
        """See what became of a call, also of one that was not allowed to run."""

    async def step_finished(self, context: HookContext, report: StepReport) -> None:
        """See a step end."""

    async def state_changed(self, context: HookContext, state: str) -> None:
        """See the turn, or an agent in it, come to another state."""

    async def post_call(self, context: HookContext, reply: str) -> str:
        """Change what the person is told."""
        return reply

    async def on_error(self, context: HookContext, error: Exception) -> None:
        """See an error of the model or of a tool."""


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
        """Return these hooks and some more, each in its place."""
        return Hooks([*self._hooks, *hooks]) if hooks else self

    def of[Kind: Hook](self, kind: type[Kind]) -> list[Kind]:
        """List the hooks of one kind, in order."""
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
        """Ask every rule: deny goes before approve, approve before allow. A rule that fails denies."""
        if not self._rules:
            return ALLOWED
        denied = Verdict(Decision.DENY, "A rule that guards this tool could not be checked.")
        found = Verdict()
        for rule in self._rules:
            verdict = await _isolated(rule, rule.evaluate(context, _copy(call)), denied)
            if verdict.decision is Decision.DENY:
                return verdict
            if verdict.decision is Decision.APPROVE and found.decision is Decision.ALLOW:
                found = verdict
        return found


def _copy(call: PlannedCall) -> PlannedCall:
    """Copy a call so that observers cannot mutate it."""
    return replace(call, arguments=copy.deepcopy(call.arguments))


def _copied(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_copy(one) if isinstance(one, PlannedCall) else one for one in given)


async def _isolated[T](hook: Hook, call: Awaitable[T], otherwise: T) -> T:
    moment = getattr(call, "__name__", "")
    try:
        given = await call
    except Exception as error:  # an extension may raise anything; the turn goes on without it
        _log.warning("hook_failed", hook=type(hook).__qualname__, moment=moment, error=type(error).__name__)
        return otherwise
    if otherwise is not None and not isinstance(given, type(otherwise)):
        _log.warning("hook_failed", hook=type(hook).__qualname__, moment=moment, error=f"gave {type(given).__name__}")
        return otherwise
    return given
