"""What a briefing writes differs only where its answer does, or its card: each field in two ways, and both at once."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from abilities.briefing.settings import BriefingSettings
from abilities.briefing.tools import SetBriefing
from core.agents.valet import valet_of
from onevalet import AgentStatus
from onevalet.testing import StandingClock, make_context, rehearse
from tests.abilities.briefing.test_planning import Person

VALUES: Mapping[str, tuple[Any, ...]] = {
    "clock": ("6:30", "6:31"),
    "days": ("weekdays", "mon,thu"),
    "without": ([], ["weather"], ["mail", "waiting"]),
    "place": ("Lyon", "Rome"),
    "channel": ("sms", "slack"),
}


def calls() -> list[dict[str, Any]]:
    """Return calls with any one field, and any two."""
    single = [{name: value} for name, values in VALUES.items() for value in values]
    return [{}, *single, *(one | other for one, other in combinations(single, 2) if one.keys() != other.keys())]


async def written_and_said(before: Mapping[str, Any], call: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a call writes after an earlier call, and its answer."""
    person = Person(make_context(clock=StandingClock()))
    if before:
        await person.says(**before)
    context = await person.says(**call)
    settled = (await BriefingSettings.of(context)).to_json()
    del settled["told"]  # which call told of a missing account: it is in that call's answer
    channel = str(settled.pop("channel"))
    return f"{person.crons} {settled} {channel}", person.told.partition("It is task")[0] + person.told.rpartition("”.")[
        2
    ]


@pytest.mark.parametrize("before", [{}, {"without": ["weather"], "place": "Nice"}], ids=["first", "later"])
async def test_promise_9_what_is_set_differs_only_where_its_answer_does(before: Mapping[str, Any]) -> None:
    marked = valet_of(SetBriefing)
    assert marked is not None
    assert set(VALUES) == set(marked.inputs), "each field is varied"
    told = [await written_and_said(before, call) for call in calls()]
    silent = [(calls()[a], calls()[b]) for a, b in combinations(range(len(told)), 2)
              if told[a][0] != told[b][0] and told[a][1] == told[b][1]]  # fmt: skip
    assert silent == []


async def test_promise_9_the_card_in_a_run_says_each_field() -> None:
    cards = []
    for call in calls():
        rehearsed = rehearse(SetBriefing, Person(make_context(clock=StandingClock())).call(in_task=True), **call)
        assert (await rehearsed.go_on()).status is AgentStatus.WAITING_FOR_APPROVAL
        assert rehearsed.agent is not None
        request = rehearsed.agent.approval_request()
        cards.append(f"{request.action_summary} {dict(request.details)}")
    assert len(set(cards)) == len(cards)
