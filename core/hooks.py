"""The one way to extend the loop: hooks, called by priority, the lowest first.

A hook that fails is logged and passed over. A rule is the hook that decides whether a call may run: one that
fails denies it.
"""

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from enum import StrEnum

import structlog

from core.json_types import JsonObject
from core.model_types import ChatMessage, ModelAnswer

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


class Hook:
    """Override what you need. Those that give something back may change it; the others only see."""

    priority = 100

    async def pre_call(self, context: HookContext, messages: Messages) -> None:
        """See a turn begin."""

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        """Change what the model is about to be sent; history stays as it is."""
        return messages

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        """Change a model's answer before it is journalled and acted on."""
        return answer

    async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
        """Change the arguments of a call before it is checked and runs."""
        return call

    async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
        """Change what the model is told of a call."""
        return result

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
    """All hooks of an orchestrator, called in order."""

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self._hooks = sorted(hooks, key=lambda hook: hook.priority)
        self._rules = [hook for hook in self._hooks if isinstance(hook, Rule)]

    async def pre_call(self, context: HookContext, messages: Messages) -> None:
        """Tell all that a turn begins."""
        for hook in self._hooks:
            await _isolated(hook, hook.pre_call(context, messages), None)

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        """Pass the messages through all."""
        for hook in self._hooks:
            messages = await _isolated(hook, hook.pre_reasoning(context, messages), messages)
        return messages

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        """Pass the answer through all."""
        for hook in self._hooks:
            answer = await _isolated(hook, hook.post_reasoning(context, answer), answer)
        return answer

    async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
        """Pass the call through all."""
        for hook in self._hooks:
            call = await _isolated(hook, hook.pre_acting(context, call), call)
        return call

    async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
        """Pass the result through all."""
        for hook in self._hooks:
            result = await _isolated(hook, hook.post_acting(context, call, result), result)
        return result

    async def post_call(self, context: HookContext, reply: str) -> str:
        """Pass the reply through all."""
        for hook in self._hooks:
            reply = await _isolated(hook, hook.post_call(context, reply), reply)
        return reply

    async def on_error(self, context: HookContext, error: Exception) -> None:
        """Tell all of an error."""
        for hook in self._hooks:
            await _isolated(hook, hook.on_error(context, error), None)

    def of[Kind: Hook](self, kind: type[Kind]) -> list[Kind]:
        """List the hooks of one kind, in order."""
        return [hook for hook in self._hooks if isinstance(hook, kind)]

    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        """Ask every rule: deny goes before approve, approve before allow. A rule that fails denies."""
        denied = Verdict(Decision.DENY, "A rule that guards this tool could not be checked.")
        found = Verdict()
        for rule in self._rules:
            verdict = await _isolated(rule, rule.evaluate(context, call), denied)
            if verdict.decision is Decision.DENY:
                return verdict
            if verdict.decision is Decision.APPROVE and found.decision is Decision.ALLOW:
                found = verdict
        return found


async def _isolated[T](hook: Hook, call: Awaitable[T], otherwise: T) -> T:
    try:
        return await call
    except Exception as error:  # an extension may raise anything; the turn goes on without it
        _log.warning(
            "hook_failed",
            hook=type(hook).__qualname__,
            moment=getattr(call, "__name__", ""),
            error=type(error).__name__,
        )
        return otherwise
