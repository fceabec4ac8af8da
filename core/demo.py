"""The demo model: no model at all, but a table of phrases over the real tools, for who has no key yet.

Deterministic and pure: the same conversation gets the same answer. `core.model` puts it behind litellm as
`demo/valet`, so that a turn with it goes the way of any other. Every answer of it says what it is.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

from core import sentences
from core.demo_intents import INTENTS, Found, Intent
from core.json_types import Json, JsonObject
from core.model_types import ModelAnswer, ToolCall

PROVIDER = "demo"
MODEL = "demo/valet"
LABEL = "(demo model)"
HOW_TO_CHANGE = (
    "I am only the demo model and know a few phrases; ask me: what can you do? For a real model, set "
    "ONEVALET_MODEL (such as openai/gpt-5-mini) and its key (such as OPENAI_API_KEY), and start again."
)

_OURS = {sentences.SUMMARISE, sentences.SAY_SOMETHING, sentences.TOOLS_CHANGED, sentences.GO_ON}
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")
_POLITE = re.compile(
    r"^(?:(?:and|so|ok|okay|then|also|now|please|(?:hey|hi|hello)(?: there)?|valet|tell me"
    r"|(?:can|could|would|will) you)\b[,:!]?\s+)+",
    re.IGNORECASE,
)
_POLITE_END = re.compile(r",?\s+(?:please|for me|thanks|thank you)(?=\??$)", re.IGNORECASE)
_LONGEST_QUOTE = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sentence asks for; without an intent it is not understood."""

    sentence: str
    intent: Intent | None = None
    found: Found | None = None
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A call that was made, and its result."""

    tool: str
    arguments: Json
    result: str


def answer(messages: Sequence[JsonObject], tools: Collection[str], intents: Sequence[Intent] = INTENTS) -> ModelAnswer:
    """Answer a conversation in OpenAI's form: call the tools that are still wanted, or say it all in one text.

    `tools` are the names of those offered. All that the person said since the last finished answer counts.
    """
    said, done = _since_last_answer(messages)
    usable = {*tools, *(one.tool for one in done)}
    parts: list[str] = []
    calls: list[ToolCall] = []
    understood = True
    for plan in [plan for text in said for plan in _plans(text, usable, intents)]:
        if plan.intent is None:
            understood = False
            parts.append(f'I do not understand "{_short(plan.sentence)}".')
        elif not plan.intent.tool:
            parts.append(_say(plan, tools, intents))
        elif made := _take(done, plan):
            parts.append(_phrase(plan, made))
        elif plan.intent.tool in tools:
            number = f"demo_{len(messages)}_{len(calls)}"
            calls.append(ToolCall(number, plan.intent.tool, json.dumps(plan.arguments, ensure_ascii=False)))
        else:
            parts.append(f'I did not get to "{_short(plan.sentence)}".')
    if calls:
        return ModelAnswer(tool_calls=tuple(calls), model=MODEL, finish_reason="tool_calls")
    parts += [one.result for one in done]
    if not parts or not understood:
        parts.append(HOW_TO_CHANGE)
    return ModelAnswer(_labelled(parts), model=MODEL, finish_reason="stop")


def _since_last_answer(messages: Sequence[JsonObject]) -> tuple[list[str], list[Done]]:
    """Give what the person said since the last finished answer, and what was done about it since."""
    said: list[str] = []
    calls: dict[str, tuple[str, Json]] = {}
    done: list[Done] = []
    for message in messages:
        text = _text(message.get("content"))
        match message.get("role"):
            case "user" if text not in _OURS:
                said.append(text)
            case "assistant" if message.get("tool_calls"):
                calls |= _calls(cast(list[JsonObject], message["tool_calls"]))
            case "assistant":
                said, calls, done = [], {}, []
            case "tool" if call := calls.get(str(message.get("tool_call_id"))):
                done.append(Done(*call, text))
    return said, done


def _calls(calls: Sequence[JsonObject]) -> dict[str, tuple[str, Json]]:
    functions = {str(call["id"]): cast(JsonObject, call["function"]) for call in calls}
    return {
        number: (str(function["name"]), json.loads(str(function.get("arguments") or "{}")))
        for number, function in functions.items()
    }


def _text(content: Json) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _plans(text: str, usable: Collection[str], intents: Sequence[Intent]) -> list[Plan]:
    """Understand a message as a whole, or else each of its sentences."""
    whole = _plan(text, usable, intents)
    sentences_in = [one for one in _SENTENCE_END.split(text.strip()) if one.strip(" .!?")]
    if whole.intent or len(sentences_in) < 2:
        return [whole] if whole.sentence else []
    plans = [_plan(one, usable, intents) for one in sentences_in]
    return plans if any(plan.intent for plan in plans) else [whole]


def _plan(text: str, usable: Collection[str], intents: Sequence[Intent]) -> Plan:
    sentence = text.replace("’", "'").strip().rstrip(" .!")
    polite = _POLITE_END.sub("", _POLITE.sub("", sentence))
    for said in dict.fromkeys((sentence, polite)):
        for intent in intents:
            if intent.tool and intent.tool not in usable:
                continue
            found = intent.match(said)
            arguments = intent.arguments(found) if found else None
            if found and arguments is not None:
                return Plan(sentence, intent, found, arguments)
    return Plan(sentence)


def _take(done: list[Done], plan: Plan) -> Done | None:
    """Take the result of the call that a plan wanted, so that no other plan gets it too."""
    wanted = plan.intent.tool if plan.intent else ""
    for one in done:
        if (one.tool, one.arguments) == (wanted, plan.arguments):
            done.remove(one)
            return one
    return None


def _say(plan: Plan, tools: Collection[str], intents: Sequence[Intent]) -> str:
    groups = plan.found.groupdict() if plan.found else {}
    return plan.intent.say.format(**groups, abilities=_abilities(tools, intents)) if plan.intent else ""


def _phrase(plan: Plan, made: Done) -> str:
    # What the loop tells a model of a tool that broke is not for the person.
    if re.match(rf"{re.escape(made.tool)} (?:failed|gave no answer)", made.result):
        return "That did not work just now, as far as I can tell."
    if plan.intent and re.fullmatch(plan.intent.expected, made.result, re.DOTALL):
        return plan.intent.phrase.format(**(plan.arguments or {}), result=made.result)
    return made.result


def _abilities(tools: Collection[str], intents: Sequence[Intent]) -> str:
    shown = [f'"{intent.example}"' for intent in intents if intent.example and intent.tool in tools]
    return f"Try {', '.join(shown)}." if shown else "I have no tools here."


def _labelled(parts: Sequence[str]) -> str:
    text = "\n".join(parts)
    return f"{text}{'\n' if '\n' in text else ' '}{LABEL}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE].rstrip()}…"
