"""The phrases to redact once memories are forgotten: the statements, and the words by which others would tell them."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby

from abilities.memory.extraction.words import STOP_WORDS, stem, word_set, words_of

MIN_LENGTH = 4
"""Characters of the shortest word, and digits of the shortest number, that is redacted by itself."""

_CAPITALISED = re.compile(r"[^\W\d_][\w'’-]*")
_BEFORE_A_SENTENCE = re.compile(r"(?:^|[.!?…:\n])[\s\"'“”‘’«»(*_-]*$")
_DATE = re.compile(r"(?:(?:19|20)\d\d(?:-?[01]\d(?:-?[0-3]\d(?:t\d*)?)?)?|[0-3]?\d-[0-3]?\d-(?:19|20)?\d\d)z?")
_CALENDAR = word_set(
    "january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter"
    " januar jänner februar märz mai juni juli oktober dezember"
    " montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
    " enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    " lunes martes miércoles jueves viernes sábado domingo"
    " janvier février mars avril juin juillet août septembre octobre novembre décembre"
    " lundi mardi mercredi jeudi vendredi samedi dimanche"
    " janeiro fevereiro março maio junho julho setembro outubro novembro dezembro segunda terça quarta quinta sexta"
)
"""Words of dates, in the languages that write names with a capital."""
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def phrases_of(texts: Sequence[str], asked: Sequence[str], kept: Iterable[str]) -> list[str]:
    """Return the phrases to redact: the statements, and their telling words that no other memory uses.

    A name or a number is telling by itself; other words only if the person used them when they asked, and then in
    a single piece: of "storage unit" neither word is. Dates never are, nor is a word whose capital only begins a
    sentence.
    """
    said_elsewhere = [f" {' '.join(map(stem, words_of(text)))} " for text in kept]
    named = {stem(word) for phrase in asked for word in words_of(phrase)} - {stem(word) for word in STOP_WORDS}
    telling: list[str] = []
    for text in texts:
        telling += [word for word in _names(text) if len(word) >= MIN_LENGTH]
        telling += [word for word in words_of(text) if sum(letter.isdigit() for letter in word) >= MIN_LENGTH]
        telling += [run for run in _runs(text, named) if len(run) >= MIN_LENGTH]
        telling += [phrase for phrase in asked if _SPACELESS.search(phrase) and len(phrase) > 1 and phrase in text]
    wanted = [
        phrase
        for phrase in telling
        if phrase not in STOP_WORDS
        and not all(is_of_a_date(word) for word in phrase.split())
        and not any(f" {' '.join(map(stem, phrase.split()))} " in other for other in said_elsewhere)
    ]
    return list(dict.fromkeys([*texts, *wanted]))


def is_of_a_date(word: str) -> bool:
    """Return whether a word, in lower case, belongs to a date: a month, a day of the week, a year, 2026-06-15."""
    return word in _CALENDAR or _DATE.fullmatch(word) is not None


def _names(text: str) -> list[str]:
    """Return the capitalised words that do not only begin a sentence, in lower case."""
    plain = unicodedata.normalize("NFKC", text)
    return [
        word
        for match in _CAPITALISED.finditer(plain)
        if match[0][0].isupper() and not _BEFORE_A_SENTENCE.search(plain[: match.start()])
        for word in words_of(match[0])
    ]


def _runs(text: str, stems: set[str]) -> list[str]:
    """Return the longest runs of words that have any of the stems."""
    runs = groupby(words_of(text), key=lambda word: stem(word) in stems)
    return [" ".join(run) for named, run in runs if named]
