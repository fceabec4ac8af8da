"""A kind of sentence that the demo model understands."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

from core.json_types import JsonObject

type Found = re.Match[str]

RESULTS, LAST = "{results}", "{last}"


def named(match: Found) -> JsonObject | None:
    """Return a match's named groups as arguments."""
    return {name: text.strip() for name, text in match.groupdict().items() if text}


def groups(match: Found, arguments: JsonObject) -> Mapping[str, str]:
    """Return the groups of a result's match."""
    return match.groupdict()


@dataclass(frozen=True, slots=True)
class Intent:
    """A kind of sentence and the reaction to it: a call of `tool`, or else the text `say`.

    `pattern` has to match the whole sentence, in any case, without its last punctuation. `arguments` turns the match
    into the call's arguments, or None if the sentence has another meaning; by default they are the pattern's named
    groups. A result that fully matches `expected` is returned as `phrase`, with the arguments, `{result}` and the
    groups of `expected` filled in, or the values that `shown` makes of both; any other result is returned unchanged.
    `say` may use the named groups and `{abilities}`. Help shows `example` if the tool is offered. An intent that comes
    `last` is called once the others have their results; its argument RESULTS is replaced by those, or left out if there
    are none. `without` names a tool that must not be offered. After a result that matches `expected`, `then` is called,
    with the arguments that it makes of that match, and its result is returned. `language` is the sentence's. An intent
    with `after` applies only if the last answer came from any of these tools; its argument LAST is replaced by the
    subject of that answer.
    """

    pattern: str
    tool: str = ""
    arguments: Callable[[Found], JsonObject | None] = named
    expected: str = ".*"
    phrase: str = "{result}"
    say: str = ""
    example: str = ""
    last: bool = False
    without: str = ""
    then: "Intent | None" = None
    language: str = "en"
    after: Collection[str] = ()
    shown: Callable[[Found, JsonObject], Mapping[str, str]] = groups

    def match(self, sentence: str) -> Found | None:
        """Return the match of a sentence without its last full stop, or None."""
        return _compiled(self.pattern).fullmatch(sentence)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # The cache of `re` holds fewer patterns than there are intents.
    return re.compile(rf"(?:{pattern})\s*[?\uff1f]?", re.IGNORECASE | re.DOTALL)
