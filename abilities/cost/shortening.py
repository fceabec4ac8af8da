"""Shorten an answer by rules: some of its sentences, each whole and in its place, the important ones first.

No model is asked: the result has the answer's own words, costs nothing, needs no turn (the end of a wait has none), and
is the same after a crash.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# "3. May", "e.g. this" and "v. 2" go on after their full stop; "21:40." ends.
_END = re.compile(
    r"(?<=[.!?…])(?<![^\W\d]\.\w\.)(?<!\s\w\.)(?<!^\w\.)(?<!\s\d\d\.)(?<!^\d\d\.)[\"'”’»)*_]*\s+(?=\S)|(?<=[。！？])"
)
_LEFT_OUT = re.compile(r"\s*(?:#{1,6}\s|\||[-=*_]{3,}\s*$)")
"""Headings, tables and rulers say little by themselves."""
_FENCE = re.compile(r"\s*(?:```|~~~)")
_FACT = re.compile(r"\d|%|\w://")
_STRONG = re.compile(r"\*\*\S")
_WORD = re.compile(r"[^\W\d_]{4,}")
_QUESTION = re.compile(r"[?？]\W*$")
_SAME = 0.25
"""The share of new words below which a sentence counts as a repetition of others."""
_LEAST = 40
"""The least room of a shortening, in characters."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    line: int
    text: str
    score: float


def shorten(text: str, room: int) -> str:
    """Return an answer in at most `room` characters: whole sentences, unless none is so short."""
    sentences, left = _sentences(text), max(room, _LEAST)
    kept, said = set[int](), set[str]()
    for index, sentence in sorted(enumerate(sentences), key=lambda entry: -entry[1].score):
        words = set(_words(sentence.text))
        if len(sentence.text) < left and (not words or len(words - said) > len(words) * _SAME):
            kept.add(index)
            said |= words
            left -= len(sentence.text) + 1
    if not kept:
        return _cut(sentences[0].text if sentences else text.strip(), left)
    lines: dict[int, list[str]] = {}
    for index in sorted(kept):
        lines.setdefault(sentences[index].line, []).append(sentences[index].text)
    return "\n".join(" ".join(line) for line in lines.values())


def _sentences(text: str) -> Sequence[_Sentence]:
    lines, fenced = list[tuple[int, list[str]]](), False
    for number, line in enumerate(text.splitlines()):
        if _FENCE.match(line):
            fenced = not fenced
        elif line.strip() and not fenced and not _LEFT_OUT.match(line):
            lines.append((number, [piece.strip() for piece in _END.split(line) if piece.strip()]))
    words = Counter(word for _, pieces in lines for piece in pieces for word in _words(piece))
    placed = [(number, place, piece) for number, pieces in lines for place, piece in enumerate(pieces)]
    last = len(placed) - 1
    return [
        _Sentence(number, piece, _score(piece, words, first=not at, last=at == last, starts=not place))
        for at, (number, place, piece) in enumerate(placed)
    ]


def _score(sentence: str, words: Counter[str], *, first: bool, last: bool, starts: bool) -> float:
    """Return the weight of a sentence: by its place, by facts and marks in it, and by words that the answer repeats."""
    asks = last and _QUESTION.search(sentence) is not None
    own = _words(sentence)
    theme = sum(words[word] - 1 for word in own) / len(own) if own else 0.0
    marks = 2.0 * bool(_FACT.search(sentence)) + 2.0 * bool(_STRONG.search(sentence))
    return 6.0 * first + 5.0 * asks + starts + marks + min(theme, 1.0)


def _words(sentence: str) -> Sequence[str]:
    return [word.casefold() for word in _WORD.findall(sentence)]


def _cut(sentence: str, room: int) -> str:
    """Return the beginning of a sentence that is longer than all the room, cut between words."""
    begun = sentence[: room - 1]
    return f"{begun[: begun.rfind(' ')] if ' ' in begun.strip() else begun}…" if sentence else ""
