"""The English sentences that the demo model understands: for a new ability, add an entry to `ENGLISH`."""

import re

from babel.numbers import get_decimal_symbol

from core.agents.pending_answers import ANSWER
from core.json_types import JsonObject
from core.language.catalogue import current_locale, gettext, gettext_noop
from core.turns.decide_tool import DECIDE
from workbench.demo import briefings, contacts, decisions, events, lists, mail, memories, questions, schedules
from workbench.demo.days import DAY, zone_of
from workbench.demo.intent import RESULTS, Found, Intent
from workbench.demo.intent import named as groups_of
from workbench.demo.sums import read_sum

WHERE = gettext_noop("Where? Ask me for the weather in a city.")
HELP = gettext_noop(
    "I am the demo model: no language model, only a few phrases and the real tools behind them. {abilities} "
    'A real one is chosen on the page, under "Demo model".'
)
HELLO = gettext_noop("Hello! {abilities}")
NO_ACCOUNT = gettext_noop('You have connected no email account. To connect one, say "connect my email".')
WELCOME = gettext_noop("You are welcome.")
GOODBYE = gettext_noop("Goodbye!")
NO_PLACE = gettext_noop("I do not know where {place} is; name a large city, or a timezone such as Europe/Berlin.")
TOLD = gettext_noop("You told me:\n\n{lines}")
NUMBER, SUM = r"-?[\d.E+-]+", "{expression} = {result}"
LISTED = gettext_noop("I remember:\n\n{lines}")


def timezone(match: Found) -> JsonObject | None:
    """Return current_time's arguments; None if the place is unknown."""
    named = match.groupdict().get("place")
    if not named:
        return {}
    zone = zone_of(named)
    return {"timezone": zone} if zone else None


def place(match: Found) -> JsonObject | None:
    """Return the place that is named, if any."""
    return {"place": match["place"].strip()} if match.groupdict().get("place") else None


def city(match: Found) -> JsonObject | None:
    """Return a city as the answer to a question; None if it is unknown."""
    return {"words": match["place"].strip()} if zone_of(match["place"]) else None


def _expression(match: Found) -> JsonObject | None:
    expression = read_sum(match["sum"], asked=bool(match["ask"]))
    return {"expression": expression} if expression else None


def sum_shown(match: Found, arguments: JsonObject) -> dict[str, str]:
    """Return a sum and its result with the decimal sign of the person's language."""
    sign = get_decimal_symbol(current_locale())
    texts = {"expression": str(arguments["expression"]), "result": match[0]}
    return {name: re.sub(r"(?<=\d)\.(?=\d)", sign, text) for name, text in texts.items()}


def _number(match: Found) -> JsonObject | None:
    return {"number": int(match["number"])}


def email(match: Found, whole: str = "{clause}") -> JsonObject:
    """Return SendEmailAgent's arguments; without a subject, the text's beginning is used.

    `whole` makes a sentence of a clause.
    """
    to = re.findall(_ADDRESS, match["to"], re.IGNORECASE)
    groups = match.groupdict()
    clause = (groups.get("clause") or "").strip()
    body = whole.format(clause=clause) if clause else (groups.get("body") or "").strip()
    subject = (groups.get("subject") or "").strip()
    subject = subject or _beginning(body)
    wanted = {"recipient": to, "subject": subject[:1].upper() + subject[1:], "body": body[:1].upper() + body[1:]}
    return {name: value for name, value in wanted.items() if value}


def _fields(match: Found) -> JsonObject:
    return {"fields": groups_of(match)}


def results(match: Found) -> JsonObject:
    """Return SendEmailAgent's arguments for an email with earlier results."""
    groups = match.groupdict()
    to = re.findall(_ADDRESS, groups["to"] or groups["too"], re.IGNORECASE)
    return {"recipient": to, "subject": gettext("For your information"), "body": RESULTS}


def _beginning(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= _SUBJECT else f"{line[:_SUBJECT].rpartition(' ')[0] or line[:_SUBJECT]} …"


_SUBJECT = 50
_ADDRESS = r"[^\s,;:<>()@]+@[^\s,;:<>()@]+\.[a-z]{2,}"
_TO = rf"(?P<to>{_ADDRESS}(?:(?:,| and|, and) {_ADDRESS})*)"
_MAIL = r"(?:(?:send|write) (?:an? )?(?:e-?mail|mail|message) to|e-?mail|mail|write to)"
_FOUND = (
    r"(?:it|that|this|them|both|everything|all(?: of (?:it|this|that|them))?"
    r"|(?:(?:the|a|your) )?(?:results?|summary|details|options|answers?|flights?|weather|forecast)(?: of (?:it|that))?)"
)
_PLACE = r"(?:(?! and )[^,.;:?!\n+])+?"
_WEATHER = (
    r"(?:(?:check|show|get|look up)(?: me)? )?(?:(?:what|how)(?: is|'s| will) )?"
    r"(?:the )?(?:weather|forecast|temperature)(?: forecast)?(?: be)?(?: like)?"
    r"|(?:will it|is it going to) (?:rain|snow|be (?:cold|warm|hot|sunny))|(?:is it|is there) (?:rain|snow)(?:ing)?"
)
_FLIGHTS = (
    r"(?:(?:search|find|check|show|get|look (?:up|for)|i need|i want)(?: me)?(?: for)? )?"
    r"(?:(?:the|a|an|some|any) )?(?:cheap(?:est)? )?(?:flights?|fly)"
)

_NOW = r"(?: today| now| right now| currently| at the moment)?"
_TIME = (
    r"(?:the )?(?:current |local )?(?:time|date)|what time it is"
    r"|what(?: is|'s)? (?:the |today's )?(?:current |local |exact )?(?:time|date|day|weekday)(?: of the week)?"
    r"(?: is (?:it|today))?"
    r"|what(?: is|'s) today|how late is it|today's date"
)
_SUM = r"(?:(?P<ask>what(?: is|'s| are)|how much (?:is|are)|calculate|compute|work out|evaluate) )?(?P<sum>.+?)\s*=?"
_NOTE = (
    r"(?:(?:take|make|add|write|keep|save) (?:down )?)?(?:a |the |this |new )*note(?: down)?(?: to self)?(?: that| to)?"
)
_REMEMBER = r"(?:remember|don't forget|do not forget)(?: that| to)?"
_EXPORT = (
    r"(?:(?:send|give|export|show)(?: me)? )?(?:all (?:of )?)?(?:my |the )?notes (?:as|in|to) (?:a |one )?"
    r"(?:text )?file"
    r"|export (?:all (?:of )?)?(?:my |the )?notes"
)
_LIST = (
    r"(?:(?:what are|what's in|what is in|show|list|read|tell|give)(?: me)?(?: all)?(?: of)? )?(?:my |the |all )*notes"
    r"|(?:do i have|are there)(?: any)? notes|what (?:did i note|have i noted)(?: down)?"
)
_FORGET = r"(?:forget|delete|remove|drop|erase)(?: my| the)? notes?(?: number| no\.?)? ?#?(?P<number>\d{1,9})"

_DROP = r"never ?mind|forget (?:it|that|about it)|drop (?:it|that)|cancel(?: it| that)?|no,? (?:thanks|thank you)"

ENGLISH = (
    questions.ASK,
    Intent(
        rf"(?:{_TIME}){_NOW}(?: (?:in|at) (?P<place>[^.?!\n]+?))?{_NOW}",
        tool="current_time",
        arguments=timezone,
        example="what time is it in Tokyo?",
    ),
    Intent(
        rf"(?:{_TIME}){_NOW} (?:in|at) (?P<place>[^.?!\n]+?){_NOW}",
        say=NO_PLACE,
    ),
    Intent(
        _SUM,
        tool="calculate",
        arguments=_expression,
        expected=NUMBER,
        phrase=SUM,
        shown=sum_shown,
        example="what is 3 percent of 80?",
    ),
    Intent(memories.REMEMBER, tool="remember", example="remember that I am allergic to nuts"),
    Intent(rf"(?:{_NOTE}|{_REMEMBER})(?:\s*[:,]\s*|\s+-?\s*)(?P<text>.+)", tool="add_note", example="note: buy milk"),
    Intent(lists.ADD, tool="add_to_list", arguments=lists.added, example="put milk on the shopping list"),
    Intent(lists.SHOW, tool="show_list"),
    *(Intent(way, tool="tick_off", arguments=lists.ticked) for way in (lists.TICK, lists.CHECK, lists.CHECK_ON)),
    Intent(_LIST, tool="list_notes", example="what are my notes?"),
    Intent(_EXPORT, tool="export_notes"),
    Intent(_FORGET, tool="forget_note", arguments=_number, example="forget note 1"),
    memories.SEARCH,
    Intent(
        memories.LIST,
        tool="list_memories",
        expected=memories.LISTED,
        phrase=LISTED,
        example="what do you know about me?",
    ),
    Intent(rf"(?:{_WEATHER}) (?:in|for|at|of) (?P<city>{_PLACE}) (?:on |for )?(?P<date>{DAY})", tool="get_weather"),
    Intent(
        rf"(?:{_WEATHER})(?: (?P<date>{DAY}))? (?:in|for|at|of) (?P<city>{_PLACE})(?: right now| now)?",
        tool="get_weather",
        example="weather in Berlin tomorrow",
    ),
    Intent(rf"(?:{_WEATHER}) (?P<city>there)(?: (?P<date>{DAY}))?", tool="get_weather"),
    Intent(rf"(?:{_WEATHER})(?: {DAY})?", say=WHERE),
    Intent(
        rf"{_FLIGHTS}(?: from (?P<origin>{_PLACE}))?(?: to (?P<destination>{_PLACE}))?"
        rf"(?: (?:on |for )?(?P<date>{DAY}))?"
        rf"(?:,? (?:and )?(?:back|return(?:ing)?)(?: on)? (?P<return_date>{DAY}))?",
        tool="FlightSearchAgent",
        example="flights from Berlin to Rome next Friday",
    ),
    Intent(
        rf"{_MAIL} {_TO}(?:,? (?:that|saying|to say)|:) (?P<body>.+)",
        tool="SendEmailAgent",
        arguments=email,
        example="email sam@example.com that I am late",
    ),
    Intent(
        rf"(?:{_MAIL} {_TO}(?:(?: with| about)? {_FOUND}(?:(?:,| and|, and) {_FOUND})*)?"
        rf"|(?:send|mail|e-?mail) {_FOUND} to {_TO.replace('<to>', '<too>')})",
        tool="SendEmailAgent",
        arguments=results,
        last=True,
    ),
    Intent(rf"{_MAIL} {_TO} about (?P<subject>[^:]+?)(?:: (?P<body>.+))?", tool="SendEmailAgent", arguments=email),
    Intent(
        rf"{_MAIL} {_TO}.*",
        without="SendEmailAgent",
        say=NO_ACCOUNT,
    ),
    *briefings.ENGLISH,
    *mail.ENGLISH,
    Intent(decisions.MAKE, tool=DECIDE, arguments=decisions.changed),
    *decisions.made(decisions.MAKE),
    Intent(decisions.EDIT_FIELD, tool=DECIDE, arguments=decisions.changed),
    Intent(decisions.EDIT, tool=DECIDE, arguments=decisions.changed),
    Intent(decisions.CHANGE, tool=DECIDE, arguments=decisions.changed),
    Intent(decisions.YES, tool=DECIDE, arguments=lambda _: decisions.decided("approve")),
    Intent(rf"{_DROP}|{decisions.NO}", tool=DECIDE, arguments=lambda _: decisions.decided("cancel")),
    Intent(_DROP, tool=ANSWER, arguments=lambda _: {"drop": True}),
    Intent(rf"(?:from )?(?P<origin>{_PLACE})(?:,| on|, on)? (?P<date>{DAY})", tool=ANSWER, arguments=_fields),
    Intent(r"(?:i live in|i am in|i'm in|in)? ?(?P<place>[^.?!\n]+?)", tool=ANSWER, arguments=city),
    *events.ENGLISH,
    *contacts.ENGLISH,
    Intent(schedules.BEFORE, tool="remind_before", arguments=schedules.before),
    *(Intent(way, tool="ScheduleTask", arguments=schedules.monthly) for way in schedules.MONTHLY),
    Intent(schedules.REMIND_EVERY, tool="ScheduleTask", arguments=schedules.reminder_every),
    Intent(schedules.REMIND, tool="remind_me", arguments=schedules.reminder, example="remind me at 3pm to call mum"),
    Intent(schedules.UNDO, tool="undo_last"),
    Intent(schedules.CAN_UNDO, tool="undo_last", arguments=lambda _: {"show": True}, example="what can you undo?"),
    Intent(schedules.UNDO_WHICH, tool="undo_last"),
    Intent(schedules.UNDO_TASK, tool="undo_last", arguments=lambda match: {"task": int(match["task"])}),
    Intent(schedules.UNDO_NAMED, tool="undo_last"),
    Intent(schedules.EVERY, tool="ScheduleTask", arguments=schedules.every, example="every weekday at 8 my notes"),
    Intent(schedules.LIST, tool="list_tasks", example="what have I got scheduled?"),
    Intent(schedules.WHY, tool="why_task"),
    Intent(schedules.STOP, tool="stop_task"),
    Intent(schedules.PAUSE, tool="pause_task"),
    Intent(schedules.RESUME, tool="resume_task"),
    Intent(
        memories.ASK,
        tool="search_memory",
        arguments=memories.asked,
        expected=memories.LISTED,
        phrase=TOLD,
    ),
    Intent(
        memories.FORGET,
        tool="ask_to_forget",
        expected=memories.LISTED,
        then=memories.FORGET_THEM,
        example="forget that I am allergic to nuts",
    ),
    Intent(decisions.YES, tool=ANSWER, arguments=lambda _: {"words": "yes"}),
    Intent(decisions.NO, tool=ANSWER, arguments=lambda _: {"drop": True}),
    *decisions.which((decisions.YES, decisions.NO)),
    Intent(
        r"help(?: me)?|what (?:can|do) you do|what can i (?:do|ask)(?: you)?|(?:who|what) are you|how do you work",
        say=HELP,
    ),
    Intent(
        r"(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|greetings)(?:,? (?:there|valet|onevalet))?",
        say=HELLO,
    ),
    Intent(r"(?:many )?(?:thanks|thank you|thx|cheers)(?: a lot| so much| very much)?", say=WELCOME),
    Intent(r"(?:good)?bye|see you|good night", say=GOODBYE),
)
"""All English intents, in the order in which they are tried."""
