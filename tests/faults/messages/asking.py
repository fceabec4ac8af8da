"""What the model does about a text of which its person does more than write it."""

import re
from collections.abc import Sequence

from core.json_types import JsonObject
from tests.faults.messages.points import Kind
from tests.scripted_model import Reply, calls, text, text_of

CHANGED = "changed"
"""A text that was changed ends in this word."""
THEN = "then"
"""The second text of who wants to be reminded begins with this word."""
CLAIM = "I've emailed Sam about lunch."
ASKS = re.compile(rf"(m\d{{5}}-p\d{{3}}) ({'|'.join(Kind)})\b")
_ASKED = (Kind.VOIDED, Kind.THUMB, Kind.REACTED, Kind.TAPBACK)


def answer_for_messages(messages: Sequence[JsonObject], turn: Sequence[JsonObject]) -> Reply | None:
    """Answer with the token and whether the text was changed, after the calls that it asks for; None for other texts.

    `turn`: the messages of this turn, which may go on after a consent with the call alone.
    """
    said = [text_of(message) for message in messages if message.get("role") == "user"]
    asked = [(match, words) for words in said if (match := ASKS.search(words))]
    results = [text_of(message) for message in turn if message.get("role") == "tool"]
    if not asked:
        return None
    match, words = asked[-1]
    token, kind, is_changed = match[1], Kind(match[2]), CHANGED in words
    if kind is Kind.CLAIMED:
        return text(f"{token}: {CLAIM}")  # when it is asked again, too, which the turn does not show
    if not results and not ASKS.search(str(turn)):
        return None
    if not results and not is_changed and (call := _call(token, kind, words)):
        return calls(call)
    return text(f"{token} {CHANGED if is_changed else 'first'}")


def _call(token: str, kind: Kind, words: str) -> tuple[str, JsonObject] | None:
    if kind in _ASKED:
        return "act_approved", {"token": token}
    if kind is Kind.MEANWHILE:
        return "act_again", {"token": token}
    if kind is not Kind.ARRIVED:
        return None
    if not words.startswith(THEN):
        return "save_place", {"name": "the office"}
    watch: JsonObject = {"tool": "at_place", "tool_arguments": {"place": "the office"}, "path": "$.here"}
    return "ScheduleTask", {
        **watch,
        "what": f"{token} keys",
        "expression": "value",
        "every_minutes": 2,
        "remind_only": True,
    }
