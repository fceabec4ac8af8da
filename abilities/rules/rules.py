"""Rules as data: which calls may run, which may not, and which need the person's approval.

Deny precedes approve, and approve precedes allow; among equals the first decides. A rule that cannot be evaluated
raises, which denies the call (`core.hooks.hooks.Hooks.evaluate`).
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase

import regex

from core.hooks.hooks import Decision, HookContext, PlannedCall, Rule, Verdict
from core.json_types import Json, canonical_hash
from core.tools.context import TenantStorage
from core.tools.storage import Storage
from core.tools.tool import Risk

SEEN = "_rules_seen"
"""The collection of a tenant's storage with the values that calls have run with."""
_SECONDS = 1.0
"""Time limit of a regular expression on an argument."""
_RANK = (Decision.DENY, Decision.APPROVE, Decision.ALLOW)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on an argument. All tests that are set must hold, for the same value.

    `argument` is a path: `to`, `items.*.price`, or `*` for every value at any depth. `above` and `below` find
    numbers in text too (`$1,200`). `first_time`: no call that the rule covers has run with the value for this
    person.
    """

    argument: str
    equals: tuple[Json, ...] = ()
    matches: str = ""
    """A regular expression that matches anywhere in the value, in any case."""
    above: Decimal | None = None
    below: Decimal | None = None
    first_time: bool = False


@dataclass(frozen=True, slots=True)
class ToolRule:
    """A rule: it covers the calls of `tools` (names with `*`) on `channels` (empty: all) for which `when` holds."""

    name: str
    decision: Decision
    tools: tuple[str, ...] = ("*",)
    channels: tuple[str, ...] = ()
    when: tuple[Condition, ...] = ()
    reason: str = ""
    risk: Risk = ""

    def covers(self, context: HookContext, call: PlannedCall) -> bool:
        """Return whether the rule is about this tool on this channel, with any arguments."""
        named = any(fnmatchcase(call.name.lower(), pattern.lower()) for pattern in self.tools)
        return named and (not self.channels or context.channel in self.channels)


class RuleBook(Rule):
    """All configured rules as a hook. `default` applies to calls that no rule covers."""

    priority = 0

    def __init__(
        self, rules: Iterable[ToolRule], default: Decision = Decision.ALLOW, storage: Storage | None = None
    ) -> None:
        self.rules = tuple(rules)
        self._default = default
        self._storage = storage

    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        rules = [rule for rule in self.rules if rule.covers(context, call) and await self._holds(rule, context, call)]
        if not rules:
            return Verdict(self._default, "No rule allows it." if self._default is Decision.DENY else "")
        first = min(rules, key=lambda rule: _RANK.index(rule.decision))
        risks = {rule.risk for rule in rules if rule.decision is first.decision}
        return Verdict(first.decision, first.reason or f"The rule {first.name!r} says so.", max(risks))

    async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
        """Store the values of a call for `first_time`: the call ran, so it was allowed or approved."""
        for rule, condition in self._remembering(context, call):
            for value in _values(call.arguments, condition.argument.split(".")):
                await self._seen_by(context).put(SEEN, _seen_key(rule, condition, value), True)
        return result

    def _remembering(self, context: HookContext, call: PlannedCall) -> Iterator[tuple[ToolRule, Condition]]:
        for rule in self.rules:
            if rule.covers(context, call):
                yield from ((rule, condition) for condition in rule.when if condition.first_time)

    async def _holds(self, rule: ToolRule, context: HookContext, call: PlannedCall) -> bool:
        for condition in rule.when:
            if condition.matches:  # a badly written expression may run for hours: in a thread, with a time limit
                values = await asyncio.to_thread(_fitting, condition, call)
            else:
                values = _fitting(condition, call)
            if condition.first_time:
                values = [value for value in values if not await self._seen(context, _seen_key(rule, condition, value))]
            if not values:
                return False
        return True

    async def _seen(self, context: HookContext, key: str) -> bool:
        return await self._seen_by(context).get(SEEN, key) is not None

    def _seen_by(self, context: HookContext) -> TenantStorage:
        if self._storage is None:
            raise LookupError("a rule asks for the first time, and nothing is kept here")
        return self._storage.for_tenant(context.tenant_id)


def _fitting(condition: Condition, call: PlannedCall) -> list[Json]:
    tests = _tests(condition)
    path = condition.argument.split(".")
    return [value for value in _values(call.arguments, path) if all(test(value) for test in tests)]


def _tests(condition: Condition) -> Sequence[Callable[[Json], bool]]:
    tests: list[Callable[[Json], bool]] = []
    if condition.equals:
        tests.append(lambda value: any(_plain(value) == _plain(wanted) for wanted in condition.equals))
    if condition.matches:
        tests.append(lambda value: _matches(condition.matches, str(value)))
    if (above := condition.above) is not None:
        tests.append(lambda value: _number(value) > above)
    if (below := condition.below) is not None:
        tests.append(lambda value: _number(value) < below)
    return tests


def _matches(pattern: str, text: str) -> bool:
    """Return whether a text matches; raise `ValueError` if that takes too long."""
    try:
        return regex.search(pattern, text, regex.IGNORECASE, concurrent=True, timeout=_SECONDS) is not None
    except TimeoutError as error:
        raise ValueError("a rule's expression takes too long on an argument") from error


def _values(value: Json, path: Sequence[str]) -> Iterator[Json]:
    """Yield the values at a path; a list counts as its items, and `*` at the end goes to any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, path[1:] if path and path[0] == "*" and len(path) > 1 else path)
    elif not path or (path == ["*"] and not isinstance(value, dict)):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            if path == ["*"]:
                yield from _values(item, path)
            elif path[0] in (name, "*"):
                yield from _values(item, path[1:])


def _number(value: Json) -> Decimal:
    """Return the number in a value, even within text; raise `ValueError` for none, or several."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Decimal(str(value))
    numbers = re.findall(r"[-+]?\d[\d,' ]*(?:\.\d+)?(?:[eE][-+]?\d+)?", str(value))
    if len(numbers) != 1:
        raise ValueError("an argument that a rule compares is not a number")
    try:
        return Decimal(re.sub(r"[,' ]", "", numbers[0]))
    except InvalidOperation as error:
        raise ValueError("an argument that a rule compares is not a number") from error


def _plain(value: Json) -> Json:
    return value.strip().casefold() if isinstance(value, str) else value


def _seen_key(rule: ToolRule, condition: Condition, value: Json) -> str:
    return canonical_hash([rule.name, condition.argument, _plain(value)])
