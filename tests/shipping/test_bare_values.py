"""No state without a type, and no empty text that stands for none (a reader cannot know what is meant)."""

from functools import cache

import pytest

from tests.shipping.bare_values import CHECKS, bare_states, compared_rows, empty_for_none
from tests.shipping.harness import PRODUCT, python_files
from tests.shipping.limits import Check, breaches

ALLOWED: dict[str, set[str]] = {
    "abilities/events/types.py": {'id = ""', 'tenant_id = ""'},
}
"""Breaches with a reason. A plugin's event has neither until it is published; every event that is read has both."""

FINE = {
    bare_states: "class A:\n    state: TurnState\n    outcome: Literal['ok', 'error'] = 'ok'\n    statement: str\n"
    "@app.command('x')\ndef f(decision: str): ...\n",
    compared_rows: "a = row['state'] == State.DONE\nb = row['text'] == 'done'\nc = State(row['state']) is State.DONE\n",
    empty_for_none: "class A:\n    turn_id: str | None = None\n    text: str = ''\n    idle: str = ''\n"
    "def f(name: str = '', *, account: str): ...\n",
}
PLANTED: list[tuple[Check, str]] = [
    (bare_states, "class A:\n    state: str = 'open'\n"),
    (bare_states, "class A:\n    state: 'str | None' = None\n"),
    (bare_states, "async def f(self, *, outcome: str): ...\n"),
    (compared_rows, "if row['state'] in ('ready', 'sending'):\n    pass\n"),
    (compared_rows, "a = row['outcome'] != 'go'\n"),
    (empty_for_none, "class A:\n    conversation_id: str = ''\n"),
    (empty_for_none, "def f(a, tier: str = ''): ...\n"),
    (empty_for_none, "class A:\n    set_aside: str = ''\n"),
    (empty_for_none, "def f(*, sender_timezone: str = ''): ...\n"),
]


@cache
def found() -> dict[str, set[str]]:
    """Return the breaches of every file of the product that has any."""
    each = {path: breaches(source, CHECKS) for path, source in python_files(*PRODUCT).items()}
    return {path: names for path, names in each.items() if names}


@pytest.mark.xdist_group("bare values")
def test_states_have_types_and_none_is_none() -> None:
    new = {path: over for path, names in found().items() if (over := names - ALLOWED.get(path, set()))}
    assert new == {}, "give the state an enum or a Literal; say None where there may be none"


@pytest.mark.xdist_group("bare values")
def test_what_is_allowed_is_still_there() -> None:
    assert {path: done for path, names in ALLOWED.items() if (done := names - found().get(path, set()))} == {}


@pytest.mark.parametrize(("check", "source"), FINE.items())
def test_typed_states_and_plain_texts_are_accepted(check: Check, source: str) -> None:
    assert check(source) == []


@pytest.mark.parametrize(("check", "source"), PLANTED)
def test_a_planted_bare_value_is_found(check: Check, source: str) -> None:
    assert len(check(source)) == 1
    assert breaches(source, CHECKS) == set(check(source))
