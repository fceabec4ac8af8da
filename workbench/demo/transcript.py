"""The demo model's reading of a conversation in OpenAI's form: words, calls, language and time."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from core import replies
from core.json_types import Json, JsonObject
from core.loop.outside import words_of_others
from core.turns.prompt_lines import CONTEXT, LANGUAGE, NOW, pattern_of, read_lines
from workbench.demo.languages import language_written
from workbench.demo.notes import own_words
from workbench.demo.schedules import unmarked

BRIEFED = "brief_me"
"""The tool that sends a briefing at once."""
_BRIEFED = re.compile(r"\[Not from the person: they were just sent a notification of the kind briefing\b")
_OURS = {replies.SUMMARISE, replies.SAY_SOMETHING, replies.TOOLS_CHANGED, replies.GO_ON}


@dataclass(frozen=True, slots=True)
class Done:
    """A call that was made, and its result."""

    tool: str
    arguments: Json
    result: str


@dataclass(frozen=True, slots=True)
class Since:
    """The events since the last finished answer: messages before and after the first call, notes, and calls done."""

    before: list[str]
    after: list[str]
    notes: list[str]
    done: list[Done]


def since_last_answer(messages: Sequence[JsonObject]) -> Since:
    """Return the events since the last finished answer."""
    before: list[str] = []
    after: list[str] = []
    notes: list[str] = []
    calls: dict[str, tuple[str, Json]] = {}
    done: list[Done] = []
    for message in messages:
        text = text_of(message.get("content"))
        match message.get("role"):
            case "user" if text not in _OURS and not text.startswith(CONTEXT):
                words = own_words(text)
                if words is None:
                    notes.append(text)
                else:
                    (after if calls else before).append(unmarked(words))
            case "assistant" if message.get("tool_calls"):
                calls |= _calls(cast(list[JsonObject], message["tool_calls"]))
            case "assistant":
                before, after, notes, calls, done = [], [], [], {}, []
            case "tool" if not text.endswith(replies.HANDED_OVER):
                if call := calls.get(str(message.get("tool_call_id"))):
                    done.append(Done(*call, replies.without_notes(words_of_others(text))))
    return Since(before, after, notes, done)


def last_told(messages: Sequence[JsonObject]) -> Done | None:
    """Return the call that the last finished answer reported; a scheduled briefing counts as requested."""
    calls: dict[str, tuple[str, Json]] = {}
    told: Done | None = None
    now: Done | None = None
    for message in messages:
        text = text_of(message.get("content"))
        match message.get("role"):
            case "user" if _BRIEFED.match(text):
                now = Done(BRIEFED, {}, "")
            case "assistant" if message.get("tool_calls"):
                calls |= _calls(cast(list[JsonObject], message["tool_calls"]))
            case "assistant":
                told, now, calls = now, None, {}
            case "tool" if call := calls.get(str(message.get("tool_call_id"))):
                now = Done(*call, text)
    return told


def _calls(calls: Sequence[JsonObject]) -> dict[str, tuple[str, Json]]:
    functions = {str(call["id"]): cast(JsonObject, call["function"]) for call in calls}
    return {
        number: (str(function["name"]), json.loads(str(function.get("arguments") or "{}")))
        for number, function in functions.items()
    }


def text_of(content: Json) -> str:
    """Return a message's content as text."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def prompt_of(messages: Sequence[JsonObject]) -> str:
    """Return the system prompt and the newest state of things."""
    texts = [(message.get("role"), text_of(message.get("content"))) for message in messages]
    context = [text for role, text in texts if role == "user" and text.startswith(CONTEXT)]
    return "\n".join([*(text for role, text in texts if role == "system"), *context[-1:]])


def now_of(prompt: str) -> datetime | None:
    """Return the person's time, without a zone, from the prompt; None if it has none."""
    lines = read_lines(NOW, prompt)
    return datetime.fromisoformat(f"{lines[-1]['date']}T{lines[-1]['time']}") if lines else None


def language_of(messages: Sequence[JsonObject]) -> str:
    """Return the person's language, or else the language of their last text; empty if it is not recognized."""
    if stated := re.search(pattern_of(LANGUAGE), prompt_of(messages)):
        return stated["language"]
    texts = (text_of(message.get("content")) for message in reversed(messages) if message.get("role") == "user")
    ours = (replies.SAY_THIS, CONTEXT)
    theirs = (own_words(text) for text in texts if text not in _OURS and not text.startswith(ours))
    said = (unmarked(text) for text in theirs if text)
    return next((language for text in said if (language := language_written(text))), "")
