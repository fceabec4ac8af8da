"""What the model does about a text whose answer is spoken or long, or that comes from a group."""

import re
from collections.abc import Sequence

from core.json_types import JsonObject
from tests.faults.abilities.points import OF_COST, Kind
from tests.scripted_model import Reply, calls, text, text_of

LONG = " ".join(f"The answer goes on with its sentence {number}." for number in range(30))
"""Eight segments by SMS, and one message."""
ASKS = re.compile(rf"(m\d{{5}}-?p\d{{3}}) ({'|'.join((Kind.SPOKEN, Kind.HANDED, *OF_COST))})\b")
_WRITER = re.compile(r"(Person \d+): ")
"""The name with which a member's message begins in a group."""


def answer_for_abilities(messages: Sequence[JsonObject], turn: Sequence[JsonObject]) -> Reply | None:
    """Answer as the text wants it, after the call that it asks for; None for other texts.

    `turn`: the messages of this turn, which may go on after a consent with the call alone.
    """
    said = [text_of(message) for message in messages if message.get("role") == "user"]
    asked = [(match, words) for words in said if (match := ASKS.search(words))]
    # What was handed on before left no answer in the group, so that its call still stands before this text.
    begins = [place for place, message in enumerate(turn) if ASKS.search(text_of(message))]
    results = [message for message in turn[begins[-1] if begins else 0 :] if message.get("role") == "tool"]
    if not asked or not (results or ASKS.search(str(turn))):
        return None
    match, words = asked[-1]
    token, kind = match[1], Kind(match[2])
    if kind in OF_COST:
        return text(f"{token} {LONG}")
    if results:
        return text(f"{token} is answered.")
    if kind is Kind.SPOKEN:
        return calls(("say_aloud", {}))
    if writer := _WRITER.search(words):
        return calls(("ask_in_own_chat", {"name": writer[1]}))
    return calls(("act_approved", {"token": token}))
