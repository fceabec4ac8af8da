"""The demo model: not a language model but a table of phrases over the real tools, for people without a key.

It is deterministic and pure: the same conversation gets the same answer. `providers.models.litellm_client` asks it as
`demo/valet` in the place of a provider, so its turns take the path of any other. Every answer says that it is the demo
model's.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime

from core import replies
from core.agents.pending_answers import ANSWER, WAIT
from core.json_types import Json, JsonObject
from core.language.catalogue import current_locale, gettext, gettext_noop, listed, speaking
from core.llm.types import LocalModel, ModelAnswer, ToolCall
from core.loop.outcomes import FAILED, NO_ANSWER
from core.tools.toolbox import SWITCH, groups_in
from core.turns.prompt_lines import CONTEXT
from notify.sms.gsm import count_segments, fold
from workbench.demo.days import day_of
from workbench.demo.decisions import coded, pointed, read_pending
from workbench.demo.intent import RESULTS, Found, Intent
from workbench.demo.intents import INTENTS, examples, joined
from workbench.demo.languages import language_written
from workbench.demo.notes import told_of
from workbench.demo.phrases import TABLES
from workbench.demo.transcript import Done, language_of, last_told, now_of, prompt_of, since_last_answer, text_of

MODEL = "demo/valet"
LABEL = gettext_noop("(demo model)")
HOW_TO_ASK = gettext_noop("I know only a few phrases. Ask me: what can you do?")
LET_GO = gettext_noop("All right, I let that go.")
LANGUAGES = gettext_noop("I know phrases in English, Spanish, German, French, Portuguese and Chinese.")

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|(?<=[\u3002\uff1f\uff01])\s*|\n+")
_POLITE = re.compile(
    r"^(?:(?:and|so|ok|okay|then|also|now|please|(?:hey|hi|hello)(?: there)?|valet|tell me"
    r"|(?:can|could|would|will) you)\b[,:!]?\s+)+",
    re.IGNORECASE,
)
_POLITE_END = re.compile(r",?\s+(?:please|for me|thanks|thank you)(?=\??$)", re.IGNORECASE)
_POLITE_ELSEWHERE = [re.compile(rf"^(?:{table.polite})+|(?:{table.polite})(?=\??$)", re.IGNORECASE) for table in TABLES]
_ELSEWHERE = re.compile(r"[^\W\d_\x00-\u024f]")
"""A letter outside the Latin alphabet; signs and pictures belong to no language."""
_AROUND = " .!\u00a1\u00bf\u3002\uff01"
_CLAUSE_END = joined()
_MAX_CLAUSES = 6
_DAYS = ("date", "return_date")
_MAX_QUOTE = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """The request in a sentence; without an intent, the sentence is not understood."""

    sentence: str
    intent: Intent | None = None
    found: Found | None = None
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """The context for understanding sentences. `waiting` has the arguments of pending actions, by code."""

    usable: Collection[str]
    intents: Sequence[Intent]
    now: datetime | None
    waiting: Mapping[str, JsonObject]
    codes: Mapping[str, str]
    """The headings of those that may be decided in words, by code."""
    last: Done | None = None
    """The call that the last answer reported."""


def answer(messages: Sequence[JsonObject], tools: Collection[str], intents: Sequence[Intent] = INTENTS) -> ModelAnswer:
    """Answer a conversation in OpenAI's form: call the tools that are still needed, or say everything in a single text.

    `tools` are the names of those offered. All messages of the person since the last finished answer count.
    """
    language = language_of(messages)
    with speaking(language) if language else nullcontext():
        return _answer(messages, tools, intents, known=bool(language))


def _answer(
    messages: Sequence[JsonObject], tools: Collection[str], intents: Sequence[Intent], *, known: bool
) -> ModelAnswer:
    """Answer in the language that is spoken; `known`: it is the person's.

    A text that is not understood is answered in its own language, not in the person's.
    """
    since = since_last_answer(messages)
    before, after, done = since.before, since.after, since.done
    texts, said = [*before, *after], [text_of(message.get("content")) for message in messages]
    if texts and texts[-1].startswith(replies.SAY_THIS):
        return ModelAnswer(texts[-1].removeprefix(replies.SAY_THIS), model=MODEL, finish_reason="stop")
    prompt = prompt_of(messages)
    tools = tools if WAIT in prompt or CONTEXT not in prompt else {*tools} - {ANSWER}
    usable = frozenset({*tools, *(call.tool for call in done)})
    context = _Known(usable, intents, now_of(prompt), *read_pending(prompt), last_told(messages))
    plans = [plan for text in before for plan in _plans(text, context)]
    if done and not {plan.intent.tool for plan in plans if plan.intent} & {call.tool for call in done}:
        plans = []  # the calls were about something else: the messages before them answered a waiting agent
    plans += [plan for text in after for plan in _plans(text, context)]
    told = list(dict.fromkeys(filter(None, map(told_of, since.notes))))
    if told:  # words beside a file are about it
        plans = [plan for plan in plans if plan.intent]
    parts, calls = _go_through(plans, done, tools, intents, f"demo_{len(messages)}")
    if calls:
        return ModelAnswer(tool_calls=tuple(calls), model=MODEL, finish_reason="tool_calls")
    parts += [*map(_for_person, (call.result for call in done)), *told]
    if parts == [gettext(LET_GO)] and replies.SAY_SOMETHING not in said:
        return ModelAnswer(model=MODEL, finish_reason="stop")  # a card that was cancelled says so itself
    if not parts or not all(plan.intent for plan in plans):
        written = language_written(texts[-1]) if texts else ""
        if written and written != current_locale().language and not any(plan.intent for plan in plans):
            with speaking(written):
                return _answer(messages, tools, intents, known=True)
        parts.append(gettext(HOW_TO_ASK))
        if texts and not (known and (written or not _ELSEWHERE.search(texts[-1]))):
            parts.append(gettext(LANGUAGES))
    return ModelAnswer(_labelled(parts), model=MODEL, finish_reason="stop")


def read_requests(text: str, now: datetime, intents: Sequence[Intent] = INTENTS) -> list[Plan]:
    """Return the requests in a text as a turn with all tools reads it, without pending questions."""
    usable = frozenset(intent.tool for intent in intents if intent.tool) - {ANSWER}
    return _plans(text, _Known(usable, intents, now, {}, {}))


def _go_through(
    plans: Sequence[Plan], done: list[Done], tools: Collection[str], intents: Sequence[Intent], prefix: str
) -> tuple[list[str], list[ToolCall]]:
    """Return the texts for the plans, and the calls that are still needed. Reported results leave `done`."""
    parts: list[str] = []
    results: list[str] = []
    calls: list[ToolCall] = []
    for plan in sorted(plans, key=_comes_last):
        if plan.intent is None:
            parts.append(gettext('I do not understand "{sentence}".', sentence=_short(plan.sentence)))
        elif not plan.intent.tool:
            parts.append(_say(plan, tools, intents))
        elif plan.intent.last and calls:
            break
        else:
            wanted, made = _reached(_filled(plan, results), done)
            if made:
                results.append(_phrase(wanted, made))
                parts.append(results[-1])
            elif wanted.intent and wanted.intent.tool in tools:
                arguments = json.dumps(wanted.arguments, ensure_ascii=False)
                calls.append(ToolCall(f"{prefix}_{len(calls)}", wanted.intent.tool, arguments))
            else:
                parts.append(gettext('I did not get to "{sentence}".', sentence=_short(plan.sentence)))
    return parts, calls


def _reached(plan: Plan, done: list[Done]) -> tuple[Plan, Done | None]:
    """Return the next call of a plan, or its last call and result. Used results leave `done`."""
    made = _take(done, plan)
    while made and plan.intent and plan.intent.then:
        match = re.fullmatch(plan.intent.expected, made.result, re.DOTALL)
        if match is None:
            break
        plan = replace(plan, intent=plan.intent.then, arguments=plan.intent.then.arguments(match))
        made = _take(done, plan)
    return plan, made


def _plans(text: str, known: _Known) -> list[Plan]:
    """Parse a message as a whole, or else by sentence, or else by the clauses of its sentences."""
    whole = _plan(text, known)
    if whole.intent:
        return [whole]
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part.strip(_AROUND + "?\uff1f")]
    plans = [plan for sentence in sentences for plan in _strung(sentence, known)]
    if any(plan.intent for plan in plans):
        return plans
    return [whole] if whole.sentence else []


def _strung(sentence: str, known: _Known) -> list[Plan]:
    """Parse a sentence, or else its clauses if all of them are understood."""
    plans: list[Plan] = []
    whole, rest = _plan(sentence, known), sentence.strip()
    ends = [(end.start(), end.end()) for end in _CLAUSE_END.finditer(rest)]
    if whole.intent or not 0 < len(ends) < _MAX_CLAUSES:
        return [whole]
    starts, stops = [0, *(end for _, end in ends)], [*(start for start, _ in ends), len(rest)]
    at = 0
    while at < len(starts):
        tried = ((stop, _plan(rest[starts[at] : stops[stop]], known)) for stop in range(len(stops) - 1, at - 1, -1))
        stop, plan = next(((stop, plan) for stop, plan in tried if plan.intent), (at, None))
        if plan is None:
            return [whole]
        plans.append(_there(plan, plans))
        at = stop + 1
    return plans


def _there(plan: Plan, before: Sequence[Plan]) -> Plan:
    """Resolve "there" to the destination of the flights before it, on their day unless another is named."""
    arguments = plan.arguments or {}
    flights = [plan.arguments for plan in before if plan.arguments and "destination" in plan.arguments]
    if arguments.get("city") != "there" or not flights:
        return plan
    day = {"date": flights[-1]["date"]} if "date" in flights[-1] else {}
    return replace(plan, arguments={**day, **arguments, "city": flights[-1]["destination"]})


def _plan(text: str, known: _Known) -> Plan:
    sentence = text.replace("’", "'").strip(_AROUND)
    polite = [_POLITE_END.sub("", _POLITE.sub("", sentence)), *(one.sub("", sentence) for one in _POLITE_ELSEWHERE)]
    for variant in dict.fromkeys((sentence, *polite)):
        for intent in known.intents:
            if (intent.tool and intent.tool not in known.usable) or (intent.without in known.usable):
                continue
            if intent.after and (known.last is None or known.last.tool not in intent.after):
                continue
            match = intent.match(variant)
            arguments = _dated(intent.arguments(match), known.now, intent.language) if match else None
            arguments = coded(arguments, known.waiting, known.codes, intent.language) if arguments else arguments
            if match and arguments is not None:
                return Plan(sentence, intent, match, pointed(arguments, known.last))
    return Plan(sentence)


def _dated(arguments: JsonObject | None, now: datetime | None, language: str) -> JsonObject | None:
    """Replace named days by dates; return None if any cannot be parsed."""
    if arguments is None:
        return None
    if isinstance(fields := arguments.get("fields"), dict):
        inner = _dated(fields, now, language)
        return None if inner is None else arguments | {"fields": inner}
    named = {name: day_of(str(arguments[name]), now, language) for name in _DAYS if name in arguments}
    if None in named.values():
        return None
    return arguments | {name: str(day) for name, day in named.items()}


def _comes_last(plan: Plan) -> bool:
    return bool(plan.intent and plan.intent.last)


def _filled(plan: Plan, results: Sequence[str]) -> Plan:
    """Fill in the results of the other plans if an argument needs them."""
    if not _comes_last(plan) or not plan.arguments:
        return plan
    kept = {name: value for name, value in plan.arguments.items() if results or value != RESULTS}
    filled = {name: "\n\n".join(results) if value == RESULTS else value for name, value in kept.items()}
    return replace(plan, arguments=filled)


def _take(done: list[Done], plan: Plan) -> Done | None:
    """Remove and return the result of the call of a plan, so that no other plan gets it too."""
    wanted = plan.intent.tool if plan.intent else ""
    for call in done:
        if call.tool == wanted and _undated(call.arguments) == _undated(plan.arguments):
            done.remove(call)
            return call
    return None


def _undated(arguments: Json) -> Json:
    # A turn may continue the day after it began, when "tomorrow" is another day.
    given = arguments if isinstance(arguments, dict) else {}
    return {name: value for name, value in given.items() if name not in _DAYS}


def _say(plan: Plan, tools: Collection[str], intents: Sequence[Intent]) -> str:
    if plan.intent is None:
        return ""
    fields = (plan.found.groupdict() if plan.found else {}) | (plan.arguments or {})
    known = examples(current_locale().language, tools, intents)
    # As many suggestions as cost nothing more: a text message is billed by its segments.
    said = [gettext(plan.intent.say, **fields, abilities=_abilities(known[:many])) for many in range(len(known) + 1)]
    bound = _cost(said[min(1, len(known))])
    return next(text for text in reversed(said) if _cost(text) <= bound)


def _cost(text: str) -> int:
    """Return the segments of an answer sent by SMS."""
    return count_segments(fold(_labelled([text])))


def _phrase(plan: Plan, made: Done) -> str:
    # The loop's text about a broken tool is meant for a model, not for the person.
    if made.result.startswith((FAILED.format(name=made.tool), NO_ANSWER.format(name=made.tool))):
        return gettext("That did not work just now, as far as I can tell.")
    if plan.intent and (match := re.fullmatch(plan.intent.expected, made.result, re.DOTALL)):
        arguments = plan.arguments or {}
        fields = {"result": made.result, **arguments, **plan.intent.shown(match, arguments)}
        return gettext(plan.intent.phrase, **fields)
    return _for_person(made.result)


def _for_person(result: str) -> str:
    """Return a result in the words for the person."""
    return gettext(LET_GO) if result == replies.CANCELLED else result


def _abilities(known: Sequence[str]) -> str:
    shown = [gettext('"{example}"', example=example) for example in known]
    return gettext("Try {examples}.", examples=listed(shown, "or")) if shown else gettext("I have no tools here.")


def _labelled(parts: Sequence[str]) -> str:
    text = "\n".join(parts)
    # A line below a list would be read as a part of its last entry.
    label = gettext(LABEL)
    beside = "" if label.startswith("\uff08") else " "
    gap = "\n\n" if "\n" in parts[-1] else "\n" if "\n" in text else beside
    return f"{text}{gap}{label}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_QUOTE else f"{line[:_MAX_QUOTE].rstrip()}…"


def _answer_offered(messages: Sequence[JsonObject], tools: Mapping[str, str]) -> ModelAnswer:
    """Answer by the tools that a call reaches: those that are offered, and those of the groups that are closed."""
    return answer(messages, [*tools, *groups_in(tools.get(SWITCH, ""))])


DEMO_MODEL = LocalModel(MODEL, _answer_offered)
