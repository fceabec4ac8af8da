"""The English sentences that the demo model understands: a new ability is one more entry in `ENGLISH`."""

import re
from functools import cache
from zoneinfo import available_timezones

from core.agents.pending_answers import ANSWER
from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop
from core.turns.decide_tool import DECIDE
from onevalet.demo import decisions, memories, schedules
from onevalet.demo.days import DAY
from onevalet.demo.intent import RESULTS, Found, Intent, named
from onevalet.demo.sums import read_sum

WHERE = gettext_noop("Where? Ask me for the weather in a city.")
HELP = gettext_noop(
    "I am the demo model: no language model, only a few phrases and the real tools behind them. {abilities} "
    "For a real model set ONEVALET_MODEL and its key."
)
HELLO = gettext_noop("Hello! {abilities}")
NO_ACCOUNT = gettext_noop("You have connected no email account; `credentials set email` does, docs/agents.md says how.")
WELCOME = gettext_noop("You are welcome.")
LISTED = gettext_noop("I remember:\n\n{lines}")


def _timezone(match: Found) -> JsonObject | None:
    place = match["place"]
    if not place:
        return {}
    zone = _zones().get(_place(place))
    return {"timezone": zone} if zone else None


def _city(match: Found) -> JsonObject | None:
    return {"words": match["place"].strip()} if _place(match["place"]) in _zones() else None


def _expression(match: Found) -> JsonObject | None:
    expression = read_sum(match["sum"], asked=bool(match["ask"]))
    return {"expression": expression} if expression else None


def _number(match: Found) -> JsonObject | None:
    return {"number": int(match["number"])}


def email(match: Found) -> JsonObject:
    """Return SendEmailAgent's arguments; without a subject the text's beginning is one."""
    to = re.findall(_ADDRESS, match["to"], re.IGNORECASE)
    groups = match.groupdict()
    body, subject = (groups.get("body") or "").strip(), (groups.get("subject") or "").strip()
    subject = subject or _beginning(body)
    wanted = {"recipient": to, "subject": subject[:1].upper() + subject[1:], "body": body[:1].upper() + body[1:]}
    return {name: value for name, value in wanted.items() if value}


def _fields(match: Found) -> JsonObject:
    return {"fields": named(match)}


def _results(match: Found) -> JsonObject:
    to = re.findall(_ADDRESS, match["to"] or match["too"], re.IGNORECASE)
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
_LIST = (
    r"(?:(?:what are|what's in|what is in|show|list|read|tell|give)(?: me)?(?: all)?(?: of)? )?(?:my |the |all )*notes"
    r"|(?:do i have|are there)(?: any)? notes|what (?:did i note|have i noted)(?: down)?"
)
_FORGET = r"(?:forget|delete|remove|drop|erase)(?: my| the)? notes?(?: number| no\.?)? ?#?(?P<number>\d{1,9})"

_DROP = r"never ?mind|forget (?:it|that|about it)|drop (?:it|that)|cancel(?: it| that)?|no,? (?:thanks|thank you)"

ENGLISH = (
    Intent(
        rf"(?:{_TIME}){_NOW}(?: (?:in|at) (?P<place>[^.?!\n]+?))?{_NOW}",
        tool="current_time",
        arguments=_timezone,
        example="what time is it in Tokyo?",
    ),
    Intent(
        rf"(?:{_TIME}){_NOW} (?:in|at) (?P<place>[^.?!\n]+?){_NOW}",
        say=gettext_noop("I do not know where {place} is; name a large city, or a timezone such as Europe/Berlin."),
    ),
    Intent(
        _SUM,
        tool="calculate",
        arguments=_expression,
        expected=r"-?[\d.E+-]+",
        phrase="{expression} = {result}",
        example="what is 3 percent of 80?",
    ),
    Intent(memories.REMEMBER, tool="remember", example="remember that I am allergic to nuts"),
    Intent(rf"(?:{_NOTE}|{_REMEMBER})(?:\s*[:,]\s*|\s+-?\s*)(?P<text>.+)", tool="add_note", example="note: buy milk"),
    Intent(_LIST, tool="list_notes", example="what are my notes?"),
    Intent(_FORGET, tool="forget_note", arguments=_number, example="forget note 1"),
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
        arguments=_results,
        last=True,
    ),
    Intent(rf"{_MAIL} {_TO} about (?P<subject>[^:]+?)(?:: (?P<body>.+))?", tool="SendEmailAgent", arguments=email),
    Intent(
        rf"{_MAIL} {_TO}.*",
        without="SendEmailAgent",
        say=NO_ACCOUNT,
    ),
    Intent(decisions.EDIT, tool=DECIDE, arguments=decisions.changed),
    Intent(decisions.CHANGE, tool=DECIDE, arguments=decisions.changed),
    Intent(decisions.YES, tool=DECIDE, arguments=lambda _: decisions.decided("approve")),
    Intent(rf"{_DROP}|{decisions.NO}", tool=DECIDE, arguments=lambda _: decisions.decided("cancel")),
    Intent(_DROP, tool=ANSWER, arguments=lambda _: {"drop": True}),
    Intent(rf"(?:from )?(?P<origin>{_PLACE})(?:,| on|, on)? (?P<date>{DAY})", tool=ANSWER, arguments=_fields),
    Intent(r"(?:i live in|i am in|i'm in|in)? ?(?P<place>[^.?!\n]+?)", tool=ANSWER, arguments=_city),
    Intent(schedules.REMIND, tool="remind_me", example="remind me at 3pm to call mum"),
    Intent(schedules.REMIND_TO, tool="remind_me"),
    Intent(schedules.UNDO, tool="undo_reminder"),
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
        phrase=gettext_noop("You told me:\n\n{lines}"),
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
    Intent(
        r"help(?: me)?|what (?:can|do) you do|what can i (?:do|ask)(?: you)?|(?:who|what) are you|how do you work",
        say=HELP,
    ),
    Intent(
        r"(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|greetings)(?:,? (?:there|valet|onevalet))?",
        say=HELLO,
    ),
    Intent(r"(?:many )?(?:thanks|thank you|thx|cheers)(?: a lot| so much| very much)?", say=WELCOME),
    Intent(r"(?:good)?bye|see you|good night", say=gettext_noop("Goodbye!")),
    Intent(
        r"\[The person sent .+, not shown here\.?\]", say=gettext_noop("I cannot look at what you sent, only at words.")
    ),
)
"""All English intents, in the order in which they are tried."""

_MORE_PLACES = {
    **dict.fromkeys(("germany", "munich", "hamburg", "cologne", "frankfurt"), "Europe/Berlin"),
    **dict.fromkeys(("france", "lyon"), "Europe/Paris"),
    **dict.fromkeys(("uk", "the uk", "england", "great britain"), "Europe/London"),
    **dict.fromkeys(("italy", "milan"), "Europe/Rome"),
    **dict.fromkeys(("spain", "barcelona"), "Europe/Madrid"),
    **dict.fromkeys(("switzerland", "geneva", "basel"), "Europe/Zurich"),
    **dict.fromkeys(("india", "delhi", "new delhi", "mumbai", "bangalore"), "Asia/Kolkata"),
    **dict.fromkeys(("china", "beijing", "shenzhen"), "Asia/Shanghai"),
    **dict.fromkeys(("japan", "osaka", "kyoto"), "Asia/Tokyo"),
    **dict.fromkeys(("new york city", "nyc", "boston", "washington", "miami"), "America/New_York"),
    **dict.fromkeys(("san francisco", "seattle", "california", "la"), "America/Los_Angeles"),
    **dict.fromkeys(("austin", "dallas", "houston", "texas"), "America/Chicago"),
}


@cache
def _zones() -> dict[str, str]:
    """Return the timezones by full name and by city; of two cities with one name the first zone counts."""
    zones: dict[str, str] = {}
    for name in sorted(available_timezones()):
        zones[_place(name)] = name
        zones.setdefault(_place(name.rpartition("/")[2]), name)
    return zones | _MORE_PLACES


def _place(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").strip(" .,!?").split())
