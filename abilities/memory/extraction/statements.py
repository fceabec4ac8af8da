"""Splitting messages into statements: each is a memory, which can end or be forgotten without the others."""

import re

from abilities.memory.extraction.requesting import without_request
from core.language.asking import asks, without_question

MAX_STATEMENT = 600
"""Characters of a statement; a longer statement is split at a space."""
MAX_STATEMENTS = 40
"""Statements of a message."""

_GERMAN_MONTHS = "Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
_END = re.compile(
    rf"(?<=[.!?…。！？])[\"'”’)]*(?<!\d\.)\s+|(?<=\d\.)\s+(?!(?:{_GERMAN_MONTHS})\b)|\n+|(?<=[。！？])(?=\w)"
)
"""The end of a statement; not the full stop of a German "3. Dezember"."""
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|vs|etc|e\.g|i\.e|no|jan|feb|aug|sept|oct|nov|dec|a\.m|p\.m)\.|\b[A-Z]\.)$", re.I
)
_ASKED = re.compile(
    r"^(?:please\s+|could you\s+|can you\s+)*(?:remember|note|keep in mind|don'?t forget|fyi|by the way|btw)[,:]?\s+"
    r"(?:that\s+)?",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:hi|hey|hello|hallo|thanks?(?: you)?(?: so much| a lot)?|thx|ok(?:ay)?|yes|no|yep"
    r"|nope|sure|great|cool|nice|good (?:morning|night|evening)|bye|please|perfect|got it|lol|haha|done|sorry"
    r"|you'?re welcome|no problem)(?: (?:there|again|then))?",
    re.IGNORECASE,
)
_AROUND = " \t.!?…,"
_TO_KEEP = re.compile(r"(?:that|i|we|i['’]m|we['’]re|i['’]ve)\b", re.IGNORECASE)
"""The beginning of the words after "can you remember" if they are to be kept and not asked for."""


def statements(text: str, *, whole: bool = False) -> list[str]:
    """Return the statements of a message in order, each as a piece of its text; `whole`: its questions too."""
    pieces: list[str] = []
    start = 0
    for end in [*_END.finditer(text), None]:
        upto = end.start() if end else len(text)
        if end and "\n" not in end[0] and _ABBREVIATION.search(text[start:upto]):
            continue
        piece = text[start:upto].strip()
        piece = _ASKED.sub("", piece) if whole else _told_in(piece)
        if piece:
            pieces += _short(piece)
        start = end.end() if end else len(text)
    return pieces[:MAX_STATEMENTS]


def worth_keeping(statement: str) -> bool:
    """Return whether a statement tells something, unlike a greeting or an acknowledgement."""
    words = statement.strip(_AROUND)
    # In languages without spaces between words, letters are counted.
    tells = (
        words.count(" ") >= 2 or any(letter.isdigit() for letter in words) or (not words.isascii() and len(words) >= 6)
    )
    return tells and not says_nothing(statement)


def says_nothing(statement: str) -> bool:
    """Return whether a statement is a greeting, an acknowledgement, or no words at all."""
    words = statement.strip(_AROUND)
    return not any(letter.isalpha() for letter in words) or _EMPTY.fullmatch(words) is not None


def _told_in(piece: str) -> str:
    """Return the statement of a sentence, without its question or request and without the request to remember it."""
    request = _ASKED.match(piece)
    if request is None:
        return without_request(without_question(piece))
    # "Can you remember that I am vegetarian?" asks for nothing but that.
    to_keep = request[0].rstrip().lower().endswith("that") or _TO_KEEP.match(piece, request.end())
    rest = piece[request.end() :]
    return (rest.rstrip(" ?？") if not asks(rest.rstrip(" ?？")) else "") if to_keep else without_question(rest)


def _short(piece: str) -> list[str]:
    if len(piece) <= MAX_STATEMENT:
        return [piece]
    cut = piece.rfind(" ", 0, MAX_STATEMENT)
    cut = cut if cut > MAX_STATEMENT // 2 else MAX_STATEMENT
    return [piece[:cut], *_short(piece[cut:].strip())]
