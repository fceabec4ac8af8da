"""The model's answers of a while, as the journals of the turns have them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from core.db.database import Database
from core.journal.types import StepKind, StepState
from core.json_types import read_json
from core.llm.types import ModelAnswer, TokenUsage

type Address = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer, and the time of its request, in Unix seconds of the machine."""

    at: float
    step: Mapping[str, Any]


async def read_answers(database: Database, addresses: Iterable[Address], since: float) -> list[GivenAnswer]:
    """Return all answers of the model to these people's turns since a moment, in the order of the requests."""
    tenants: set[str] = set()
    for address in addresses:
        row = await database.call("select * from find_identity($1,$2,$3)", *address)
        if row is not None and row["tenant_id"]:
            tenants.add(row["tenant_id"])
    given: list[GivenAnswer] = []
    for tenant in sorted(tenants):
        rows = await database.tenant_rows(
            tenant,
            "select started_at - duration_ms * interval '1 ms' as asked_at, result from steps"
            " where tenant_id = $1 and kind = $2 and state = $3 and started_at >= $4 order by asked_at, turn_id, step",
            StepKind.MODEL.value,
            StepState.DONE.value,
            datetime.fromtimestamp(since, tz=UTC),
        )
        for row in rows:
            answer = ModelAnswer.from_json(row["result"], TokenUsage())
            given.append(GivenAnswer(row["asked_at"].timestamp(), step_of(answer)))
    return sorted(given, key=lambda one: one.at)


def step_of(answer: ModelAnswer) -> Mapping[str, Any]:
    """Return an answer as a step's table."""
    calls = [{"name": call.name, "with": _arguments(call.arguments)} for call in answer.tool_calls]
    beside = {"beside": answer.text} if answer.text else {}
    match calls:
        case []:
            return {"answer": answer.text}
        case [call]:
            return {"call": call["name"], "with": call["with"], **beside}
    return {"calls": calls, **beside}


def _arguments(text: str) -> Any:
    try:
        read = read_json(text or "{}")
    except ValueError:
        return {}
    return _without_null(read) if isinstance(read, dict) else {}


def _without_null(value: Any) -> Any:
    """Return JSON without its nulls, which TOML has not: an argument that is left out means the same."""
    if isinstance(value, Mapping):
        return {name: _without_null(one) for name, one in value.items() if one is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_null(one) for one in value if one is not None]
    return value
