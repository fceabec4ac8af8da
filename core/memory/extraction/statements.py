"""Splitting messages into statements: each is one memory, which can end or be forgotten without the others."""

import re

MAX_STATEMENT = 600
"""Characters of one statement; a longer one is split at a space."""
MAX_STATEMENTS = 40
"""Statements of one message."""

_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)]*\s+|\n+")
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
_QUESTION = re.compile(
    r"(?:what|who|where|when|why|how|which|whose|can|could|would|will|do|does|did|is|are|am|was|were|should|shall"
    r"|may|have|has)\b.*\?\s*",
    re.IGNORECASE | re.DOTALL,
)


def statements(text: str) -> list[str]:
    """Return the statements of a message in order, each as a piece of its text."""
    pieces: list[str] = []
    start = 0
    for end in [*_END.finditer(text), None]:
        upto = end.start() if end else len(text)
        if end and "\n" not in end[0] and _ABBREVIATION.search(text[start:upto]):
            continue
        if piece := _ASKED.sub("", text[start:upto].strip()):
            pieces += _short(piece)
        start = end.end() if end else len(text)
    return pieces[:MAX_STATEMENTS]


def worth_keeping(statement: str) -> bool:
    """Return whether a statement tells something, unlike a greeting, an acknowledgement or a question."""
    words = statement.strip(" \t.!?…,")
    # In languages without spaces between words, letters are counted.
    tells = (
        words.count(" ") >= 2 or any(letter.isdigit() for letter in words) or (not words.isascii() and len(words) >= 6)
    )
    return tells and not _EMPTY.fullmatch(words) and not _QUESTION.fullmatch(statement)


def _short(piece: str) -> list[str]:
    if len(piece) <= MAX_STATEMENT:
        return [piece]
    cut = piece.rfind(" ", 0, MAX_STATEMENT)
    cut = cut if cut > MAX_STATEMENT // 2 else MAX_STATEMENT
    return [piece[:cut], *_short(piece[cut:].strip())]
