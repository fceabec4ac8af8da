"""What the model does about a text that makes the product speak to a peer: it calls one tool, and tells the result."""

import json
import re
from collections.abc import Sequence

from core.json_types import JsonObject
from tests.scripted_model import Reply, calls, text, text_of

SPEAKS = "speaks"
_ASKS = re.compile(rf"(m\d{{5}}-p\d{{3}}) {SPEAKS} (\w+) (\{{.*\}})$")


def asking_for(token: str, tool: str, arguments: JsonObject) -> str:
    """Return a text upon which a tool is called."""
    return f"{token} {SPEAKS} {tool} {json.dumps(arguments)}"


def answer_for_peers(messages: Sequence[JsonObject], turn: Sequence[JsonObject]) -> Reply | None:
    """Call what was asked for, then say what became of it; None for other texts.

    `turn`: the messages of this turn, which may go on after a consent with the call alone.
    """
    said = [text_of(message) for message in messages if message.get("role") == "user"]
    asked = [match for text in said if (match := _ASKS.search(text))]
    results = " ".join(text_of(message) for message in turn if message.get("role") == "tool")
    if not asked or not (results or SPEAKS in str(turn)):
        return None
    token, tool, arguments = asked[-1].groups()
    if results:
        # What a page says to the model is data; the words of a failure stand in it as the person may read them.
        return text(f"{token} heard: {results[:600]}")
    return calls((tool, json.loads(arguments)))
