"""Expressions in conditions: a checked syntax tree, evaluated in counted steps, never run as code."""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.kinds.step_limit import Steps
from core.json_types import Json
from core.language.catalogue import gettext

MAX_LENGTH = 500
_NODES = 200
_MAX_TEXT = 10_000
"""Characters of a text that an expression concatenates."""
_LARGEST = 10**100
_DIGITS = 15
"""Digits that `round` accepts, on either side of the decimal point."""
_VALUES = (ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Subscript, ast.Attribute, ast.Call, ast.Compare)
_OPERATIONS = (ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.boolop, ast.unaryop, ast.cmpop)
_ONLY_NUMBERS = (ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.FloorDiv)
_PLAIN = (*_VALUES, *_OPERATIONS, *_ONLY_NUMBERS, ast.Add)
_WRONG = (TypeError, ValueError, LookupError, ArithmeticError, RecursionError)


def check_expression(text: str, names: frozenset[str]) -> None:
    """Refuse an expression that does more than compare and calculate with these names; raises `TriggerError`."""
    for node in ast.walk(_tree(text)):
        if not isinstance(node, _PLAIN):
            raise TriggerError(gettext("“{text}” cannot be used: it may compare and calculate only.", text=text))
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS):
            sentence = gettext("“{text}” cannot be used: it calls a function that does not exist.", text=text)
            raise TriggerError(sentence, note=f"The functions are {', '.join(_FUNCTIONS)}.")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise TriggerError(gettext("“{text}” cannot be used: “{name}” is not a field.", text=text, name=node.attr))
        if isinstance(node, ast.Name) and node.id not in names and node.id not in _FUNCTIONS:
            sentence = gettext("“{text}” cannot be used: there is nothing named “{name}”.", text=text, name=node.id)
            raise TriggerError(sentence, note=f"It may name {', '.join(sorted(names))}.")


def check_numbers(text: str) -> None:
    """Refuse an expression that multiplies or formats a text; raises `TriggerError`."""
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, _ONLY_NUMBERS):
            for side in (node.left, node.right):
                if isinstance(side, ast.Constant) and isinstance(side.value, str):
                    sentence = gettext("“{text}” cannot be used: only numbers are multiplied and divided.", text=text)
                    raise TriggerError(sentence)


def evaluate(text: str, names: Mapping[str, Json], steps: Steps | None = None) -> bool:
    """Return whether a checked expression is true.

    Raises `TriggerError` if it cannot be evaluated on these values, or takes too many steps.
    """
    try:
        return bool(_Evaluation(names, steps or Steps()).value(_tree(text).body))
    except _WRONG as error:
        if isinstance(error, TriggerError):
            raise
        why = gettext("“{text}” could not be evaluated on the result.", text=text)
        raise TriggerError(why, note=type(error).__name__) from error


class _Evaluation:
    """The evaluation of a tree. Each node takes a step, and each walk over a value as many as the value is large."""

    def __init__(self, names: Mapping[str, Json], steps: Steps) -> None:
        self._names = names
        self._steps = steps

    def value(self, node: ast.expr) -> Json:
        self._steps.take()
        evaluate_node: Callable[[_Evaluation, Any], Json] | None = _NODE_TYPES.get(type(node))
        if evaluate_node is None:
            raise TypeError("no part of an expression")
        return evaluate_node(self, node)

    def constant(self, node: ast.Constant) -> Json:
        if node.value is not None and not isinstance(node.value, bool | int | float | str):
            raise TypeError("no value")
        return node.value

    def name(self, node: ast.Name) -> Json:
        return self._names[node.id]

    def unary(self, node: ast.UnaryOp) -> Json:
        operand = self.value(node.operand)
        return not operand if isinstance(node.op, ast.Not) else _UNARY[type(node.op)](_number(operand))

    def binary(self, node: ast.BinOp) -> Json:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            if len(left) + len(right) > _MAX_TEXT:
                raise ValueError("too long a text")
            return left + right
        result: int | float = _BINARY[type(node.op)](_number(left), _number(right))
        return _bounded(result)

    def either(self, node: ast.BoolOp) -> Json:
        value: Json = None
        for operand in node.values:
            value = self.value(operand)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def compare(self, node: ast.Compare) -> Json:
        left = self.value(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            self._steps.walk(left)
            self._steps.walk(right)
            if not _COMPARED[type(op)](left, right):
                return False
            left = right
        return True

    def choice(self, node: ast.IfExp) -> Json:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def subscript(self, node: ast.Subscript) -> Json:
        return _inside(self.value(node.value), self.value(node.slice))

    def attribute(self, node: ast.Attribute) -> Json:
        value = self.value(node.value)
        if not isinstance(value, dict):
            raise TypeError("no object")
        return value[node.attr]

    def call(self, node: ast.Call) -> Json:
        arguments = [self.value(argument) for argument in node.args]
        for argument in arguments:
            self._steps.walk(argument)
        if not isinstance(node.func, ast.Name):
            raise TypeError("no function")
        return _FUNCTIONS[node.func.id](*arguments)


def _inside(value: Json, key: Json) -> Json:
    if isinstance(value, dict) and isinstance(key, str):
        return value[key]
    if isinstance(value, list | str) and isinstance(key, int):
        return value[key]
    raise TypeError("nothing is inside")


def _number(value: Json) -> int | float:
    if not isinstance(value, int | float):
        raise TypeError("no number")
    return _bounded(value)


def _bounded[Number: (int, float)](value: Number) -> Number:
    if not -_LARGEST < value < _LARGEST:
        raise ArithmeticError("too large a number")
    return value


def _read_number(text: Json) -> float:
    return float(_bounded(float(str(text).replace(",", "").strip(" €$£%"))))


def _round(value: Json, digits: Json = None) -> Json:
    if digits is None:
        return round(_number(value))
    if not isinstance(digits, int) or not -_DIGITS <= digits <= _DIGITS:
        raise ValueError("too many digits")
    return round(_number(value), digits)


def _length(value: Json) -> int:
    if not isinstance(value, str | list | dict):
        raise TypeError("no length")
    return len(value)


_FUNCTIONS: dict[str, Callable[..., Json]] = {
    "abs": lambda value: abs(_number(value)),
    "min": min,
    "max": max,
    "round": _round,
    "len": _length,
    "number": _read_number,
    "text": str,
    "lower": lambda text: str(text).lower(),
    "contains": lambda text, part: str(part).casefold() in str(text).casefold(),
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Json]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_NODE_TYPES: Mapping[type[ast.expr], Callable[[_Evaluation, Any], Json]] = {
    ast.Constant: _Evaluation.constant,
    ast.Name: _Evaluation.name,
    ast.UnaryOp: _Evaluation.unary,
    ast.BinOp: _Evaluation.binary,
    ast.BoolOp: _Evaluation.either,
    ast.Compare: _Evaluation.compare,
    ast.IfExp: _Evaluation.choice,
    ast.Subscript: _Evaluation.subscript,
    ast.Attribute: _Evaluation.attribute,
    ast.Call: _Evaluation.call,
}


@lru_cache(maxsize=1024)
def _tree(text: str) -> ast.Expression:
    if not text.strip() or len(text) > MAX_LENGTH:
        raise TriggerError(gettext("An expression has 1 to {number} characters.", number=MAX_LENGTH))
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise TriggerError(gettext("“{text}” is not an expression, such as value < 300.", text=text)) from error
    if sum(1 for _ in ast.walk(tree)) > _NODES:
        raise TriggerError(gettext("The expression is too long: make it simpler."))
    return tree
