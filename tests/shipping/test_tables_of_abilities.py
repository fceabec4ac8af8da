"""The spine names no table and no SQL function of an ability: it asks abilities, and each answers in its own folder."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from onevalet.ability_registry import declared_abilities
from onevalet.migrating import sql_of_abilities
from tests.shipping.harness import ROOT, SHIPPED, python_files, read, tracked_files
from tests.shipping.limits import nodes_of

SPINE = tuple(folder for folder in SHIPPED if folder not in ("abilities", "agents"))
_WORDS = ("tasks", "events", "memories", "receipts")
"""Tables whose names are words, too: of these, only what stands where SQL has a table counts."""
_BEFORE_A_TABLE = r"\b(?:from|join|update|into|using|table|references)\s+(?:only\s+)?"
_TABLE = re.compile(r"^create table (?:if not exists )?(\w+)", re.MULTILINE)
_COMMENT = re.compile(r"--.*")
_CALLED = re.compile(r"(\w+)\s*\(")


@cache
def tables() -> Mapping[str, str]:
    """Return the tables that the abilities' migrations make, each with its ability."""
    made = [(ability.ability, file.sql) for ability in sql_of_abilities() for file in ability.migrations()]
    return {name: ability for ability, sql in made for name in _TABLE.findall(sql)}


@cache
def functions() -> Mapping[str, str]:
    """Return the SQL functions of the abilities, each with its ability."""
    made = [(ability.ability, file) for ability in sql_of_abilities() for file in ability.functions()]
    return {name: ability for ability, file in made for name in file.functions}


def named(text: str) -> set[str]:
    """Return what a text names of them."""
    words = set(re.findall(r"\w+", text))
    found = words & (tables().keys() - set(_WORDS))
    if words & set(_WORDS):
        either = "|".join(_WORDS)
        as_table = rf"{_BEFORE_A_TABLE}({either})\b(?!\s*\()"
        for place in (as_table, rf",\s*({either})\s+[a-z]\b", rf"\b({either})%rowtype"):
            found |= set(re.findall(place, text))
    return found | (set(_CALLED.findall(text)) & functions().keys())


def texts_of(source: str) -> Iterator[str]:
    """Yield the strings of a program, without docstrings."""
    nodes = nodes_of(source)
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def names_in(*folders: str) -> Mapping[str, set[str]]:
    """Return what the Python and the SQL below some folders name of abilities, by their files."""
    owners = {**tables(), **functions()}
    found = {
        path: {name for text in texts_of(source) for name in named(text)}
        for path, source in python_files(*folders).items()
        if owners.keys() & set(re.findall(r"\w+", source))
    }
    for path in tracked_files():
        file = path.relative_to(ROOT).as_posix()
        if path.suffix == ".sql" and file.startswith(tuple(f"{name}/" for name in folders)):
            found[file] = named(_COMMENT.sub("", path.read_text()))
    return {file: names for file, names in found.items() if names}


def needed(ability: str) -> set[str]:
    """Return an ability with all that it needs."""
    needs = {one.name: one.needs for one in declared_abilities()}
    return {ability}.union(*(needed(name) for name in needs[ability]))


def test_the_spine_names_no_table_or_function_of_an_ability() -> None:
    assert names_in(*SPINE) == {}


def test_an_ability_names_tables_and_functions_of_those_that_it_needs_only() -> None:
    owners = {**tables(), **functions()}
    allowed = {f"abilities/{ability.name}": needed(ability.name) for ability in declared_abilities()}
    for file, names in names_in("abilities").items():
        assert {owners[name] for name in names} <= allowed["/".join(file.split("/")[:2])], (file, names)


def test_an_ability_makes_the_tables_that_it_declares() -> None:
    declared = {table.name: ability.name for ability in declared_abilities() for table in ability.tables}
    assert declared.items() <= tables().items()


@pytest.mark.parametrize(
    ("planted", "names"),
    [
        ("select count(*) from tasks where tenant_id = $1", {"tasks"}),
        ("update memories m set valid_to = null", {"memories"}),
        ("select 1 from turns t join events e on e.id = t.id", {"events"}),
        ("insert into task_runs select 1", {"task_runs"}),
        ("select from turns t, tasks k where k.id = t.id", {"tasks"}),
        ("v_task tasks%rowtype", {"tasks"}),
        ("merge using memories m on true", {"memories"}),
        ("event_groups", {"event_groups"}),
        ("perform start_run(p_tenant, p_task, p_run)", {"start_run"}),
        ("select kind = 'tasks' as tasks, count(*) from turns", set()),
        ("returns table (tasks bigint, events bigint)", set()),
    ],
)
def test_a_planted_name_is_found(planted: str, names: set[str]) -> None:
    assert named(planted) == names


def test_what_is_planted_in_a_string_of_the_spine_is_found() -> None:
    source = read("core/db/serving.py")
    assert not any(named(text) for text in texts_of(source))
    planted = source + '\n_COUNT = f"{1} of memory_jobs"\n'
    assert {name for text in texts_of(planted) for name in named(text)} == {"memory_jobs"}
