"""What a reminder or a heartbeat writes differs only where its answer or its card does: each field in turn."""

import json
import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from abilities.tasks.tools import RemindBefore, RemindMe, SetHeartbeat, TellExecutor
from core.agents.standard_agent import StandardAgent
from core.agents.valet import valet_of
from onevalet import AgentStatus
from onevalet.testing import make_context, rehearse
from tests.abilities.tasks.harness import Harness

_ROW = "select * from tasks where tenant_id = $1 and number = coalesce($2, number) order by number desc limit 1"
TEXTS = ("the flight", "the flight to Rome", "the flight " * 20 + "one", "the flight " * 20 + "two")
SCENES: Mapping[type[StandardAgent], tuple[Mapping[str, Any], Mapping[str, tuple[Any, ...]]]] = {
    RemindMe: (
        {"text": "call mum", "at": "2026-03-04T15:00"},
        {"text": TEXTS, "at": ("2026-03-04T15:01", "2026-03-04T15:00+01:00", "2026-03-05T15:00", "2027-03-04T15:00",
                               "2026-10-25T02:30+01:00", "2026-10-25T02:30+02:00", "in 20 minutes", "9pm",
                               "2026-03-04T15:00:01", "2026-03-04T15:00:59.5", "in 90 seconds")},
    ),
    RemindBefore: (
        {"text": "the party", "day": "2026-12-20", "days_before": 3},
        {"text": TEXTS, "day": ("2026-12-21", "2027-12-20", "2028-02-29"), "days_before": (0, 1, 7, 8, 14),
         "yearly": (True,), "clock": ("8:00", "8:01", "21:00")},
    ),
    SetHeartbeat: ({"every_minutes": 15}, {"every_minutes": (16, 59, 60, 61, 90, 1440, 1441, 2880)}),
}  # fmt: skip
"""Of each agent a call, and what each field is instead."""


def calls(kind: type[StandardAgent]) -> list[dict[str, Any]]:
    """Return the call, and those that differ in one field or two."""
    call, others = SCENES[kind]
    single = [{name: value} for name, values in others.items() for value in values]
    pairs = [one | other for one, other in combinations(single, 2) if one.keys() != other.keys()]
    return [{**call, **changed} for changed in ({}, *single, *pairs)]


async def written_and_said(
    harness: Harness, kind: type[StandardAgent], call: Mapping[str, Any], *, in_task: bool
) -> tuple[str, str]:
    """Return what a call writes, and what its person was told of it: the card, or the answer."""
    harness.engine.executors.setdefault("tell", TellExecutor())
    tasks = harness.engine.for_tenant(harness.tenant)
    key = f"{kind.__name__} {in_task} {json.dumps(call)}"
    context = make_context(
        clock=harness.clock, tasks=tasks, timezone="Europe/Berlin", in_task=in_task, idempotency_key=key
    )
    rehearsed = rehearse(kind, context, **call)
    result = await rehearsed.go_on()
    assert rehearsed.agent is not None
    said = result.raw_message
    if result.status is AgentStatus.WAITING_FOR_APPROVAL:
        request = rehearsed.agent.approval_request()
        said = f"{request.action_summary} {dict(request.details)}"
        result = await rehearsed.agent.on_waiting_for_approval("")
    # Of one turn's, the same reminder may have been set before.
    named = re.search(r"It is task (\d+)", result.raw_message or "")
    [row] = await harness.store.admin.fetch(_ROW, harness.tenant, int(named[1]) if named else None)
    wrote = {name: row[name] for name in ("title", "trigger", "action", "output", "executor")}
    return json.dumps(wrote, default=str, sort_keys=True), said.replace(f"task {row['number']}", "task")


@pytest.mark.parametrize("in_task", [False, True], ids=["answer", "card"])
@pytest.mark.parametrize("kind", SCENES, ids=lambda kind: str(kind.__name__))
async def test_promise_9_what_is_planned_differs_only_where_it_is_said(
    harness: Harness, kind: type[StandardAgent], in_task: bool
) -> None:
    marked = valet_of(kind)
    assert marked is not None
    assert set(SCENES[kind][1]) == set(marked.inputs), "each field is varied"
    told = [(call, *await written_and_said(harness, kind, call, in_task=in_task)) for call in calls(kind)]
    silent = [(one[0], other[0]) for one, other in combinations(told, 2) if one[1] != other[1] and one[2] == other[2]]
    assert silent == []
    assert len({said for _, _, said in told}) > len(told) // 2
