"""Main clauses from German subordinate clauses: "dass ich Tee mag" becomes "Ich mag Tee"."""

import re

_JOINED = re.compile(r"(,?\s+(?:und|aber|oder)\s+|,\s+)", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:(?:mein|meine|unser|unsere|dein|deine|der|die|das|ein|eine)\s+\S+|\S+)(?=\s)", re.IGNORECASE)
_FINITE = re.compile(
    r"(?:mag|bin|bist|ist|sind|war|waren|kann|will|muss|darf|soll|weiß|hat|hatte|hab|ging|kam|wird|wurde"
    r"|[a-zäöüß]{2,}(?:e|st|t|en))"
)
_PREFIX = re.compile(
    r"(?P<prefix>zurück|fest|fern|teil|nach|auf|aus|ein|mit|vor|weg|her|hin|los|ab|an|zu)(?P<verb>[a-zäöüß]{4,})"
)
_WHOLE = re.compile(r"(?:abonnier|antwort|ander|herrsch|losch|einig|nachte|festig|vort|zuck|ausser)")


def main_clause(clause: str) -> str:
    """Return the main clause of the text after "dass": its verb moves from the end to the place after the subject."""
    pieces = _JOINED.split(clause.strip().rstrip(".!"))
    if not all(_ends_in_verb(part) for part in pieces[::2]):
        pieces = ["".join(pieces)]  # "Tee und Kaffee mag" is a single clause
    if not _ends_in_verb(pieces[0]):
        return clause
    subject = _SUBJECT.match(pieces[0])
    if subject is None:
        return clause
    pieces[0] = f"{subject[0]} {_verb_first(pieces[0][subject.end() :].strip())}"
    pieces[2::2] = [_verb_first(part) for part in pieces[2::2]]
    said = "".join(pieces)
    return said[:1].upper() + said[1:]


def _ends_in_verb(part: str) -> bool:
    return _FINITE.fullmatch(part.split()[-1]) is not None if part.split() else False


def _verb_first(part: str) -> str:
    """Put the verb that ends a clause before the rest, and its separable prefix after it."""
    *rest, verb = part.split()
    split = None if _WHOLE.match(verb) else _PREFIX.fullmatch(verb)
    return " ".join([split["verb"], *rest, split["prefix"]] if split else [verb, *rest])
