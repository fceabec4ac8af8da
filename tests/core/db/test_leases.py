"""A lease that outlives its worker holds up what it guards: each is short and kept alive, or says here why not."""

import ast
import re
from collections.abc import Collection, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from onevalet.migrating import all_functions
from tests.shipping.harness import PRODUCT

ROOT = Path(__file__).parents[3]
SHORT = timedelta(seconds=30)
_NAME = re.compile(r"(?:^|_)(?:lease|ttl|held)(?:$|_)", re.IGNORECASE)
_LEASED = re.compile(r"create (?:or replace )?function (\w+)\s*\([^;]*?\bp_(?:lease|ttl|held) interval")
_LITERAL = re.compile(r"\b\w+_until\s*=[^,;]*?interval '([^']+)'")

REASONS = {
    "abilities/accounts/idle_grants.py LEASE": "the pause before a server that does not answer is asked again; tokens"
    " are refreshed five minutes ahead, and whoever needs one refreshes it at once",
    "abilities/accounts/token_refresh.py LEASE": "two requests of an OAuth server, whose answer cannot be asked for"
    " twice, have to fit: another process that began meanwhile could lose the grant",
    "core/agents/turn_agents.py ttl": "no lease: how long an agent waits for what its person still has to say",
    "operations/backups/schedule.py _LEASE": "renewed each 30 seconds; nobody waits for a backup, and two at once cost"
    " more than a late one",
    "core/budgets/store.py HELD": "no lease: the reserved money of a call that a provider may still charge for",
    "abilities/events/bus.py _lease": "the time that a handler is given, and five seconds; a handler has no end",
    "core/messaging/files.py FILE_LEASE": "one upload of a file has to fit: begun twice, the person would get it twice",
    "operations/tenants/deletion.py _LEASE": "one statement deletes all rows of a person and may take as long; what"
    " they were told is that it is under way",
    "abilities/tasks/runs/firing.py LOOK_LEASE": "a condition whose check ended its worker is checked later each time",
}
"""Leases over 30 seconds, by file and name, and why they are so long."""


def leases() -> Iterator[tuple[str, timedelta | None]]:
    """Yield each lease of the product by file and name; None for how long where that is computed."""
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name, length in leases_in(path.read_text()):
                yield f"{path.relative_to(ROOT)} {name}", length


def leases_in(source: str) -> Iterator[tuple[str, timedelta | None]]:
    """Yield each assignment of a `timedelta` to what is called a lease."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id if isinstance(target, ast.Name) else target.attr
                 for target in targets if isinstance(target, ast.Name | ast.Attribute)]  # fmt: skip
        calls = [call for call in ast.walk(node.value) if isinstance(call, ast.Call) and _called(call) == "timedelta"]
        for name in names:
            if _NAME.search(name) and calls:
                yield name, _length(node.value)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _length(value: ast.expr) -> timedelta | None:
    if not isinstance(value, ast.Call) or value.args:
        return None
    try:
        return timedelta(**{word.arg or "": ast.literal_eval(word.value) for word in value.keywords})
    except ValueError:
        return None


def takes_unnamed(source: str, takers: Collection[str]) -> bool:
    """Return whether a module calls a function that takes a lease, and has no name of a lease, words aside."""
    if not any(f"{taker}(" in source for taker in takers):
        return False
    nodes = [*ast.walk(ast.parse(source))]
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    names += [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    return not any(_NAME.search(name) for name in names)


def sql() -> dict[str, str]:
    """Return the text of each file of functions."""
    return {f"{file.name}.sql": file.sql for file in all_functions()}


@pytest.mark.whole("it reads every file of the product")
def test_every_lease_over_30_seconds_says_why() -> None:
    long = {name for name, length in leases() if length is None or length > SHORT}
    assert sorted(long) == sorted(REASONS)


def test_no_function_of_sql_has_a_long_lease_of_its_own() -> None:
    found = {
        f"{file}: {literal}"
        for file, text in sql().items()
        for literal in _LITERAL.findall(text)
        if not re.fullmatch(r"(?:[12]?\d|30) seconds?", literal)
    }
    assert not found


def test_whoever_takes_a_lease_takes_a_named_one() -> None:
    takers = {name for text in sql().values() for name in _LEASED.findall(text)}
    assert {"claim_memory_job", "claim_lane", "claim_outbound"} <= takers
    sources = {str(path): path.read_text() for folder in PRODUCT for path in sorted((ROOT / folder).rglob("*.py"))}
    bare = [name for name, source in sources.items() if takes_unnamed(source, takers)]
    assert bare == []


def test_a_lease_without_a_name_is_found() -> None:
    call = '"""Take a lease."""\nasync def f(db):\n    await db.call("select claim_lane($1, $2)", "l", {})'
    assert takes_unnamed(call.format("timedelta(minutes=5)"), ["claim_lane"])
    assert not takes_unnamed(call.format("LANE_LEASE"), ["claim_lane"])


@pytest.mark.parametrize(
    ("source", "length"),
    [
        ("LEASE = timedelta(minutes=5)", timedelta(minutes=5)),
        ("CARD_LEASE: timedelta = datetime.timedelta(seconds=90)", timedelta(seconds=90)),
        ("self._lease = patience + timedelta(seconds=5)", None),
    ],
)
def test_a_planted_lease_is_found(source: str, length: timedelta | None) -> None:
    assert [found for _, found in leases_in(source)] == [length]
