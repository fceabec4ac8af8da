"""Undo in words, as the person reads it."""

import re
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from core.journal.types import Outcome
from core.language.catalogue import gettext
from core.language.times import near_moment_in_words
from core.replies import without_notes
from core.tools.chat_words import undo_word
from core.tools.results import CallResult, ToolEnd
from core.tools.undo_store import UndoRecord

UNDO_LAST = "undo_last"
"""The tool that takes back."""
_WORD = re.compile(r"[\w@.+-]*\w")
_FILLERS = frozenset(
    word
    for words in (
        "the a an my that this it of for on in to from with and please last one",
        "el la los las un una mi de del en para",
        "der die das den dem ein eine einen mein meine meinen von mit und",
        "le les une des du mon ma mes avec et",
        "o os as um uma meu minha do da dos das com e",
    )
    for word in words.split()
)
"""Words that tell no two things apart, in the languages that we speak."""


def listed(records: Sequence[UndoRecord], now: datetime, zone: ZoneInfo) -> str:
    """Return the list of undoable changes, a line each, with letter and end."""
    if not records:
        return gettext("There is nothing that I can undo now.")
    moments = [near_moment_in_words(record.until, now, zone) for record in records]
    lines = [
        f"{record.code}. {gettext('{title} (until {moment})', title=record.title, moment=moment)}"
        for record, moment in zip(records, moments, strict=True)
    ]
    return "\n".join([gettext("What I can undo, the newest first:"), *lines])


def not_done(record: UndoRecord | None, code: str, others: Sequence[UndoRecord]) -> ToolEnd:
    """Return the result if there is nothing to take back: nothing was done, or it was taken back already."""
    if record is not None:
        told = gettext("That has been undone already: {title}.", title=record.title)
    elif code:
        told = gettext("There is nothing under {code} that I can undo.", code=code)
    else:
        told = gettext("There is nothing that I can undo now.")
    return _not_undone(told, others)


def cannot(record: UndoRecord, others: Sequence[UndoRecord]) -> ToolEnd:
    """Return the result for an action that cannot be taken back: the reason, and the alternative."""
    return _not_undone(gettext("I cannot undo this: {title}. {why}", title=record.title, why=record.instead), others)


def which(meant: Sequence[UndoRecord], others: Sequence[UndoRecord]) -> ToolEnd:
    """Return the result for words that fit several actions, or none."""
    if not meant:
        return _not_undone(gettext("I find nothing like that among the actions that I can undo."), others)
    lines = [f"{record.code}. {record.title}" for record in meant]
    told = "\n".join([gettext("Several may be meant; write “{word}” with its letter:", word=undo_word()), *lines])
    return ToolEnd(told, Outcome.ERROR, told=told)


def telling(words: str) -> frozenset[str]:
    """Return the words that distinguish actions."""
    return frozenset(_WORD.findall(words.casefold())) - _FILLERS


def named(records: Sequence[UndoRecord], words: frozenset[str]) -> Sequence[UndoRecord]:
    """Return those of the records whose titles have all of some words, in their order."""
    return [record for record in records if all(_has(record.title.casefold(), word) for word in words)]


def _has(title: str, word: str) -> bool:
    # Scripts such as Chinese have no spaces between words.
    return word in _WORD.findall(title) or (not word.isascii() and word in title)


def _not_undone(told: str, others: Sequence[UndoRecord]) -> ToolEnd:
    if others:
        word = f"{undo_word()} {others[0].code}"
        before = gettext("To undo “{title}”, write “{word}”.", title=others[0].title, word=word)
        told = f"{told} {before}"
    return ToolEnd(told, Outcome.ERROR, told=told)


def why_not(record: UndoRecord, result: CallResult) -> str:
    """Return the reason, for the person, why an action was not taken back: the model's text may be no sentence."""
    if result.outcome is Outcome.ERROR:
        return gettext("I did not undo it: {reason}", reason=without_notes(result.text))
    if result.outcome is Outcome.UNKNOWN:
        return gettext("I cannot tell whether this is undone: {title}.", title=record.title)
    return gettext("I may not undo this: {title}.", title=record.title)
