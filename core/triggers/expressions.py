"""Expressions that people's conditions are made of: compared, never run as code (simpleeval over a checked tree)."""

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast

import jsonpath
from jsonpath.exceptions import JSONPathError
from simpleeval import InvalidExpression, SimpleEval  # type: ignore[import-untyped]

from core.json_types import Json
from core.triggers.schedule import TriggerError

LONGEST = 500
_NODES = 200
_FUNCTIONS: dict[str, Callable[..., object]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
    "len": len,
    "number": lambda text: float(str(text).replace(",", "").strip(" €$£%")),
    "text": str,
    "lower": lambda text: str(text).lower(),
    "contains": lambda text, part: str(part).casefold() in str(text).casefold(),
}
_PLAIN = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Subscript, ast.Attribute, ast.Call, ast.Compare),
    *(ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.boolop, ast.unaryop, ast.cmpop),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.FloorDiv),
)


class _Paths(jsonpath.JSONPathEnvironment):
    """JSONPath as RFC 9535 has it, without regular expressions: one that is badly written can run for hours."""

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        for name in ("match", "search"):
            self.function_extensions.pop(name, None)


def check_expression(text: str, names: frozenset[str]) -> None:
    """Refuse an expression that is no comparison of what it may name; raises `TriggerError`."""
    for node in ast.walk(_tree(text)):
        if not isinstance(node, _PLAIN):
            raise TriggerError(f"{text!r} cannot be used: it may compare and calculate, nothing else.")
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS):
            raise TriggerError(f"{text!r} cannot be used: the functions are {', '.join(_FUNCTIONS)}.")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise TriggerError(f"{text!r} cannot be used: {node.attr!r} is no field.")
        if isinstance(node, ast.Name) and node.id not in names and node.id not in _FUNCTIONS:
            raise TriggerError(f"{text!r} names {node.id!r}; it may name {', '.join(sorted(names))}.")


def evaluate(text: str, names: Mapping[str, Json]) -> bool:
    """Tell whether a checked expression is true; raises `TriggerError` where the values do not allow to tell."""
    try:
        return bool(SimpleEval(functions=_FUNCTIONS, names=dict(names)).eval(text, previously_parsed=_body(text)))
    except (InvalidExpression, TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        raise TriggerError(f"{text!r} could not be told: {type(error).__name__}.") from error


def check_path(path: str) -> None:
    """Refuse what is no JSONPath; raises `TriggerError`."""
    try:
        _compiled(path)
    except (JSONPathError, RecursionError) as error:
        raise TriggerError(f"{path!r} is no JSONPath: {str(error).splitlines()[0]}") from error


def find(path: str, data: Json) -> list[Json]:
    """Give all that a JSONPath finds in data; nothing where it cannot be followed."""
    try:
        return cast("list[Json]", _compiled(path).findall(cast("dict[str, object]", data)))
    except (JSONPathError, TypeError, RecursionError):
        return []


@lru_cache(maxsize=1024)
def _compiled(path: str) -> "jsonpath.JSONPath | jsonpath.CompoundJSONPath":
    return _ENVIRONMENT.compile(path)


_ENVIRONMENT = _Paths(strict=True)


@lru_cache(maxsize=1024)
def _tree(text: str) -> ast.Expression:
    if not text.strip() or len(text) > LONGEST:
        raise TriggerError(f"An expression has 1 to {LONGEST} characters.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise TriggerError(f"{text!r} is no expression; write for example: value < 300") from error
    if sum(1 for _ in ast.walk(tree)) > _NODES:
        raise TriggerError("The expression is too long; make it simpler.")
    return tree


def _body(text: str) -> ast.expr:
    return _tree(text).body
