"""The spine names no table and no SQL function of an ability: it asks abilities, and each answers in its own folder."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import pytest

from onevalet.ability_registry import declared_abilities
from onevalet.migrating import sql_of_abilities
from tests.shipping.harness import SHIPPED, python_files, read, tracked_files

SPINE = tuple(folder for folder in SHIPPED if folder not in ("abilities", "agents"))
OF_NOBODY = ("event_groups",)
"""Tables of abilities without rows of people, which are not declared."""

_WORDS = ("tasks", "events", "memories", "set_aside")
"""Names that are words, too: of these, only what stands where SQL has a table or calls a function counts."""
_BEFORE_A_TABLE = r"\b(?:from|join|update|into|using|table|references)\s+(?:only\s+)?"


@cache
def tables() -> frozenset[str]:
    """Return the tables of the abilities that ship."""
    return frozenset([table.name for ability in declared_abilities() for table in ability.tables] + [*OF_NOBODY])


@cache
def functions() -> frozenset[str]:
    """Return the SQL functions of the abilities that ship."""
    return frozenset(name for ability in sql_of_abilities() for file in ability.functions() for name in file.functions)


def named(sql: str) -> set[str]:
    """Return what a text names of them."""
    clear = [name for name in tables() if name not in _WORDS]
    found = {match[0] for match in re.finditer(rf"\b(?:{'|'.join(clear)})\b", sql)}
    words = "|".join(name for name in tables() if name in _WORDS)
    for place in (rf"{_BEFORE_A_TABLE}({words})\b(?!\s*\()", rf",\s*({words})\s+[a-z]\b", rf"\b({words})%rowtype"):
        found |= {match[1] for match in re.finditer(place, sql)}
    return found | {match[1] for match in re.finditer(rf"\b({'|'.join(functions())})\s*\(", sql)}


def texts_of(source: str) -> Iterator[str]:
    """Yield the strings of a program, without docstrings."""
    tree = ast.parse(source)
    told = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def spine_sql() -> Iterable[tuple[str, str]]:
    """Return the SQL of the spine without comments, by its path: not the migrations, which are never edited."""
    paths = [path for path in tracked_files() if path.match("core/db/sql/functions/*.sql")]
    return [(f"core/db/sql/functions/{path.name}", re.sub(r"--.*", "", path.read_text())) for path in paths]


def breaches() -> Mapping[str, set[str]]:
    """Return what the spine names of abilities, by its files."""
    found = {path: named(sql) for path, sql in spine_sql()}
    for path, source in python_files(*SPINE).items():
        found[path] = {name for text in texts_of(source) for name in named(text)}
    return {path: names for path, names in found.items() if names}


def test_the_spine_names_no_table_or_function_of_an_ability() -> None:
    assert breaches() == {}


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
    source = read("core/db/router.py")
    assert not any(named(text) for text in texts_of(source))
    planted = source + '\n_COUNT = f"{1} of memory_jobs"\n'
    assert {name for text in texts_of(planted) for name in named(text)} == {"memory_jobs"}
