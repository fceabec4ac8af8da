"""Parse a sum in a sentence: "3 percent of 80" as an expression for a calculator."""

import ast
import re
from collections.abc import Sequence

_LONGEST = 200
_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = (
    {word: value for value, word in enumerate(_ONES + _TEENS)}
    | {word: 20 + 10 * index for index, word in enumerate(_TENS)}
    | {"hundred": 100, "thousand": 1000}
)
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_ONES[1:])})\b")
_WORD = re.compile(rf"\b({'|'.join(sorted(_WORDS, key=len, reverse=True))})\b")
_SAID = (
    (re.compile(r"(?<=\d),(?=\d{3}\b)"), ""),
    (re.compile(r"\s*(?:%|\bper ?cent\b) of "), " / 100 * "),
    (re.compile(r"\b(?:the )?square root of (\d[\d.]*)"), r"sqrt(\1)"),
    (re.compile(r"\s*\bto the power of\b\s*"), " ^ "),
    (re.compile(r"\s+squared\b"), "^2"),
    (re.compile(r"\s+cubed\b"), "^3"),
    (re.compile(r"\bplus\b"), "+"),
    (re.compile(r"\bminus\b|−"), "-"),
    (re.compile(r"\b(?:times|multiplied by)\b|[×·]|(?<=\d)x(?=\d)|(?<=\d )x(?= \d)"), "*"),
    (re.compile(r"\b(?:divided by|over)\b|÷"), "/"),
    (re.compile(r"\bmod(?:ulo)?\b"), "%"),
)
_ALLOWED = re.compile(r"(?:sqrt\(|[\d.()+\-*/%^ ])+")
_OPERATOR = re.compile(r"[\d)] ?(?:[*+^]|//) ?[\d(.-]|[\d)] [-/%] [\d(.-]|sqrt")
_ASKED_OPERATOR = re.compile(r"[-+*/%^]|sqrt")


def read_sum(text: str, *, asked: bool, words: Sequence[tuple[str, str]] = ()) -> str | None:
    """Return a text as an expression, or None if it is not a sum.

    `asked`: the person asked for a sum. Otherwise dates and telephone numbers do not count as sums. `words` are
    patterns of another language's words, with their meanings.
    """
    if len(text) > _LONGEST:
        return None
    expression = text.lower()
    for word, sign in words:
        expression = re.sub(word, sign, expression)
    expression = _COMPOUND.sub(lambda match: str(_WORDS[match[1]] + _WORDS[match[2]]), expression)
    expression = _WORD.sub(lambda match: str(_WORDS[match[1]]), expression)
    for pattern, sign in _SAID:
        expression = pattern.sub(sign, expression)
    expression = " ".join(expression.split())
    operator = _ASKED_OPERATOR if asked else _OPERATOR
    if not (_ALLOWED.fullmatch(expression) and operator.search(expression) and re.search(r"\d", expression)):
        return None
    try:
        ast.parse(expression.replace("^", "**"), mode="eval")
    except SyntaxError:
        return None
    return expression
