"""Edits, reactions and places: every channel of the house has them and runs their cases, or is exempt with a reason."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.messaging.capabilities import Locating, Reacting
from tests.abilities.places.contract.test_places import only_where_places_are_sent
from tests.abilities.reactions.contract.test_thanks import CAN
from tests.contract.channel_harnesses import EVERYWHERE, HARNESSES
from tests.contract.harness import open_harness
from tests.contract.test_amendments import CAN_EDIT

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent.name for path in (ROOT / "channels").glob("*/receive.py"))
ELSEWHERE = {
    "email": "a mail once sent cannot be changed, and mail programs send no reactions or places that others read",
    "terminal": "it is a program of ours, which shows words and takes words",
}
"""Channels whose people cannot do any of it, with the reason."""
KINDS = {"Amendment": CAN_EDIT, "Reaction": None, "PlaceMove": only_where_places_are_sent}
"""What a channel may hand in besides messages, with the mark of the cases about it; None: they run everywhere."""
TOLD = {"Amendment": r"\*\*Edits\*\* \(([^)]*)\)", "Reaction": r"\*\*Reactions\*\* come in on ([^.]*?), and go out"}
"""Where the page of all channels names those that have it."""


def hands_in(channel: str) -> set[str]:
    """Return what a channel makes of its provider's requests, by the names of the types."""
    made: set[str] = set()
    for path in (ROOT / "channels" / channel).glob("*.py"):
        calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        made |= {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    return made


def without(mark: pytest.MarkDecorator | None) -> Mapping[str, str]:
    return mark.kwargs if mark else {}


def test_every_channel_of_the_house_has_a_harness_or_says_why_not() -> None:
    assert sorted({*EVERYWHERE, *ELSEWHERE}) == FOLDERS, "give the channel a harness, or a reason here"
    assert min(len(reason) for reason in ELSEWHERE.values()) > 15


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_runs_on_exactly_the_channels_that_hand_it_in(kind: str) -> None:
    have = {channel for channel in FOLDERS if kind in hands_in(channel)}
    assert have == set(EVERYWHERE) - set(without(KINDS[kind]))


@pytest.mark.parametrize("kind", TOLD)
def test_the_page_of_all_channels_names_those_that_have_it(kind: str) -> None:
    page = (ROOT / "docs" / "channels" / "README.md").read_text()
    [named] = re.findall(TOLD[kind], page)
    assert {name.lower() for name in re.split(r", | and ", named)} == {
        channel for channel in FOLDERS if kind in hands_in(channel)
    }


async def test_the_way_out_says_what_the_way_in_takes() -> None:
    for name in EVERYWHERE:
        async with open_harness(HARNESSES[name]) as harness:
            sender = harness.sender
        takes_places = isinstance(sender, Locating) and sender.takes_places
        assert takes_places is ("PlaceMove" in hands_in(name)), name
        assert isinstance(sender, Reacting) is (name in CAN), name
        assert name not in CAN or "Reaction" in hands_in(name), f"{name} reacts, and hears no reactions"
