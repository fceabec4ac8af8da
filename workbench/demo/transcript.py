"""The demo model's reading of a conversation in OpenAI's form: words, calls, waiting actions, and the time."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from core import replies
from core.json_types import Json, JsonObject
from core.loop.forwarded import CLIENT_ASKS
from core.loop.outside import words_of_others
from core.turns.prompt_lines import CONDITION_MET, CONTEXT, EVENT_CAME, NOW, PENDING, PENDING_BY_CODE, TRIGGER_MARKS

UNREAD = "I cannot look at what you sent, only at words."
_OURS = {replies.SUMMARISE, replies.SAY_SOMETHING, replies.TOOLS_CHANGED, replies.GO_ON}
_NOTE = re.compile(r"\[(?:With this the person|The person|A program wrote)\b[^\n]*\](?:\n|$)")
_FAILED = re.compile(r"\[The person sent a file that you cannot read\b[^\n]*\]\n(?P<why>.+)", re.DOTALL)
_SILENT = re.compile(r"\[The person (?:points at|changed this|said the words above|also sent a voice note)\b")
"""Notes without an answer: quoted messages, and a voice note that is transcribed, or reported elsewhere."""
_FIELDS = {"code": "[0-9A-Z]{2,3}", "date": r"\d{4}-\d\d-\d\d", "event": r"[\w.]+"}


@dataclass(frozen=True, slots=True)
class Done:
    """A call that was made, and its result."""

    tool: str
    arguments: Json
    result: str


@dataclass(slots=True)
class Since:
    """The events since the last finished answer: messages before and after the first call, notes, and calls done."""

    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)


def since_last_answer(messages: Sequence[JsonObject]) -> Since:
    """Return the events since the last finished answer."""
    since, calls = Since(), dict[str, tuple[str, Json]]()
    for message in messages:
        text = text_of(message.get("content"))
        match message.get("role"):
            case "user" if text not in _OURS and not text.startswith(CONTEXT):
                if _NOTE.match(text):
                    since.notes.append(text)
                else:
                    words = _unmarked(text.removeprefix(CLIENT_ASKS).lstrip("\n"))
                    (since.after if calls else since.before).append(words)
            case "assistant" if message.get("tool_calls"):
                for call in cast(list[JsonObject], message["tool_calls"]):
                    function = cast(JsonObject, call["function"])
                    arguments = json.loads(str(function.get("arguments") or "{}"))
                    calls[str(call["id"])] = str(function["name"]), arguments
            case "assistant":
                since, calls = Since(), {}
            case "tool" if not text.endswith(replies.HANDED_OVER):
                if made := calls.get(str(message.get("tool_call_id"))):
                    since.done.append(Done(*made, replies.without_notes(words_of_others(text))))
    return since


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


def pending_of(prompt: str) -> dict[str, JsonObject]:
    """Return the arguments of the actions that the person may decide in words, by code."""
    by_code = {line["code"] for line in read_lines(PENDING_BY_CODE, prompt)}
    lines = [line for line in read_lines(f"{PENDING}\n", f"{prompt}\n") if line["code"] not in by_code]
    return {line["code"]: json.loads(line["action"][line["action"].index("{") :]) for line in lines}


def told_of(note: str) -> str:
    """Return the sentence of a note, such as about a file; empty if it needs none."""
    if match := _FAILED.match(note):
        return words_of_others(match["why"])
    return "" if _SILENT.match(note) else UNREAD


def read_lines(line_format: str, text: str) -> list[dict[str, str]]:
    """Return the fields of each line of a text that was written by a format."""
    return [match.groupdict() for match in re.finditer(f"^{_pattern_of(line_format)}", text, re.MULTILINE)]


def _pattern_of(line_format: str) -> str:
    return re.sub(
        r"\\\{(\w+)\\\}", lambda name: f"(?P<{name[1]}>{_FIELDS.get(name[1], '.*?')})", re.escape(line_format)
    )


_MARK = re.compile(
    rf"^(?:{'|'.join(map(re.escape, TRIGGER_MARKS.values()))}) "
    rf"(?:{_pattern_of(CONDITION_MET)}|{_pattern_of(EVENT_CAME)})?"
)


def _unmarked(text: str) -> str:
    """Return the first line of a task's instruction, without its mark."""
    match = _MARK.match(text)
    return text[match.end() :].partition("\n")[0] if match else text
