"""What becomes of a message that its person changed, by what is known of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.inbox.amendment_rules import AmendmentFacts, Edit, EditReason, Ruling, RulingKind, rule, substance
from core.json_types import JsonObject

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DONE = AmendmentFacts(
    known=True,
    elsewhere=False,
    state="done",
    received_at=NOW - 90 * MINUTE,
    turn="done",
    finished_at=NOW - 30 * MINUTE,
    text="Pay Sam 50",
)
WAITING = replace(DONE, state="waiting", turn=None, finished_at=None)
UNKNOWN = AmendmentFacts(known=False, elsewhere=False)
EDIT = Edit("Pay Sam 60", (), decides=False, changed_at=NOW, sent_at=NOW - 10 * MINUTE)
PICTURE: JsonObject = {"url": "tg:1", "content_type": "image/jpeg", "name": "", "size": 10, "voice": False}

REPLACES = Ruling(RulingKind.REPLACES, EditReason.BEFORE)
ANSWERS = Ruling(RulingKind.ANSWERS)


def recorded(reason: EditReason) -> Ruling:
    return Ruling(RulingKind.RECORDED, reason)


def ignored(reason: EditReason) -> Ruling:
    return Ruling(RulingKind.IGNORED, reason)


@pytest.mark.parametrize(
    ("facts", "edit", "ruling"),
    [
        (WAITING, EDIT, REPLACES),
        (WAITING, replace(EDIT, text="Pay Sam 50!"), REPLACES),
        (replace(WAITING, received_at=NOW - 900 * MINUTE), EDIT, REPLACES),
        (replace(WAITING, running=True), EDIT, ANSWERS),
        (replace(DONE, state="taken", turn="running", finished_at=None), EDIT, ANSWERS),
        (replace(DONE, turn="waiting", finished_at=None, received_at=NOW - 900 * MINUTE), EDIT, ANSWERS),
        (DONE, EDIT, ANSWERS),
        (replace(DONE, finished_at=NOW - 60 * MINUTE), EDIT, ANSWERS),
        (replace(DONE, finished_at=NOW - 61 * MINUTE), EDIT, ignored(EditReason.LATE)),
        (DONE, replace(EDIT, text="pay sam 50"), ANSWERS),
        (DONE, replace(EDIT, text=" Pay  Sam, 50.\n"), recorded(EditReason.SAME)),
        (DONE, replace(EDIT, text=DONE.text), recorded(EditReason.SAME)),
        (DONE, replace(EDIT, text=DONE.text, media=(PICTURE,)), ANSWERS),
        (replace(DONE, media=(PICTURE,)), replace(EDIT, text=DONE.text, media=({**PICTURE, "url": "tg:2"},)),
         recorded(EditReason.SAME)),
        (replace(DONE, changed_at=NOW + MINUTE), EDIT, ignored(EditReason.OLDER)),
        (replace(DONE, changed_at=NOW), EDIT, ANSWERS),
        (replace(WAITING, changed_at=NOW + MINUTE), EDIT, ignored(EditReason.OLDER)),
        (replace(DONE, received=True), EDIT, recorded(EditReason.SAME)),
        (replace(DONE, decided=True), EDIT, ignored(EditReason.DECISION)),
        (replace(DONE, decided=True, state="ignored"), EDIT, ignored(EditReason.DECISION)),
        (replace(DONE, command=True), EDIT, ignored(EditReason.DECISION)),
        (replace(WAITING, command=True), EDIT, ignored(EditReason.DECISION)),
        (replace(DONE, state="ignored"), EDIT, recorded(EditReason.UNKNOWN)),
        (DONE, replace(EDIT, text="OK 7K", decides=True), ignored(EditReason.WORD)),
        (WAITING, replace(EDIT, text="NEW", decides=True), ignored(EditReason.WORD)),
        (UNKNOWN, EDIT, Ruling(RulingKind.MESSAGE)),
        (UNKNOWN, replace(EDIT, sent_at=NOW - 61 * MINUTE), recorded(EditReason.LATE)),
        (UNKNOWN, replace(EDIT, sent_at=None), recorded(EditReason.LATE)),
        (UNKNOWN, replace(EDIT, decides=True), recorded(EditReason.WORD)),
        (replace(UNKNOWN, elsewhere=True), EDIT, recorded(EditReason.UNKNOWN)),
    ],
)  # fmt: skip
def test_what_becomes_of_a_change(facts: AmendmentFacts, edit: Edit, ruling: Ruling) -> None:
    assert rule(facts, edit) == ruling


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("teh cat", "the cat", False),
        ("see you", "See you", False),
        ("no problem", "No, problem", False),
        ("no problem", "no, problem", True),
        ("Dont", "Don't", True),
        ("at 3:00", "at 300", False),
        ("it costs 1.5", "it costs 15", False),
        ("minus 5", "minus -5", False),
        ("5% off", "5 off", False),
        ("well-known", "well known", False),
        ("It is so.", "It is so!!", True),
        ("Is it so?", "Is it so.", False),
        ("(well) known", "well known", True),
        ("mail jo-smith@x.org", "mail jo.smith@x.org", False),
        ("open x.org", "open x.org.", True),
        ("x.com/a?b", "x.com/a.b", False),
        ("open a.b/c", "open a-b/c", False),
        ("open /a-/b", "open /a/b", False),
        ("list a/.", "list a/..", False),
        ("mail o'brien@x.org", "mail obrien@x.org", False),
        ("say ...", "say", True),
        ("👍", "👎", False),
        ("你好。", "你好", True),
        ("a b", "a b\u200b", True),
        ("", " ", True),
    ],
)
def test_white_space_and_punctuation_are_no_substance(old: str, new: str, *, same: bool) -> None:
    assert (substance(old) == substance(new)) is same


def test_only_what_a_person_would_wonder_about_is_answered() -> None:
    says = {reason for reason in EditReason if ignored(reason).says}
    assert says == {EditReason.DECISION, EditReason.WORD}
