"""One kind of sentence that the demo model understands."""

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
    """One kind of sentence and the reaction to it: a call of `tool`, or else the text `say`.

    `pattern` has to match the whole sentence, in any case, without its last punctuation. `arguments` turns the match
    into the call's arguments, or None when the sentence is not meant after all; by default they are the pattern's
    named groups. A result that fully matches `expected` is told as `phrase`, with the arguments, `{result}` and the
    groups of `expected` filled in, or what `shown` makes of both; any other result is told unchanged. `say` may use
    the named groups and `{abilities}`. `example` is shown by help where the tool is offered. An intent that comes
    `last` is called once the others have their results; its argument RESULTS is replaced by those, or left out where
    there are none. `without` names a tool that must not be offered. After a result that matches `expected`, `then` is
    called, with the arguments that it makes of that match, and its result is told. `language` is the sentence's. An
    intent with `after` is meant only where the last answer told of one of these tools; its argument LAST is replaced by
    what that was about.
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
