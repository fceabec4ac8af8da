"""A phrase that the demo model knows: a pattern, and the call or the words that answer it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from core.json_types import JsonObject

type Found = re.Match[str]

RESULTS = "{results}"
"""An argument that stands for the results of the other phrases."""


def groups(match: Found) -> JsonObject | None:
    """Return a match's named groups as arguments."""
    return {name: text.strip() for name, text in match.groupdict().items() if text}


def as_told(result: str, arguments: JsonObject) -> str:
    """Return a tool's result as it stands."""
    return result


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence that the demo model knows, and its answer: a call of `tool`, or else the text `say`.

    `pattern` matches the whole sentence, in any case, without its last punctuation. `arguments` makes the call's
    arguments of the match, or None if the sentence means something else. `shown` makes the answer of the result. If the
    tool is not offered, `say` is the answer; without one, the phrase is unknown. Help names `example`. A `last` phrase
    is called once the others have their results. If the result matches `found`, `then` is called with arguments made
    of the match, and its result is the answer.
    """

    pattern: str
    tool: str = ""
    arguments: Callable[[Found], JsonObject | None] = groups
    say: str = ""
    shown: Callable[[str, JsonObject], str] = as_told
    example: str = ""
    last: bool = False
    found: str = ""
    then: tuple[str, Callable[[Found], JsonObject]] | None = None
    _compiled: list[re.Pattern[str]] = field(default_factory=list, init=False, repr=False, compare=False)

    def match(self, sentence: str) -> Found | None:
        """Return the match of a sentence without its last full stop, or None."""
        if not self._compiled:
            self._compiled.append(re.compile(rf"(?:{self.pattern})\s*\??", re.IGNORECASE | re.DOTALL))
        return self._compiled[0].fullmatch(sentence)
