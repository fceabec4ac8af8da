"""What an ability declares is named in its own folder: without the folder, nobody speaks of it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import pytest

from onevalet.ability import Ability
from onevalet.ability_registry import all_abilities
from operations.doctor.every import all_probes
from tests.shipping.harness import python_files
from tests.shipping.limits import nodes_of

SPINE = ("agents", "channels", "core", "jobs", "notify", "onevalet", "operations", "providers")
ELSEWHERE = {
    ("onevalet/cli/program_serving.py", "onevalet mcp"): "the command by which programs ask is the spine's own",
    ("onevalet/embedded.py", "ONEVALET_MEMORY"): "a public name for memory says why there is none",
    ("onevalet/init/local_servers.py", "ONEVALET_MEMORY"): "set only if it is a setting",
    ("onevalet/init/presets.py", "ONEVALET_MEMORY"): "emptied only if it is set",
    ("onevalet/unknown_settings.py", "ONEVALET_MEMORY"): "named as what replaces retired settings",
    ("onevalet/unknown_settings.py", "ONEVALET_TRANSCRIPTION_URL"): "named as what replaces retired settings",
    ("onevalet/init/senses.py", "ONEVALET_EMBEDDING_MODEL"): "asked for only if it is a setting",
    ("onevalet/init/senses.py", "voice notes"): "asked for only if its model is a setting",
    ("operations/programs/tools.py", "search_memory"): "handed to programs only if memory is opened",
    ("providers/email/types.py", "search_mail"): "raised to the tools of mail alone",
}
"""What the spine names all the same, by file and name, and why that is no harm without the ability."""


def names_of(ability: Ability) -> Iterator[str]:
    """Yield what people, operators and models know an ability by: of its probes, names that mean nothing else."""
    yield from (probe.name for probe in (ability.probes() if ability.probes else ()) if " " in probe.name)
    yield from (name.upper() for name in (ability.settings().kind.model_fields if ability.settings else ()))
    yield from (word.name.upper() for word in ability.words)
    yield from (f"onevalet {commands.name}" for commands in ability.commands)
    for module in map(import_module, ability.tools):
        names = (getattr(value, "name", None) for value in vars(module).values())
        yield from (name for name in names if isinstance(name, str) and "_" in name)


def named_in(source: str, names: frozenset[str]) -> set[str]:
    """Return which names the strings of a module have, apart from its docstrings; names of probes as a whole string."""
    if not any(name.rpartition(" ")[2] in source for name in names):
        return set()
    nodes = list(nodes_of(source))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    words = {word for text in texts for word in re.findall(r"onevalet \w+|\w+", text)} | set(texts)
    return words & names


@cache
def _names() -> frozenset[str]:
    return frozenset(name for ability in all_abilities() for name in names_of(ability)) - {"OPENID"}


def test_what_an_ability_declares_is_named_by_no_other_room() -> None:
    files = python_files(*SPINE)
    found = {(path, name) for path, source in files.items() for name in named_in(source, _names())}
    found = {(path, name) for path, name in found if not path.startswith("onevalet/testing/")}
    assert found - ELSEWHERE.keys() == set()
    assert ELSEWHERE.keys() - found == set(), "these are named there no more"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("look = over_settings(Area.MODELS, 'voice notes', check)", {"voice notes"}),
        ("fix = f'set ONEVALET_MCP, {of} all'", {"ONEVALET_MCP"}),
        ("say('onevalet tasks list shows them')", {"onevalet tasks"}),
        ("ClientTool('list_notes', 'List notes.')", {"list_notes"}),
        ("'''What is said in voice notes, by ONEVALET_MCP.'''", set()),
    ],
)
def test_a_planted_name_is_found(source: str, found: set[str]) -> None:
    assert named_in(source, _names()) == found


def test_each_probe_of_an_ability_is_examined() -> None:
    declared = {probe.name for ability in all_abilities() if ability.probes for probe in ability.probes()}
    assert declared
    assert declared <= {probe.name for probe in all_probes()}
