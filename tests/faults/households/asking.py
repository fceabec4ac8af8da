"""What the model does about a text that wants a thing done only if somebody else agrees."""

import re
from collections.abc import Sequence

from core.json_types import JsonObject
from tests.faults.extensions.asking import plain
from tests.faults.households.points import JOINT
from tests.scripted_model import Reply, calls, text, text_of

ASKS = re.compile(rf"(m\d{{5}}-p\d{{3}}) ({'|'.join(JOINT)})\b")
_UNKNOWN = ("It is unknown", "The outcome of this call is unknown")


def kin_of(token: str) -> str:
    """Return the name of the other person of a plan's household."""
    return f"Kin {plain(token)}"


def home_of(token: str) -> str:
    """Return the name of a plan's household."""
    return f"Home {plain(token)}"


def answer_for_households(messages: Sequence[JsonObject], turn: Sequence[JsonObject]) -> Reply | None:
    """Call what was asked for if the other agrees, then say what became of it; None for other texts.

    `turn`: the messages of this turn, which may go on after the consents with the call alone.
    """
    said = [text_of(message) for message in messages if message.get("role") == "user"]
    asked = [match for text in said if (match := ASKS.search(text))]
    results = " ".join(text_of(message) for message in turn if message.get("role") == "tool")
    if not asked or not (results or ASKS.search(str(turn))):
        return None
    token = asked[-1][1]
    if any(words in results for words in _UNKNOWN):
        return text(f"{token} unsure")
    if f"approved {plain(token)} done" in results:
        return text(f"{token} acted")
    if "did not agree" in results:
        return text(f"{token} refused")
    if results:
        return text(f"{token} {results[:300]}")
    wanted: JsonObject = {"who": kin_of(token), "action": "act_approved", "arguments": {"token": plain(token)}}
    return calls(("ask_both", wanted))
