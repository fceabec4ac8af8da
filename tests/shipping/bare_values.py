"""States that have no type, and texts whose emptiness stands for their absence: both found in source text."""

import ast
import re
from collections.abc import Iterator

from tests.shipping.limits import Check, is_command, nodes_of

STATES = frozenset({"state", "status", "outcome", "urgency", "risk", "role", "decision", "fate"})
"""Names whose values are few, and known: an enum or `Literal` says which."""
_IDENTIFIES = re.compile(r"(.+_)?(id|account|language|timezone|tier)|set_aside")
"""Names of what an empty text cannot be: where there may be none, `None` says so."""
_BARE = re.compile(rf"\b({'|'.join(STATES)}): ['\"]?str\b")
_OF_ROW = re.compile(rf"\[['\"]({'|'.join(STATES)})['\"]\]")
_EMPTY = re.compile(r"= (''|\"\")")
"""What every source has that breaks a rule: others are not even parsed."""


def bare_states(source: str) -> list[str]:
    """Return the fields and parameters that hold a state as any text."""
    if not _BARE.search(source):
        return []
    return [f"{name}: str" for name, annotation, _ in _declared(source) if name in STATES and _is_text(annotation)]


def compared_rows(source: str) -> list[str]:
    """Return the comparisons of a row's state with a word, which no type checks."""
    if not _OF_ROW.search(source):
        return []
    compared = [node for node in nodes_of(source) if isinstance(node, ast.Compare)]
    return [
        ast.unparse(node)
        for node in compared
        if _names_state(node.left) and any(_is_words(other) for other in node.comparators)
    ]


def empty_for_none(source: str) -> list[str]:
    """Return the fields and parameters that identify something and are empty by default."""
    if not _EMPTY.search(source):
        return []
    return [
        f'{name} = ""'
        for name, _, default in _declared(source)
        if isinstance(default, ast.Constant) and default.value == "" and _IDENTIFIES.fullmatch(name)
    ]


CHECKS: tuple[Check, ...] = (bare_states, compared_rows, empty_for_none)


def _declared(source: str) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Yield (name, annotation, default) of every field and parameter; a typer command declares the command line's."""
    for node in nodes_of(source):
        if isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield field.target.id, field.annotation, field.value
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_command(node):
            yield from _parameters(node.args)


def _parameters(given: ast.arguments) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + given.defaults
    for parameter, default in [
        *zip(plain, defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]:
        yield parameter.arg, parameter.annotation, default


def _is_text(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation).strip("'\"") in ("str", "str | None")


def _names_state(node: ast.expr) -> bool:
    key = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(key, ast.Constant) and key.value in STATES


def _is_words(node: ast.expr) -> bool:
    words = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return any(isinstance(word, ast.Constant) and isinstance(word.value, str) for word in words)
