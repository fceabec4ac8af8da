"""JSON as models write it: within other words, and only nearly valid."""

import ast
import json
import re
from collections.abc import Iterator

from core.json_types import Json, check_depth

_OPENING = re.compile(r"""\{(?=\s*["'}])|\[(?=\s*[\[{\]"'\d\-A-Za-z])""")
_TRAILING_COMMA = re.compile(r",\s*([}\]])")
_DECODER = json.JSONDecoder(strict=False)
_MAX_PASSES = 16
"""The number of times that a text is scanned for values, in total."""
_SKIMMED = 64
"""Characters that are searched in the time of parsing a single character."""
_MAX_REPAIRS, _MAX_REPAIR = 8, 20_000
"""Repairs that are tried, and the characters of each at most."""


class Reading:
    """Reads the JSON values of a text in their order, in linear work.

    The work is counted in characters (`read`): when it reaches so many times the text's length, the rest of the text
    counts as words. Matches of `skipped` between values are left out.
    """

    def __init__(self, text: str, skipped: re.Pattern[str] | None = None) -> None:
        self._text = text
        self._skipped = skipped
        self._repairs = _MAX_REPAIRS
        self.read = 0

    def __iter__(self) -> Iterator[Json]:
        """Yield the values, repaired if need be."""
        at = 0
        skipped = self._skipped.search(self._text) if self._skipped else None
        while self.read <= _MAX_PASSES * len(self._text) and (opening := _OPENING.search(self._text, at)):
            if self._skipped and skipped and skipped.start() < opening.start():
                at = max(at, skipped.end()) if skipped.start() >= at else at
                skipped = self._skipped.search(self._text, at)
                continue
            value, at = self.decode(opening.start())
            yield value

    def decode(self, start: int) -> tuple[Json, int]:
        """Return the value at a position and the position after it; None and the next position if there is none."""
        try:
            value, end = _DECODER.raw_decode(self._text, start)
            self.read += end - start
            return _shallow(value), end
        except json.JSONDecodeError as error:
            # Creating the error counts the lines before its position.
            self.read += error.pos - start + 1 + error.pos // _SKIMMED
        except (ValueError, RecursionError):  # nested too deeply, or NaN
            self.read += len(self._text) - start
            return None, start + 1
        if not self._repairs or len(self._text) - start > _MAX_REPAIR:
            return None, start + 1
        self._repairs -= 1
        self.read += len(self._text) - start
        value = _repaired(self._text[start:].rstrip("` \n"))
        return (None, start + 1) if value is None else (value, len(self._text))


def _repaired(rest: str) -> Json:
    # The outermost brace only: if any other brace is missing, arguments may be missing too.
    for attempt in (_TRAILING_COMMA.sub(r"\1", rest), rest + "}"):
        try:
            return _shallow(_DECODER.raw_decode(attempt)[0])
        except (ValueError, RecursionError):
            continue
    try:  # the notation of a Python dictionary
        value = ast.literal_eval(rest)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and _is_json(value) else None


def _shallow(value: Json) -> Json:
    check_depth(value)
    return value


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
