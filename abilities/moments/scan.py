"""Split a text about a moment into tokens. Words that the language does not cover are reported, never dropped."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from babel import Locale

from abilities.moments.words.languages import LANGUAGES
from abilities.moments.words.words import MomentWords
from abilities.moments.zones import NamedZone, place_patterns, zone_at

type Kind = Literal[
    "clock",
    "part",
    "part of today",
    "date",
    "weekday",
    "week",
    "day",
    "span",
    "more",
    "from now",
    "from day",
    "filler",
    "number",
    "zone",
    "unknown",
]
_HAN = r"[\u4e00-\u9fff]"
_WORD = re.compile(rf"{_HAN}|[^\s\u4e00-\u9fff]+")
_WIDE = str.maketrans("：，／！？（）０１２３４５６７８９", ":,/!?()0123456789")
_END = r"(?!\w|[:/\-]\d|\.\d)"
_PLACEHOLDER = re.compile(r"(?<!\?P)<\w+>")
_HALF = r"(?P<half>[ap](?:\.? ?m\b\.?))"
_HOURS_AND_MINUTES = r"(?P<n>\d{1,2}) ?h(?:eures?|oras?)?(?: et| e| y)? ?(?P<m>[0-5]\d)(?: ?min(?:ut[eo]s)?)?"


@dataclass(frozen=True, slots=True)
class Token:
    """Words of a text and their meaning: `value` is the table's, `numbers` are the numbers among them."""

    kind: Kind
    text: str
    value: object = None
    numbers: Mapping[str, str] | None = None
    zone: NamedZone | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """The patterns of a language, ready to match."""

    code: str
    words: MomentWords
    forms: tuple[tuple[Kind, re.Pattern[str], object], ...]
    places: tuple[re.Pattern[str], ...]
    numbers: tuple[tuple[re.Pattern[str], int], ...]
    months: Mapping[str, int]

    def number(self, text: str) -> int:
        """Return the number that digits or a word stand for."""
        if text.isdecimal():
            return int(text)
        return next(number for pattern, number in self.numbers if pattern.fullmatch(text))


@cache
def language(code: str) -> Language:
    """Return a language by its code."""
    words = LANGUAGES[code]
    months = _names(code, "months") if code != "zh" else {}
    numbers = tuple((re.compile(pattern), number) for pattern, number in words.numbers.items())
    forms = tuple(_forms(code, words, months))
    return Language(code, words, forms, place_patterns(words.zones), numbers, months)


def plain(text: str) -> str:
    """Return a text as it is scanned: no capitals, and no marks but those that stand between digits."""
    text = text.casefold().translate(_WIDE)
    text = re.sub(r",(?!\d)|(?<!\d),|[、!?;。；(){}\[\]\"“”«»]+", " ", text)
    # A date with slashes does not belong to the clock before it.
    return re.sub(rf"(?<={_HAN}) +(?!\d+/)| +(?={_HAN})", "", " ".join(text.split()))


def scan(text: str, code: str) -> list[Token]:
    """Split a text, in the form of `plain`, into tokens of a language."""
    known = language(code)
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        if text[position] in " .,":
            position += 1
            continue
        token, position = _token(text, position, known, counting=bool(tokens) and _counts(tokens[-1]))
        if token.kind == "unknown" and tokens and tokens[-1].kind == "unknown":
            between = " " if code != "zh" else ""
            tokens[-1] = Token("unknown", f"{tokens[-1].text}{between}{token.text}")
        else:
            tokens.append(token)
    return tokens


def _counts(token: Token) -> bool:
    """Return whether a span goes on after a token; after days "17h" is a clock."""
    hours = isinstance(token.value, tuple) and token.value[0] == "seconds"
    return token.kind == "from now" or (token.kind == "span" and hours)


def _token(text: str, position: int, known: Language, *, counting: bool) -> tuple[Token, int]:
    """Return the longest token at a position, and its end. `counting`: a span comes before a time of day."""
    found: list[tuple[bool, int, Token]] = []
    for kind, pattern, value in known.forms:
        if match := pattern.match(text, position):
            first = counting and kind in ("span", "more")
            found.append((first, match.end(), Token(kind, match[0], value, match.groupdict())))
    if zone := zone_at(text, position, known.places, english=known.code == "en"):
        found.append((False, zone[1], Token("zone", text[position : zone[1]], zone=zone[0])))
    if found:
        _, end, token = max(found, key=lambda one: one[:2])
        return token, end
    rest = _WORD.match(text, position)
    end = rest.end() if rest else position + 1
    return Token("unknown", text[position:end]), end


type _Form = tuple[Kind, re.Pattern[str], object]


def _forms(code: str, words: MomentWords, months: Mapping[str, int]) -> Iterator[_Form]:
    """Yield the patterns of a language; of two that match as much, the earlier counts."""
    joined = code == "zh"
    numbers = sorted(words.numbers, key=len, reverse=True)
    any_number = "|".join(numbers)
    large = "|".join(word for word in numbers if words.numbers[word] >= 10)
    places = {
        **{f"<{name}>": rf"(?P<{name}>\d{{1,2}}(?!\d)|{any_number})" for name in ("h", "past", "to", "d", "mm")},
        "<m>": rf"(?P<m>[0-5]\d(?!\d)|{large})",
        "<minutes>": rf"(?P<m>\d{{1,2}}|{any_number})",
        "<n>": rf"(?P<n>\d{{1,4}}(?:[.,]\d{{1,2}})?|{any_number}|{words.one})",
        "<y>": r"(?P<y>\d{4})",
        "<month>": rf"(?P<month>{'|'.join(sorted(months, key=len, reverse=True))})\.?",
        "<half>": _HALF,
    }

    def form(pattern: str, end: str = "") -> re.Pattern[str]:
        pattern = _PLACEHOLDER.sub(lambda match: places[match[0]], pattern)
        return re.compile(rf"(?:{pattern}){end or ('' if joined else _END)}")

    def forms(kind: Kind, patterns: Iterable[tuple[str, object]]) -> Iterator[_Form]:
        return ((kind, form(pattern), value) for pattern, value in patterns)

    yield from forms("clock", [*words.clocks, (r"(?<=\d)t<h>:<m>(?::00)?", 0)])
    yield from forms("part", words.parts.items())
    yield from forms("part of today", words.parts_of_today.items())
    yield "date", form(r"(?P<y>\d{4})-(?P<mm>\d\d)-(?P<d>\d\d)", r"(?=t\d| |$)"), None
    yield from forms("date", [(pattern, None) for pattern in (*_dates(words), *words.dates)])
    yield from (("weekday", form(pattern, end), day) for pattern, end, day in _weekdays(code, words))
    yield from forms("week", words.weeks.items())
    yield from forms("day", words.days.items())
    if not joined:
        yield "span", form(_HOURS_AND_MINUTES), ("seconds", 3600)
    yield from forms("span", [(f"<n> ?(?:{unit})", value) for unit, value in words.units.items()])
    yield from forms("span", words.spans.items())
    yield from forms("more", words.more.items())
    yield "from now", form(words.from_now), None
    if words.from_day:
        yield "from day", form(words.from_day), None
    yield "filler", form(words.fillers), None
    yield "number", form("<h>"), None


def _dates(words: MomentWords) -> Iterator[str]:
    """Yield the patterns of dates that consist of numbers."""
    yield r"(?P<d>\d{1,2})\.(?P<mm>\d{1,2})\.(?P<y>\d{4})"
    if words.slashes:
        first, second = ("mm", "d") if words.month_first else ("d", "mm")
        yield rf"(?P<{first}>\d{{1,2}})/(?P<{second}>\d{{1,2}})(?:/(?P<y>\d{{4}}))?"


def _weekdays(code: str, words: MomentWords) -> Iterator[tuple[str, str, int]]:
    """Yield patterns of weekdays, the text that may follow each, and the day; Monday is 0."""
    end = rf"(?:{_END}|(?={words.joined}))" if words.joined else ("" if code == "zh" else _END)
    yield from ((pattern, end, day) for pattern, day in words.weekdays.items())
    if code != "zh":
        for name, day in _names(code, "days").items():
            shortened = len(name) <= 4 and not words.short_weekdays
            yield re.escape(name) + (r"\." if shortened else r"\.?"), end, day


def _names(code: str, what: Literal["months", "days"]) -> dict[str, int]:
    """Return the names of months or weekdays, whole and shortened, and their numbers."""
    locale = Locale.parse(code)
    names: dict[str, int] = {}
    for forms in (locale.months if what == "months" else locale.days).values():
        for width in ("wide", "abbreviated"):
            for number, name in forms[width].items():
                names.setdefault(str(name).casefold().rstrip("."), int(number))
    return names
