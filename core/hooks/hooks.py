"""The one way to extend the loop: hooks, called by priority, the lowest first.

A hook that fails is logged and passed over. A rule is the hook that decides whether a call may run: one that
fails denies it.
"""

import copy
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import structlog

from core.json_types import JsonObject
from core.llm.types import ChatMessage, ModelAnswer, TextSoFar, TokenUsage
from core.tools.results import CallResult

type Messages = tuple[ChatMessage, ...]

_MOMENTS = (
    *("pre_call", "prepare_step", "pre_reasoning", "reasoning_chunk", "post_reasoning"),
    *(
        "pre_acting",
        "acting_chunk",
        "post_acting",
        "call_finished",
        "step_finished",
        "state_changed",
        "post_call",
        "on_error",
    ),
)

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
    risk: str = ""


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


class Hooks:
    """All hooks of a turn, called in order."""

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self._hooks = sorted(hooks, key=lambda hook: hook.priority)
        self._rules = self.of(Rule)
        self._at = {
            moment: [hook for hook in self._hooks if getattr(type(hook), moment) is not getattr(Hook, moment)]
            for moment in _MOMENTS
        }

    def plus(self, hooks: Sequence[Hook]) -> "Hooks":
        """Return these hooks and some more, each in its place."""
        return Hooks([*self._hooks, *hooks]) if hooks else self

    def of[Kind: Hook](self, kind: type[Kind]) -> list[Kind]:
        """List the hooks of one kind, in order."""
        return [hook for hook in self._hooks if isinstance(hook, kind)]

    async def pre_call(self, context: HookContext, messages: Messages) -> None:
        """Tell all that a turn begins."""
        for hook in self._at["pre_call"]:
            await _isolated(hook, hook.pre_call(context, messages), None)

    async def prepare_step(self, context: HookContext, messages: Messages) -> Messages:
        """Pass the messages through all."""
        for hook in self._at["prepare_step"]:
            messages = await _isolated(hook, hook.prepare_step(context, messages), messages)
        return messages

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        """Pass the messages through all."""
        for hook in self._at["pre_reasoning"]:
            messages = await _isolated(hook, hook.pre_reasoning(context, messages), messages)
        return messages

    async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
        """Tell all what was just written."""
        for hook in self._at["reasoning_chunk"]:
            await _isolated(hook, hook.reasoning_chunk(context, so_far), None)

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        """Pass the answer through all."""
        for hook in self._at["post_reasoning"]:
            answer = await _isolated(hook, hook.post_reasoning(context, answer), answer)
        return answer

    async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
        """Pass the call through all."""
        for hook in self._at["pre_acting"]:
            changed = await _isolated(hook, hook.pre_acting(context, _apart(call)), call)
            call = replace(call, arguments=changed.arguments)
        return call

    async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
        """Tell all of a tool's progress."""
        for hook in self._at["acting_chunk"]:
            await _isolated(hook, hook.acting_chunk(context, _apart(call), text), None)

    async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
        """Pass the result through all."""
        for hook in self._at["post_acting"]:
            result = await _isolated(hook, hook.post_acting(context, _apart(call), result), result)
        return result

    async def call_finished(self, context: HookContext, result: CallResult) -> None:
        """Tell all what became of a call."""
        for hook in self._at["call_finished"]:
            await _isolated(hook, hook.call_finished(context, result), None)

    async def step_finished(self, context: HookContext, report: StepReport) -> None:
        """Tell all that a step is over."""
        for hook in self._at["step_finished"]:
            await _isolated(hook, hook.step_finished(context, report), None)

    async def state_changed(self, context: HookContext, state: str) -> None:
        """Tell all of a new state."""
        for hook in self._at["state_changed"]:
            await _isolated(hook, hook.state_changed(context, state), None)

    async def post_call(self, context: HookContext, reply: str) -> str:
        """Pass the reply through all."""
        for hook in self._at["post_call"]:
            reply = await _isolated(hook, hook.post_call(context, reply), reply)
        return reply

    async def on_error(self, context: HookContext, error: Exception) -> None:
        """Tell all of an error."""
        for hook in self._at["on_error"]:
            await _isolated(hook, hook.on_error(context, error), None)

    def hears(self, moment: str) -> bool:
        """Return whether any hook has something to do at a moment, named as its method is."""
        return bool(self._at[moment])

    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        """Ask every rule: deny goes before approve, approve before allow. A rule that fails denies."""
        if not self._rules:
            return ALLOWED
        denied = Verdict(Decision.DENY, "A rule that guards this tool could not be checked.")
        found = Verdict()
        for rule in self._rules:
            verdict = await _isolated(rule, rule.evaluate(context, _apart(call)), denied)
            if verdict.decision is Decision.DENY:
                return verdict
            if verdict.decision is Decision.APPROVE and found.decision is Decision.ALLOW:
                found = verdict
        return found


def _apart(call: PlannedCall) -> PlannedCall:
    """Copy a call, so that whoever only sees it cannot change it."""
    return replace(call, arguments=copy.deepcopy(call.arguments))


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
