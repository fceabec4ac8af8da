"""All that the demo model understands: the English sentences, and those of the tables in `phrases`."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from core.agents.pending_answers import ANSWER
from core.json_types import JsonObject
from core.language.catalogue import gettext_noop
from core.turns.decide_tool import DECIDE
from workbench.demo import decisions, english, events, mail, memories, questions, requests, watches
from workbench.demo.intent import Found, Intent
from workbench.demo.phrases import TABLES, Phrases

_PAGE = (
    r"(?:Address: [^\n]+\n(?:Canonical address: [^\n]+\n)?Title: |Address: )(?P<title>[^\n]+)\n"
    r"(?:[^\n]+\n)*\n(?P<text>.*)"
)
_FIRST_WORDS = 400


def _page(match: Found, arguments: JsonObject) -> dict[str, str]:
    """Return a page's title and its first lines."""
    text = match["text"].strip()
    cut = text[:_FIRST_WORDS].rpartition(" ")[0] or text[:_FIRST_WORDS]
    return {"title": match["title"], "lines": text if len(text) <= _FIRST_WORDS else f"{cut} …"}


def _link(match: Found) -> JsonObject:
    return {"url": match["url"].rstrip(".,;:!?)]}>\"'\u3002\uff0c")}


_LAST = (
    Intent(decisions.UNCLEAR, say=decisions.NAME_IT),
    Intent(watches.PRICE, tool="ScheduleTask", arguments=watches.price),
    Intent(
        r".{0,80}?(?P<url>https?://[^\s<>\"\u3000-\u9fff\uff00-\uffef]+).{0,80}",
        tool="read_page",
        arguments=_link,
        expected=_PAGE,
        phrase=gettext_noop("“{title}” begins:\n\n{lines}"),
        shown=_page,
    ),
    Intent(
        r"\[(?:The person forwarded this|A program wrote this).+",
        say=gettext_noop("I cannot do anything with what others wrote; write to me in your own words."),
    ),
)
"""Intents of every language, tried only after all others."""
_KNOWN = (mail.SEARCH, mail.LINK, events.LIST, events.FREE_TIME, memories.SEARCH, questions.ASK)
_OF_TOOLS = {intent.tool: intent for intent in _KNOWN}
"""The intents behind patterns for these tools; for other tools the groups are the arguments."""


def _decisions(phrases: Phrases) -> Iterator[Intent]:
    drop: JsonObject = {"drop": True}
    yes: JsonObject = {"words": "yes"}
    for pattern in (phrases.make, *phrases.edit):
        yield Intent(rf"(?:{decisions.CODED})?(?:{pattern})", tool=DECIDE, arguments=decisions.changed)
    yield from decisions.made(phrases.make, phrases.language)
    yield Intent(phrases.yes, tool=DECIDE, arguments=lambda _: decisions.decided("approve"))
    yield Intent(phrases.no, tool=DECIDE, arguments=lambda _: decisions.decided("cancel"))
    yield Intent(phrases.yes, tool=ANSWER, arguments=lambda _: yes)
    yield Intent(phrases.no, tool=ANSWER, arguments=lambda _: drop)
    yield from decisions.which((phrases.yes, phrases.no), phrases.language)


def _errands(phrases: Phrases) -> Iterator[Intent]:
    for pattern in phrases.mail:
        yield Intent(pattern, tool="SendEmailAgent", arguments=partial(english.email, whole=phrases.whole))
    for pattern in phrases.results:
        yield Intent(pattern, tool="SendEmailAgent", arguments=english.results, last=True)
    for pattern in (*phrases.mail, *phrases.results):
        yield Intent(pattern, without="SendEmailAgent", say=english.NO_ACCOUNT)
    for pattern in phrases.every:
        yield Intent(pattern, tool="set_briefing", arguments=requests.briefing(phrases))
        yield Intent(pattern, tool="ScheduleTask", arguments=requests.repeated(phrases))
    yield Intent(phrases.briefing, tool="brief_me", arguments=lambda _: {})
    for pattern in phrases.remind:
        yield Intent(pattern, tool="ScheduleTask", arguments=requests.repeated_reminder(phrases))
        yield Intent(pattern, tool="remind_me", arguments=requests.reminder(phrases))
    for pattern in phrases.flights:
        yield Intent(pattern, tool="FlightSearchAgent", arguments=requests.flights(phrases))
    for pattern in phrases.time:
        yield Intent(pattern, tool="current_time", arguments=english.timezone)
        yield Intent(pattern, arguments=english.place, say=english.NO_PLACE)


def _intents(phrases: Phrases) -> Iterator[Intent]:
    """Yield the intents of a language's table, in the order in which they are tried."""
    yield from _decisions(phrases)
    yield from _errands(phrases)
    yield Intent(
        phrases.sums,
        tool="calculate",
        arguments=requests.total(phrases),
        expected=english.NUMBER,
        phrase=english.SUM,
        shown=english.sum_shown,
    )
    yield Intent(phrases.known, tool="list_memories", expected=memories.LISTED, phrase=english.LISTED)
    for tool, patterns in phrases.calls.items():
        for pattern in patterns:
            intent = _OF_TOOLS.get(tool, Intent("", tool=tool, arguments=requests.named))
            intent = replace(intent, pattern=pattern)
            asked = tool == "search_memory"
            yield replace(intent, expected=memories.LISTED, phrase=english.TOLD) if asked else intent
    yield Intent(phrases.remember, tool="remember", arguments=memories.stated)
    yield Intent(phrases.forget, tool="ask_to_forget", expected=memories.LISTED, then=memories.FORGET_THEM)
    yield Intent(phrases.help, say=english.HELP)
    yield Intent(phrases.hello, say=english.HELLO)
    yield Intent(phrases.thanks, say=english.WELCOME)
    yield Intent(phrases.bye, say=english.GOODBYE)
    for pattern in phrases.weather:
        yield Intent(pattern, tool="get_weather", arguments=requests.weather(phrases))
        yield Intent(pattern, say=english.WHERE)
    yield Intent(rf"(?:{phrases.place})?(?P<rest>.+)", tool=ANSWER, arguments=requests.departure(phrases))
    yield Intent(rf"(?:.*?(?:{phrases.place}))?(?P<place>.+)", tool=ANSWER, arguments=english.city)


OTHERS = tuple(replace(intent, language=table.language) for table in TABLES for intent in _intents(table))
INTENTS = (*english.ENGLISH, *OTHERS, *_LAST)
"""All intents, in the order in which they are tried."""


def joined() -> re.Pattern[str]:
    """Return the pattern between two requests in a sentence, in any language."""
    words = "|".join(("and then", "and", "then", *(table.also for table in TABLES if table.language != "zh")))
    chinese = next(table.also for table in TABLES if table.language == "zh")
    return re.compile(
        rf"(?:\s*[,;+]\s*|\s+)(?:{words})\s+|\s*[,;]\s+|\s+\+\s+|\s*[\uff0c\uff1b,]\s*(?:{chinese})?(?=[\u4e00-\u9fff])",
        re.IGNORECASE,
    )


def examples(language: str, tools: Collection[str], intents: Sequence[Intent]) -> list[str]:
    """Return sentences of a language that can be answered with these tools."""
    table = next((table for table in TABLES if table.language == language), None)
    if table is not None:
        known = [example for tool, example in table.examples.items() if tool in tools]
    else:
        # A language's table is made of English intents, whose examples come with them.
        known = [intent.example for intent in intents if intent.example and intent.tool in tools]
    return list(dict.fromkeys(known))
