"""The functions that abilities declare by name are there, are their own, and take what the wiring hands over."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields as fields_of

import pytest

from onevalet import foundations
from onevalet.ability import Ability, calls, named
from onevalet.ability_registry import declared_abilities
from tests.shipping.harness import ROOT, read

_TAKEN = {field.name: re.search(r"Callable\[\[(.*?)\]", str(field.type)) for field in fields_of(Ability)}
"""The parameters of each function that an ability declares."""
_WIDER = {
    name: {base.__name__ for base in kind.__mro__} for name, kind in vars(foundations).items() if isinstance(kind, type)
}
"""The types by which a function may take an argument, besides the argument's own."""


def declared(source: str) -> Iterator[tuple[str, str, str]]:
    """Yield the field, the helper and the name of each function that a declaration names."""
    tree = list(ast.walk(ast.parse(source)))
    fields = {node.value: str(node.arg) for node in tree if isinstance(node, ast.keyword)}
    for node in tree:
        match node:
            case ast.Call(func=ast.Name(id="named" | "calls" as helper), args=[ast.Constant(value=name)]):
                yield fields.get(node, ""), helper, str(name)


def fault(ability: str, field: str, helper: str, name: str) -> str:
    """Return why a declared name cannot be used; empty if it can."""
    module, _, own = name.partition(":")
    file = ROOT / f"{module.replace('.', '/')}.py"
    if not module.startswith(f"abilities.{ability}.") or not file.is_file():
        return f"{name}: no module of this ability"
    body = ast.parse(file.read_text(encoding="utf-8")).body
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == own]
    if helper == "named":
        targets = [node.targets[0] if isinstance(node, ast.Assign) else node for node in body]
        found = {getattr(node, "id", getattr(node, "name", "")) for node in targets}
        found |= {alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
        return "" if own in found else f"{name}: no such value"
    if not functions:
        return f"{name}: no such function"
    if not (parameters := _TAKEN[field]):  # a type of core's, whose test calls it
        return ""
    handed = [part.strip(' "').rpartition(".")[2] for part in parameters[1].split(",") if part]
    taken = [ast.unparse(one.annotation).strip("'") if one.annotation else "" for one in functions[0].args.args]
    fits = len(taken) == len(handed) and all(
        has == wants or has in _WIDER.get(wants, ()) for has, wants in zip(taken, handed, strict=True)
    )
    return "" if fits else f"{name}: takes {taken}, and is handed {handed}"


def test_each_declared_name_is_the_abilitys_own_and_takes_its_arguments() -> None:
    found = [
        (ability.name, *function)
        for ability in declared_abilities()
        for function in declared(read(f"abilities/{ability.name}/ability.py"))
    ]
    assert len(found) > 60
    assert [wrong for one in found if (wrong := fault(*one))] == []


@pytest.mark.parametrize(
    ("field", "helper", "name", "told"),
    [
        ("probes", "named", "abilities.mail.probes:PROBES", "no module of this ability"),
        ("probes", "named", "abilities.halts.gone:PROBES", "no module of this ability"),
        ("probes", "named", "abilities.halts.probes:GONE", "no such value"),
        ("work", "calls", "abilities.halts.everywhere:gone", "no such function"),
        ("hooks", "calls", "abilities.halts.everywhere:open_work", "takes"),
        ("routes", "calls", "abilities.halts.everywhere:open_work", "takes"),
    ],
)
def test_a_name_that_cannot_be_used_is_found(field: str, helper: str, name: str, told: str) -> None:
    assert told in fault("halts", field, helper, name)


def test_a_declared_name_is_loaded_when_it_is_asked_for() -> None:
    with pytest.raises(AttributeError):
        named("tests.shipping.test_declarations:gone")("an argument")
    assert named("tests.shipping.test_declarations:ROOT")("an argument") == ROOT
    assert calls("tests.shipping.test_declarations:read")("README.md") == read("README.md")
