"""What the demo model says of what comes with a message, or in place of one: never the notes that a model reads."""

from datetime import UTC, datetime

import pytest

from abilities.files.hearing import _NOTE as HEARD
from abilities.files.sentences import why_unsensed
from abilities.files.views import view_of
from core.files.kinds import FileFailure, FileKind
from core.files.sentences import why_not
from core.files.types import SeenFile, StoredFile
from core.json_types import JsonObject
from core.loop.control import TurnMessage
from core.loop.steering import spoken
from core.messaging.messages import Origin
from core.messaging.pointed import Pointed, Whose
from workbench.demo import model as demo
from workbench.demo.transcript import UNREAD

NOW = datetime(2026, 11, 29, 18, 30, tzinfo=UTC)
LETTER = StoredFile("f1", FileKind.TEXT, "text/plain", "boiler.txt", 36, 1, cut=False, caption="", sent_at=NOW)
READ = view_of(LETTER, ["The boiler was serviced."])
UNSEEN = why_unsensed(FileFailure.UNSEEN, "", 1)
LOCKED = why_not(FileFailure.LOCKED, "tax.pdf", 1)
SUM = "what is 2 + 3?"


def seen(failure: str = "", *, note: str = "", is_voice: bool = False) -> SeenFile:
    """Return a file as a turn takes it in."""
    return SeenFile("f1", note, failure=failure, is_voice=is_voice)


def message(text: str, *files: SeenFile, origin: Origin = Origin.OWN, points: tuple[Pointed, ...] = ()) -> TurnMessage:
    """Return a message of a person's, with what came with it."""
    return TurnMessage("m1", text, NOW, len(files), origin=origin, points=points, files=files)


def said(message: TurnMessage) -> str:
    """Return what the demo model answers to a message, or which tools it calls."""
    shown: list[JsonObject] = [{"role": "user", "content": one.text} for one in spoken(message)]
    answer = demo.answer(shown, ["calculate"])
    return answer.text or " ".join(f"{call.name} {call.arguments}" for call in answer.tool_calls)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (message("", seen(UNSEEN)), [UNSEEN]),
        (message("What is in this picture?", seen(UNSEEN)), [UNSEEN]),
        (message("", seen(LOCKED), seen(UNSEEN)), [LOCKED, UNSEEN]),
        (message("Please read this", READ), [UNREAD]),
        (message("", READ, READ), [UNREAD]),
        (message("", points=(Pointed("poll", Whose.UNREAD),)), [UNREAD]),
        (TurnMessage("m1", "", NOW, 2), [UNREAD]),
        (message("Lunch at noon?", origin=Origin.FORWARDED), [UNREAD]),
        (message("Lunch at noon?", origin=Origin.VIA_BOT), [UNREAD]),
        (message("Lunch?", points=(Pointed("Hi Ada", Whose.OWN),)), ['I do not understand "Lunch?".', demo.HOW_TO_ASK]),
    ],
)
def test_what_came_is_told_in_a_persons_words(message: TurnMessage, told: list[str]) -> None:
    label = "\n(demo model)" if len(told) > 1 else " (demo model)"
    assert said(message) == "\n".join(told) + label


@pytest.mark.parametrize(
    "message",
    [
        message(SUM, points=(Pointed("What is 1 + 1?", Whose.OWN),)),
        message(SUM, points=(Pointed("1 + 1 = 2", Whose.ASSISTANT, part="2"),)),
        message(SUM, seen(note=HEARD.format(id="f1"), is_voice=True)),
        message(SUM, seen("Say it again.", is_voice=True)),
        message(SUM, READ),
        message(SUM, origin=Origin.CLIENT),
    ],
)
def test_words_beside_a_note_are_done(message: TurnMessage) -> None:
    assert said(message) == 'calculate {"expression": "2 + 3"}'
