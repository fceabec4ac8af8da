"""All that the demo model understands: the English sentences, and those of the tables in `phrases`."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from core.agents.pending_answers import ANSWER
from core.json_types import JsonObject
from core.turns.decide_tool import DECIDE
from onevalet.demo import decisions, english, memories
from onevalet.demo.days import split_day, split_moment
from onevalet.demo.intent import Found, Intent
from onevalet.demo.phrases import TABLES, Phrases


def _weather(phrases: Phrases) -> Callable[[Found], JsonObject | None]:
    def arguments(match: Found) -> JsonObject | None:
        groups = match.groupdict()
        said = f"{groups.get('day') or ''} {groups['rest']}".strip(" ,?")
        day, place = split_day(re.sub(rf"^{phrases.place}", "", said, flags=re.IGNORECASE), phrases.language)
        place = re.sub(rf"^{phrases.place}", "", place, flags=re.IGNORECASE).strip(" ,?")
        if not place or re.search(r"\d", place):
            return None
        return {"city": place, "date": day} if day else {"city": place}

    return arguments


def _reminder(phrases: Phrases) -> Callable[[Found], JsonObject | None]:
    def arguments(match: Found) -> JsonObject | None:
        moment, text = split_moment(match["rest"], phrases.language)
        text = re.sub(rf"^(?:(?:{phrases.about})\s*)+", "", text, flags=re.IGNORECASE).strip()
        given: JsonObject = {"at": moment, "text": text}
        return {name: value for name, value in given.items() if value}

    return arguments


def _intents(phrases: Phrases) -> Iterator[Intent]:
    """Yield what a language's table stands for, in the order in which it is tried."""
    drop: JsonObject = {"drop": True}
    yes: JsonObject = {"words": "yes"}
    for pattern in phrases.mail:
        yield Intent(pattern, tool="SendEmailAgent", arguments=english.email)
        yield Intent(pattern, without="SendEmailAgent", say=english.NO_ACCOUNT)
    for pattern in phrases.edit:
        yield Intent(pattern, tool=DECIDE, arguments=decisions.changed)
    yield Intent(phrases.yes, tool=DECIDE, arguments=lambda _: decisions.decided("approve"))
    yield Intent(phrases.no, tool=DECIDE, arguments=lambda _: decisions.decided("cancel"))
    yield Intent(phrases.yes, tool=ANSWER, arguments=lambda _: yes)
    yield Intent(phrases.no, tool=ANSWER, arguments=lambda _: drop)
    for pattern in phrases.remind:
        yield Intent(pattern, tool="remind_me", arguments=_reminder(phrases))
    yield Intent(phrases.remember, tool="remember")
    yield Intent(phrases.known, tool="list_memories", expected=memories.LISTED, phrase=english.LISTED)
    yield Intent(phrases.forget, tool="ask_to_forget", expected=memories.LISTED, then=memories.FORGET_THEM)
    yield Intent(phrases.help, say=english.HELP)
    yield Intent(phrases.hello, say=english.HELLO)
    yield Intent(phrases.thanks, say=english.WELCOME)
    for pattern in phrases.weather:
        yield Intent(pattern, tool="get_weather", arguments=_weather(phrases))
        yield Intent(pattern, tool="", say=english.WHERE)


OTHERS = tuple(replace(intent, language=table.language) for table in TABLES for intent in _intents(table))
INTENTS = (*english.ENGLISH, *OTHERS)
"""All intents, in the order in which they are tried."""


def examples(language: str, tools: Collection[str], intents: Sequence[Intent]) -> list[str]:
    """Return sentences of a language that can be answered with these tools."""
    table = next((table for table in TABLES if table.language == language), None)
    if table is not None:
        return [example for tool, example in table.examples.items() if tool in tools]
    return [intent.example for intent in intents if intent.example and intent.tool in tools]
