"""What the demo model is asked to do: such a sentence tells nothing of the person that is worth remembering.

It is read as the demo model reads it, so whatever it learns to do is known here too. Where a pattern of its is wide
enough for a statement ("Wetter in Graz nervt mich", "Every Friday I swim"), the statement wins.
"""

import re
from datetime import datetime

from core.json_types import JsonObject
from core.language.asking import asks
from core.language.requesting import requests
from core.llm.types import Role
from core.turns.decide_tool import DECIDE
from workbench.demo.intents import INTENTS
from workbench.demo.model import Plan, read_requests

TELLING = frozenset({"remember", "search_memory", "remind_before", "add_contact"})
"""Tools whose sentences tell something, or are questions, which nobody remembers anyway."""
_NOTE, _EVERY = "add_note", "ScheduleTask"
_OF_TASKS = frozenset({"stop_task", "pause_task", "resume_task", "why_task"})
_PLACES = ("city", "origin", "destination", "place", "rest")
_SOME_DAY = datetime(2027, 1, 1)  # noqa: DTZ001 - a wall time: a day in a sentence need only be read
_I = (
    r"(?:i|i['’](?:m|ve|ll|d)|we|my|our|ich|wir|mein\w*|unser\w*|yo|nosotros|mis?|nuestr[oa]s?|je|nous|mon|ma|mes"
    r"|notre|nos|eu|nós|meus?|minhas?|noss[oa]s?)\b|j['’]\w|我|咱"
)
_OF_ONESELF = re.compile(
    rf"(?:[oa]s? )?(?:{_I})(?!的?(?:笔记|任务|提醒|日程|安排|计划)|都?有(?:什么|哪些))", re.IGNORECASE
)
"""How a sentence begins that tells of the person who says it."""
_ACTS = re.compile(r"(?:.*\b)?(?:(?:i|we|ich|wir|yo|nosotros|je|nous|eu|nós)\b|j['’]\w|我|咱)|\w+oy?\b|\w+ou\b", re.I)
"""What comes again and is no errand: what somebody does themselves, in Spanish and Portuguese by the verb's ending."""
_STATES = re.compile(
    r"[^:：]*?(?<!,)\s(?:is|are|was|were|has|have|had|isn['’]t|aren['’]t|ist|sind|war|waren|hat|haben|es|son|era|está|están"
    r"|est|sont|était|ont|é|são|foi|estão|tem|têm)\s",
    re.IGNORECASE,
)
"""A verb by which a sentence says something; what stands after a colon is what is asked for. After a comma, "was" is
German for "what"."""
_POLITE = re.compile(r",? (?:please|bitte|por favor|s['’]il (?:te|vous) pla[iî]t)$", re.IGNORECASE)
_ANSWER = re.compile(
    r"(?:ok(?:ay)?|no|nein|non|n[aã]o|edit|snooze),? [2-9](?!(?:am|pm|st|nd|rd|th)\b)[a-z][0-9a-z]?\b[^.!?]{0,20}"
    r"|(?:(?:and|but|und|aber|y|pero|et|mais|e|mas) )?(?:without|ohne|sin|sans|sem) [^\W\d_]+(?: [^\W\d_]+){0,2}",
    re.IGNORECASE,
)
"""What only answers us, understood or not: a card by its code, with more words, or what we offered to leave out."""


def tells_nothing(speaker: str, sentence: str) -> bool:
    """Return whether nothing in a sentence is worth remembering, where the demo model answers.

    Its own sentences never are: they are canned, or repeat what a tool returned.
    """
    return speaker == Role.ASSISTANT or is_errand(sentence)


def is_errand(sentence: str) -> bool:
    """Return whether a sentence does nothing but ask the demo model for what it can do."""
    if _decides(sentence):
        return True
    plans = read_requests(sentence, _SOME_DAY)
    return bool(plans) and all(_asks_for_it(plan) for plan in plans)


def _decides(sentence: str) -> bool:
    plain = sentence.strip(" .!。！")
    if _OF_ONESELF.match(plain) or _STATES.match(plain):
        return False
    if _ANSWER.fullmatch(_POLITE.sub("", plain)):
        return True
    return any(intent.match(plain) for intent in INTENTS if intent.tool == DECIDE)


def _asks_for_it(plan: Plan) -> bool:
    """Return whether a request that was understood can be nothing else."""
    if plan.intent is None or plan.found is None or plan.intent.tool in TELLING:
        return False
    said, groups = plan.sentence, plan.found.groupdict()
    if requests(said) or asks(said):
        return True
    given = plan.arguments or {}
    match plan.intent.tool:
        case tool if tool == _NOTE:
            return _is_noted(said, groups["text"])
        case tool if tool == _EVERY:
            return _comes_again(said, given)
        case tool if tool in _OF_TASKS:
            return len(groups["which"].split()) < 3 or bool(re.search(r"\d", groups["which"]))
    if _STATES.match(said):
        return False
    named = given if plan.intent.tool else groups
    places = [str(place) for name in _PLACES if (place := named.get(name))]
    return all(_may_be_place(place) for place in places) and (bool(places) or not _OF_ONESELF.match(said))


def _is_noted(said: str, text: str) -> bool:
    """Return whether a note is taken, and not the person told of, nor a longer word read as the word for a note."""
    joined = said[: len(said) - len(text)][-1:].isalnum() and text[:1].isascii()
    return not (joined or _OF_ONESELF.match(text) or _STATES.match(said))


def _comes_again(said: str, given: JsonObject) -> bool:
    what = str(given.get("what", ""))
    if given.get("remind_only") or is_errand(what) or requests(what):
        return True
    return bool(re.search(r"\d", said)) and not _ACTS.match(what) and not _STATES.match(said)


def _may_be_place(text: str) -> bool:
    """Return whether a text may name a place, and its day: two words, or more that are written as names are."""
    words = re.findall(r"[^\W\d_][\w'’-]*", text)
    if "我" in text:
        return False
    return len(words) < 3 or sum(word[0].isupper() for word in words) * 2 > len(words)
