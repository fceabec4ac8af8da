"""The demo model: not a language model but a list of phrases over the real tools, for people without a key.

It is deterministic and pure: the same conversation gets the same answer. It is asked as `demo/valet` in the place of a
provider, so its turns take the path of any other. Every answer says that it is the demo model's.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from core import replies
from core.agents.pending_answers import ANSWER, WAIT
from core.json_types import Json, JsonObject
from core.llm.types import ModelAnswer, ToolCall
from core.loop.outcomes import FAILED, NO_ANSWER
from core.tools.toolbox import SWITCH, groups_in
from core.turns.decide_tool import DECIDE
from core.turns.prompt_lines import CONTEXT
from providers.models.local_model import LocalModel
from workbench.demo import reading
from workbench.demo.phrase import RESULTS, Phrase
from workbench.demo.phrases import CHANGES, CODE, PHRASES
from workbench.demo.transcript import Done, now_of, pending_of, prompt_of, since_last_answer, text_of, told_of

MODEL = "demo/valet"
LABEL = "(demo model)"
HOW_TO_ASK = "I know only a few English phrases. Ask me: what can you do?"
LET_GO = "All right, I let that go."
IN_GROUP, OWN_CHAT = "This is a group: ", "ask_in_own_chat"
"""The beginning of a group's prompt, and the tool by which a member's own requests go on in their own chat."""
BROKEN = "That did not work just now, as far as I can tell."
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")
_CLAUSE_END = re.compile(r"(?:\s*[,;+]\s*|\s+)(?:and then|and|then)\s+|\s*[,;]\s+|\s+\+\s+", re.IGNORECASE)
_POLITE = re.compile(
    r"^(?:(?:and|so|ok|also|now|please|(?:hey|hi|hello)(?: there)?|tell me|(?:can|could|would|will) you)\b[,:!]?\s+)+"
    r"|,?\s+(?:please|for me|thanks|thank you)(?=\??$)",
    re.IGNORECASE,
)
_AROUND = " .!"
_MOST_CLAUSES, _MOST_EXAMPLES, _LONGEST_QUOTE = 6, 3, 60


@dataclass(frozen=True, slots=True)
class Plan:
    """The request in a sentence; without a phrase, the sentence is not understood."""

    sentence: str
    phrase: Phrase | None = None
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """The context for understanding sentences. `pending` has the arguments of actions that wait, by code."""

    usable: Collection[str]
    now: datetime | None
    pending: Mapping[str, JsonObject]


def answer(messages: Sequence[JsonObject], tools: Collection[str]) -> ModelAnswer:
    """Answer a conversation in OpenAI's form: call the tools that are still needed, or say everything in a single text.

    `tools` are the names of those offered. All messages of the person since the last finished answer count.
    """
    since, prompt = since_last_answer(messages), prompt_of(messages)
    texts, done = [*since.before, *since.after], since.done
    if texts and texts[-1].startswith(replies.SAY_THIS):
        return ModelAnswer(texts[-1].removeprefix(replies.SAY_THIS), model=MODEL, finish_reason="stop")
    tools = tools if WAIT in prompt or CONTEXT not in prompt else {*tools} - {ANSWER}
    known = _Known(frozenset({*tools, *(call.tool for call in done)}), now_of(prompt), pending_of(prompt))
    planned = _planned_in_group if IN_GROUP in prompt else _plans
    plans = [plan for text in since.before for plan in planned(text, known)]
    if done and not {plan.phrase.tool for plan in plans if plan.phrase} & {call.tool for call in done}:
        plans = []  # the calls were about something else: the messages before them answered a waiting agent
    plans += [plan for text in since.after for plan in planned(text, known)]
    if told := [*dict.fromkeys(filter(None, map(told_of, since.notes)))]:  # words beside a file are about it
        plans = [plan for plan in plans if plan.phrase]
    parts, calls = _go_through(plans, done, tools, f"demo_{len(messages)}")
    if calls:
        return ModelAnswer(tool_calls=tuple(calls), model=MODEL, finish_reason="tool_calls")
    parts += [*(_result_of(call) for call in done), *told]
    if parts == [LET_GO] and not any(text_of(one.get("content")) == replies.SAY_SOMETHING for one in messages):
        return ModelAnswer(model=MODEL, finish_reason="stop")  # a card that was cancelled says so itself
    if not parts or not all(plan.phrase for plan in plans):
        parts.append(HOW_TO_ASK)
    return ModelAnswer(_labelled(parts), model=MODEL, finish_reason="stop")


def _go_through(
    plans: Sequence[Plan], done: list[Done], tools: Collection[str], prefix: str
) -> tuple[list[str], list[ToolCall]]:
    """Return the texts for the plans, and the calls that are still needed. Reported results leave `done`."""
    parts: list[str] = []
    results: list[str] = []
    calls: list[ToolCall] = []
    for plan in sorted(plans, key=lambda plan: bool(plan.phrase and plan.phrase.last)):
        if plan.phrase is None:
            parts.append(f'I do not understand "{_short(plan.sentence)}".')
        elif not plan.phrase.tool:
            parts.append(plan.phrase.say.replace("{examples}", _examples(tools)))
        elif plan.phrase.last and calls:
            break
        else:
            wanted, made = _reached(_filled(plan, results), done)
            if made and wanted.phrase:
                results.append(_result_of(made, wanted.phrase, wanted.arguments))
                parts.append(results[-1])
            elif wanted.phrase and wanted.phrase.tool in tools:
                arguments = json.dumps(wanted.arguments, ensure_ascii=False)
                calls.append(ToolCall(f"{prefix}_{len(calls)}", wanted.phrase.tool, arguments))
            else:
                parts.append(f'I did not get to "{_short(plan.sentence)}".')
    return parts, calls


def _reached(plan: Plan, done: list[Done]) -> tuple[Plan, Done | None]:
    """Return the next call of a plan, or its last call and result. Used results leave `done`."""
    made = _take(done, plan)
    if made and plan.phrase and plan.phrase.then and (match := re.fullmatch(plan.phrase.found, made.result, re.DOTALL)):
        tool, arguments = plan.phrase.then
        plan = replace(plan, phrase=Phrase("", tool), arguments=arguments(match))
        made = _take(done, plan)
    return plan, made


def _plans(text: str, known: _Known) -> list[Plan]:
    """Parse a message as a whole, or else by sentence, or else by the clauses of its sentences."""
    whole = _plan(text, known)
    if whole.phrase:
        return [whole]
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part.strip(_AROUND + "?")]
    plans = [plan for sentence in sentences for plan in _strung(sentence, known)]
    if any(plan.phrase for plan in plans):
        return plans
    return [whole] if whole.sentence else []


def _planned_in_group(text: str, known: _Known) -> list[Plan]:
    """Parse a member's message, which begins with their name; a request for their own chat alone is handed on there."""
    name, _, words = text.partition(": ")
    anywhere = replace(known, usable={phrase.tool for phrase in PHRASES} - {ANSWER, DECIDE})
    plans = _plans(words, anywhere)
    if any(plan.phrase and plan.phrase.tool and plan.phrase.tool not in known.usable for plan in plans):
        return [Plan(words, Phrase("", OWN_CHAT), {"name": name})]
    return plans


def _strung(sentence: str, known: _Known) -> list[Plan]:
    """Parse a sentence, or else its clauses if all of them are understood."""
    plans: list[Plan] = []
    whole, rest = _plan(sentence, known), sentence.strip()
    ends = [*_CLAUSE_END.finditer(rest)]
    if whole.phrase or not 0 < len(ends) < _MOST_CLAUSES:
        return [whole]
    starts, stops = [0, *(end.end() for end in ends)], [*(end.start() for end in ends), len(rest)]
    at = 0
    while at < len(starts):
        tried = ((stop, _plan(rest[starts[at] : stops[stop]], known)) for stop in range(len(stops) - 1, at - 1, -1))
        stop, plan = next(((stop, plan) for stop, plan in tried if plan.phrase), (at, None))
        if plan is None:
            return [whole]
        plans.append(_there(plan, plans))
        at = stop + 1
    return plans


def _there(plan: Plan, before: Sequence[Plan]) -> Plan:
    """Resolve "there" to the destination of the flights before it, on their day unless another is named."""
    arguments = plan.arguments or {}
    flights = [one.arguments for one in before if one.arguments and "destination" in one.arguments]
    if arguments.get("city") != "there" or not flights:
        return plan
    day = {"date": flights[-1]["date"]} if "date" in flights[-1] else {}
    return replace(plan, arguments={**day, **arguments, "city": flights[-1]["destination"]})


def _plan(text: str, known: _Known) -> Plan:
    sentence = text.replace("’", "'").strip(_AROUND)
    for variant in dict.fromkeys((sentence, _POLITE.sub("", sentence))):
        for phrase in PHRASES:
            is_offered = not phrase.tool or phrase.tool in known.usable
            if not (is_offered or phrase.say) or not (match := phrase.match(variant)):
                continue
            if not is_offered:
                return Plan(sentence, replace(phrase, tool=""))
            arguments = phrase.arguments(match)
            arguments = reading.dated(arguments, known.now) if arguments is not None else None
            arguments = _coded(arguments, known.pending) if arguments is not None else None
            if arguments is not None:
                return Plan(sentence, phrase, arguments)
    return Plan(sentence)


def _coded(arguments: JsonObject, pending: Mapping[str, JsonObject]) -> JsonObject | None:
    """Fill in the code of a decided action and the names of its fields; None unless exactly one can be meant."""
    if "decisions" not in arguments:
        return arguments
    [decision] = cast(list[JsonObject], arguments["decisions"])
    code = next(iter(pending), "") if decision["code"] == CODE and len(pending) == 1 else str(decision["code"])
    if code not in pending:
        return None
    changes = cast(JsonObject, decision.get(CHANGES, {}))
    changed: JsonObject = {}
    for said, value in changes.items():
        names = [said.replace(" ", "_")] if said else ["at", "cron"]
        name = next((name for name in names if name in pending[code]), None)
        if name is None:
            return None
        changed[name] = _like(str(value), pending[code][name])
        if name == "cron" and not said:
            if (time := reading.clock(str(value))) is None:
                return None
            changed[name] = " ".join([str(time[1]), str(time[0]), *str(pending[code][name]).split()[2:]])
    return {"decisions": [decision | {"code": code} | ({CHANGES: changed} if changed else {})]}


def _like(value: str, before: Json) -> Json:
    """Return a value in the type of the value that it replaces."""
    if isinstance(before, list):
        return [part.strip() for part in re.split(r",| and ", value) if part.strip()]
    return int(value) if isinstance(before, int) and not isinstance(before, bool) and value.isdecimal() else value


def _filled(plan: Plan, results: Sequence[str]) -> Plan:
    """Fill in the results of the other plans if an argument needs them."""
    arguments = plan.arguments or {}
    if arguments.get("body") != RESULTS:
        return plan
    body: JsonObject = {"body": "\n\n".join(results)} if results else {}
    return replace(plan, arguments={name: value for name, value in arguments.items() if name != "body"} | body)


def _take(done: list[Done], plan: Plan) -> Done | None:
    """Remove and return the result of the call of a plan, so that no other plan gets it too."""
    wanted = plan.phrase.tool if plan.phrase else ""
    for call in done:
        if call.tool == wanted and _undated(call.arguments) == _undated(plan.arguments):
            done.remove(call)
            return call
    return None


def _undated(arguments: Json) -> Json:
    # A turn may continue the day after it began, when "tomorrow" is another day.
    given = arguments if isinstance(arguments, dict) else {}
    return {name: value for name, value in given.items() if name not in reading.DAYS}


def _result_of(call: Done, phrase: Phrase | None = None, arguments: JsonObject | None = None) -> str:
    # The loop's text about a broken tool is meant for a model, not for the person.
    if call.result.startswith((FAILED.format(name=call.tool), NO_ANSWER.format(name=call.tool))):
        return BROKEN
    if call.result == replies.CANCELLED:
        return LET_GO
    return phrase.shown(call.result, arguments or {}) if phrase else call.result


def _examples(tools: Collection[str]) -> str:
    known = [f'"{phrase.example}"' for phrase in PHRASES if phrase.example and phrase.tool in tools]
    return f"Try {' or '.join(known[:_MOST_EXAMPLES])}." if known else "I have no tools here."


def _labelled(parts: Sequence[str]) -> str:
    text = "\n".join(parts)
    # A line below a list would be read as a part of its last entry.
    gap = "\n\n" if "\n" in parts[-1] else "\n" if "\n" in text else " "
    return f"{text}{gap}{LABEL}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE].rstrip()}…"


def _answer_offered(messages: Sequence[JsonObject], tools: Mapping[str, str]) -> ModelAnswer:
    """Answer by the tools that a call reaches: those that are offered, and those of the groups that are closed."""
    return answer(messages, [*tools, *groups_in(tools.get(SWITCH, ""))])


DEMO_MODEL = LocalModel(MODEL, _answer_offered)
