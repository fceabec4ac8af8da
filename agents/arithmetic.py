"""Calculate, exactly if possible, without running any code."""

import ast
import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal, DecimalException, localcontext

from onevalet import ToolRetry, gettext, tool

type Number = Decimal

_MAX_LENGTH = 500
_MAX_DEPTH = 50
_MAX_EXPONENT = 1000
_DIGITS = 40
_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: (a / b).to_integral_value(rounding="ROUND_FLOOR"),
    ast.Mod: lambda a, b: a - b * (a / b).to_integral_value(rounding="ROUND_FLOOR"),
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": lambda a, places=Decimal(0): round(a, int(places)),
    "sqrt": lambda a: a.sqrt(),
    "floor": lambda a: a.to_integral_value(rounding="ROUND_FLOOR"),
    "ceil": lambda a: a.to_integral_value(rounding="ROUND_CEILING"),
}
_PERCENT = r"(?<![\w.])(\d[\d.]*)\s*%"
_SHARE_OF = re.compile(rf"{_PERCENT}\s*of\b\s*", re.IGNORECASE)
_SHARE = re.compile(rf"{_PERCENT}(?=\s*(?:[*/),]|$))")
"""A percentage after which no second operand of a remainder can follow."""
_UNCLEAR = re.compile(rf"[\w)]\s*[-+]\s*{_PERCENT}\s*(?:\)|,|$)|\d%\s*[-+]")
"""A percentage that is added or subtracted without naming its base."""
_CONSTANTS = {"pi": Decimal(repr(math.pi)), "e": Decimal(repr(math.e))}


@tool(name="calculate", effect="read")
async def calculate(expression: str) -> str:
    """Calculate an arithmetic expression.

    Args:
        expression: Numbers with + - * / // % **, brackets, 20% of 45, abs, min, max, round, sqrt, floor, ceil, pi, e.
    """
    if len(expression) > _MAX_LENGTH:
        raise ToolRetry(f"The expression is longer than {_MAX_LENGTH} characters; do it in parts.")
    try:
        tree = ast.parse(_without_percentages(expression.strip()).replace("^", "**"), mode="eval")
        with localcontext() as numbers:
            numbers.prec = _DIGITS
            return _written(_value(tree.body, 0))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ToolRetry(gettext("I cannot calculate that; write, for example, (3 + 4) * 2.5")) from error
    except (DecimalException, OverflowError, TypeError) as error:
        raise ToolRetry(gettext("That has no result: a division by zero, or a number out of range.")) from error


def _without_percentages(expression: str) -> str:
    """Write shares as fractions; `a % b` stays a remainder.

    Raises `ToolRetry` if a share has no base.
    """
    if _UNCLEAR.search(expression):
        raise ToolRetry(
            gettext("I cannot calculate that; write, for example, (3 + 4) * 2.5"),
            note="Say what the percentage is of: 120 * 1.2, or 120 + 20% * 120.",
        )
    return _SHARE.sub(r"(\1/100)", _SHARE_OF.sub(r"(\1/100)*", expression))


def _value(node: ast.expr, depth: int) -> Number:
    if depth > _MAX_DEPTH:
        raise ToolRetry("The expression is nested too deeply; do it in parts.")
    match node:
        case ast.Constant(value=bool()):
            raise ToolRetry(gettext("Only numbers can be calculated with."))
        case ast.Constant(value=int() | float() as number):
            return Decimal(repr(number))
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, depth + 1)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, depth + 1)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left, depth + 1), _value(right, depth + 1))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_value(left, depth + 1), _value(right, depth + 1))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, depth + 1) for argument in args))
        case _:
            raise ToolRetry(
                gettext("Only numbers can be calculated with."),
                note="Only numbers, + - * / // % **, brackets and the listed functions are known.",
            )


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > _MAX_EXPONENT:
        raise ToolRetry(gettext("An exponent beyond {number} is out of range.", number=_MAX_EXPONENT))
    return base**exponent


def _written(number: Number) -> str:
    if not number.is_finite():
        raise ToolRetry(gettext("That has no finite result."))
    rounded = number.normalize()
    return f"{rounded:f}" if -20 < rounded.adjusted() < _DIGITS else str(rounded)
