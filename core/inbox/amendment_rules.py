"""The decision about a message that its person changed after sending it. Pure.

Before its turn its words are replaced; later the change is a message of its own. An edit never decides anything.
"""

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal

from core.json_types import JsonObject, fields_in, moment_in

CORRECTED_WITHIN = timedelta(hours=1)
"""How long after the end of its turn a changed message is answered."""
_KEPT = frozenset("%‰@#&*/\\_?？¿؟")
"""Punctuation that is more than that."""


class RulingKind(StrEnum):
    """The treatment of a change."""

    REPLACES = "replaces"
    """The message has not been read yet: it gets the new words."""
    ANSWERS = "answers"
    """It is a message of its own: it joins the running turn, or begins the next."""
    MESSAGE = "message"
    """Its message is unknown, and the change stands for it."""
    IGNORED = "ignored"
    """It is stored with the message, without its words."""
    RECORDED = "recorded"
    """It is no message of a conversation: only its keys are stored."""


class EditReason(StrEnum):
    """Why a change got no turn of its own; `trace` shows it."""

    BEFORE = "edited_before"
    """Its words replaced those of the message before its turn."""
    SAME = "edited_same"
    """Nothing but white space or punctuation changed, or nothing at all."""
    LATE = "edited_late"
    OLDER = "edited_older"
    """A newer change came first."""
    DECISION = "edited_decision"
    """The message was a decision or a chat word, which counts as it was sent."""
    WORD = "edited_to_word"
    """It would have been a decision or a chat word, which an edit cannot be."""
    UNKNOWN = "edited"
    """Its message was not taken in, or is not its sender's."""


@dataclass(frozen=True, slots=True)
class AmendmentFacts:
    """A changed message as it stands, by `amendment_facts` in core/db/sql/functions/amendments.sql.

    It stands as it was changed last, if that was a message of its own, whose `state` this is then. `received`: this
    change is known. `turn`: the state of the turn that took the message in, None without one. `running`: a turn of the
    conversation runs, which may be taking it in. `changed_at`: its newest change before this.
    """

    known: bool
    elsewhere: bool
    received: bool = False
    state: Literal["waiting", "taken", "done", "ignored"] | None = None
    decided: bool = False
    command: bool = False
    received_at: datetime | None = None
    running: bool = False
    turn: Literal["running", "waiting", "done", "failed", "interrupted", "poison"] | None = None
    finished_at: datetime | None = None
    text: str = ""
    media: tuple[JsonObject, ...] = ()
    changed_at: datetime | None = None

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "AmendmentFacts":
        """Read the result of `amendment_facts`."""
        moments = {name: moment_in(row.get(name)) for name in ("received_at", "finished_at", "changed_at")}
        return cls(**fields_in(row, cls) | moments | {"media": tuple(row.get("media", ()))})


@dataclass(frozen=True, slots=True)
class Edit:
    """A change as it came. `decides`: the new words are a decision or a chat word. `sent_at`: the message's time."""

    text: str
    media: tuple[JsonObject, ...]
    decides: bool
    changed_at: datetime
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class Ruling:
    """The treatment of a change, and its reason. `says`: an answer is due, since a person would wonder."""

    kind: RulingKind
    reason: EditReason | None = None

    @property
    def says(self) -> bool:
        return self.reason in (EditReason.DECISION, EditReason.WORD)

    def to_json(self, says: str) -> JsonObject:
        """Return it as `receive_amendment` takes it."""
        return {"kind": self.kind.value, "reason": self.reason.value if self.reason else "", "says": says}


_SAME = Ruling(RulingKind.RECORDED, EditReason.SAME)
_UNKNOWN = Ruling(RulingKind.RECORDED, EditReason.UNKNOWN)


def rule(facts: AmendmentFacts, edit: Edit) -> Ruling:
    """Return the treatment of a change."""
    if not facts.known:
        return _unknown(facts, edit)
    if facts.received or (facts.text == edit.text and _files(facts.media) == _files(edit.media)):
        return _SAME
    if facts.state == "ignored" and not facts.decided:
        return _UNKNOWN
    if facts.decided or facts.command:
        return _ignored(EditReason.DECISION)
    if edit.decides:
        return _ignored(EditReason.WORD)
    if facts.changed_at is not None and edit.changed_at < facts.changed_at:
        return _ignored(EditReason.OLDER)
    if facts.state == "waiting" and not facts.running:
        return Ruling(RulingKind.REPLACES, EditReason.BEFORE)
    is_open = facts.state == "waiting" or facts.turn in ("running", "waiting")
    ended_at = facts.finished_at or facts.received_at
    if not is_open and ended_at is not None and edit.changed_at - ended_at > CORRECTED_WITHIN:
        return _ignored(EditReason.LATE)
    if substance(facts.text) == substance(edit.text) and _files(facts.media) == _files(edit.media):
        return _SAME
    return Ruling(RulingKind.ANSWERS)


def substance(text: str) -> str:
    """Return a text without mere white space and punctuation.

    Inside a word punctuation is more, as in 1.5, and so is a question mark. A word with @ or / stays whole.
    """
    spaced = "".join(" " if unicodedata.category(letter)[0] in "ZC" else letter for letter in text)
    return " ".join(filter(None, map(_word, spaced.split())))


def _word(written: str) -> str:
    """Return a word without apostrophes, and without the punctuation at its ends, unless a digit follows, as in -5."""
    if "@" in written or "/" in written:
        return written
    word = written.replace("'", "").replace("’", "")
    start, end = 0, len(word)
    while start < end and _is_mere(word[start]):
        start += 1
    while end > start and _is_mere(word[end - 1]):
        end -= 1
    return word[start - (start > 0 and word[start : start + 1].isdigit()) : end]


def _is_mere(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "P" and letter not in _KEPT


def _unknown(facts: AmendmentFacts, edit: Edit) -> Ruling:
    """Return the treatment of a change whose message is not known: it may still be on its way."""
    if facts.elsewhere:
        return _UNKNOWN
    if edit.decides:
        return Ruling(RulingKind.RECORDED, EditReason.WORD)
    if edit.sent_at is None or edit.changed_at - edit.sent_at > CORRECTED_WITHIN:
        return Ruling(RulingKind.RECORDED, EditReason.LATE)
    return Ruling(RulingKind.MESSAGE)


def _ignored(reason: EditReason) -> Ruling:
    return Ruling(RulingKind.IGNORED, reason)


def _files(media: tuple[JsonObject, ...]) -> list[tuple[object, ...]]:
    """Return the identity of files: a provider's reference to the same file may change."""
    return [(file.get("content_type"), file.get("name"), file.get("size")) for file in media]
