"""The comparison of a model's calls with those that a request needs.

The condition of an argument is one of: `has` (contains one of a|b, whatever the case), `is` (equals one of a|b),
`value` (calculates to this number), `day` (2027-03-02), `moment` (2027-03-02T09:00, in the person's time), `absent`.
`optional` arguments may be left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from abilities.moments.moments import read_day, read_moment
from agents.arithmetic import calculate
from core.errors import ToolRetry
from workbench.benchmarks.assistant.scenarios import NOTHING, Scenario, now


@dataclass(frozen=True, slots=True)
class Call:
    """A call by a model, with its parsed arguments."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether the first tool was right, and whether all needed calls were made with right arguments."""

    right_tool: bool
    right_arguments: bool


async def judge(scenario: Scenario, first: Sequence[Call], later: Sequence[Call] = ()) -> Judged:
    """Judge the calls of a model's first answer; if several calls are needed, `later` calls count too."""
    expected = scenario.expected
    if not first:
        return Judged(NOTHING in expected, NOTHING in expected)
    right_tool = first[0].name in expected
    calls = [*first, *later] if scenario.wants_all else first[:1]
    met = {
        call.name
        for call in calls
        if call.name in expected and await _met(call.arguments, expected[call.name], scenario.language)
    }
    return Judged(right_tool, right_tool and (met >= set(expected) - {NOTHING} if scenario.wants_all else bool(met)))


async def _met(arguments: dict[str, Any], wanted: dict[str, dict[str, Any]], language: str) -> bool:
    for name, rule in wanted.items():
        given = arguments.get(name)
        if rule.get("absent"):
            if given not in (None, "", []):
                return False
        elif given in (None, ""):
            if not rule.get("optional"):
                return False
        elif not await _fits(given, rule, language):
            return False
    return True


async def _fits(given: Any, rule: dict[str, Any], language: str) -> bool:
    text = str(given).casefold()
    if has := rule.get("has"):
        return any(word.casefold() in text for word in has.split("|"))
    if equal := rule.get("is"):
        return any(word.casefold() == " ".join(text.split()) for word in equal.split("|"))
    if value := rule.get("value"):
        return await _value(str(given)) == Decimal(value)
    if day := rule.get("day"):
        return str(_day(str(given), language)) == str(day)
    return _moment(str(given), language) == str(rule["moment"])


async def _value(expression: str) -> Decimal | None:
    try:
        return Decimal(await calculate(expression))
    except (ToolRetry, InvalidOperation):
        return None


def _day(text: str, language: str) -> date | None:
    return read_day(text, _wall(), language)


def _moment(text: str, language: str) -> str:
    """Return the person's wall time that a text means; empty for none."""
    moment = read_moment(text, _wall(), language)
    if moment is None:
        return ""
    return f"{moment.astimezone(now().tzinfo) if moment.tzinfo else moment:%Y-%m-%dT%H:%M}"


def _wall() -> datetime:
    return now().replace(tzinfo=None)
