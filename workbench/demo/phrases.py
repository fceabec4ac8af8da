"""All phrases of the demo model, in the order in which they are tried. For a new tool, add an entry."""

import re

from core.agents.pending_answers import ANSWER
from core.json_types import JsonObject
from core.messaging.others_words import others_words
from core.turns.decide_tool import DECIDE
from workbench.demo import reading
from workbench.demo.phrase import Found, Phrase, groups
from workbench.demo.reading import ADDRESS, DAY, EVERY, MOMENT

HELP = (
    "I am the demo model: no language model, only a few English phrases and the real tools behind them. {examples} "
    'A real one is chosen on the page, under "Demo model".'
)
NO_ACCOUNT = 'You have connected no email account. To connect one, say "connect my email".'
CODE, CHANGES = "{code}", "changes"
"""The code of the only action that waits, and the argument with the changes to it."""
_PLACE = r"(?:(?! and )[^,.;:?!\n+])+?"
_TO = rf"(?P<to>{ADDRESS}(?:(?:,| and|, and) {ADDRESS})*)"
_MAIL = r"(?:(?:send|write) (?:an? )?(?:e-?mail|mail|message) to|e-?mail|mail|write to)"
_FOUND = r"(?:it|that|this|them|both|everything|(?:(?:the|a) )?(?:results?|summary|flights?|weather|forecast))"
_WEATHER = (
    r"(?:(?:check|show|get)(?: me)? )?(?:(?:what|how)(?: is|'s| will) )?(?:the )?(?:weather|forecast)(?: be)?(?: like)?"
    r"|will it (?:rain|snow)"
)
_SHOW = r"(?:(?:show|list|read|check|get|find|send|give)(?: me)? |what are |what(?:'s| is) )?"
_CALENDAR = r"(?:in|into|to|on|from) (?:my |the )?calendar"
_NAME = r"(?!my\b|your\b|the\b|me\b)[^\W\d_][\w' -]{0,40}?"
_WHICH = r"(?:my |the )?(?:(?:task|reminder)s?(?: number)? )?#?(?P<which>.+?)(?: one| task| reminder)?"
_DROP = r"never ?mind|forget (?:about )?(?:it|that)|i do not need (?:it|that) any more"
_YES = r"yes(?: please| do)?|sure|ok(?:ay)?|do it|go ahead"
_CODED = r"(?:edit (?P<code>\d[a-z][0-9a-z]?)[:,]?\s+)"
_BRIEFING = r"(?:(?:send|give)(?: me)? |i want )?(?:(?:a|my|the) )?(?:daily |morning )?briefing"
_LISTED = r"[^\n]+:\s*\n(?P<lines>\d.+)"
"""A result with a heading and then numbered memories."""


def _decided(verb: str) -> JsonObject:
    return {"decisions": [{"code": CODE, "decision": verb}]}


def _changed(match: Found) -> JsonObject:
    given = match.groupdict()
    changes: JsonObject = {(given.get("field") or "").strip().lower(): match["value"].strip()}
    code = given.get("code")
    return {"decisions": [{"code": code.upper() if code else CODE, "decision": "edit", CHANGES: changes}]}


def _sum(result: str, arguments: JsonObject) -> str:
    return f"{arguments['expression']} = {result}" if re.fullmatch(r"-?[\d.E+-]+", result) else result


def _here(match: Found) -> JsonObject:
    return {"city": "", **(groups(match) or {})}


def _there(match: Found) -> JsonObject:
    watch: JsonObject = {"tool": "at_place", "path": "$.here", "expression": "value", "every_minutes": 2}
    return {"what": match["what"], "tool_arguments": {"place": match["place"]}, "remind_only": True, **watch}


def _lines(result: str, arguments: JsonObject) -> str:
    """Return a result without the first line, which only a model needs."""
    return result.partition("\n")[2].strip() or "There is nothing in your calendar then."


def _mails(result: str, arguments: JsonObject) -> str:
    """Return the senders and subjects of the mails in a result."""
    found = re.findall(r"^From: (.+?)(?: <[^<>\n]*>)?$(?:\n(?!Subject:).*)*\nSubject: (.+)$", result, re.MULTILINE)
    return "\n".join(f"- {others_words(who)}: {others_words(what)}" for who, what in found) or "There is no such mail."


def _page(result: str, arguments: JsonObject) -> str:
    """Return a page's title and its first words."""
    found = re.fullmatch(r"(?:[^\n]+\n)*?Title: ([^\n]+)\n(?:[^\n]+\n)*\n(.+)", result, re.DOTALL)
    return f"“{found[1]}” begins:\n\n{found[2][:400]}" if found else result


def _remembered(result: str, arguments: JsonObject) -> str:
    found = re.fullmatch(_LISTED, result, re.DOTALL)
    return f"I remember:\n\n{found['lines']}" if found else result


def _unread(match: Found) -> JsonObject:
    return {"find": {"unread": True}}


def _writes(match: Found) -> JsonObject:
    sender = match["sender"].strip()
    return {
        "what": f"{sender[:1].upper()}{sender[1:]} has written to you.",
        "event_source": "mail",
        "event_type": "mail.received",
        "event_filter": {"from": {"contains": sender.lower()}},
        "remind_only": True,
    }


def _connected(match: Found) -> JsonObject:
    return {"kinds": [{"calendar": "calendar", "contacts": "contacts"}.get(match["kind"].lower(), "mail")]}


def _contact(match: Found) -> JsonObject:
    return {"name": match["name"].strip(), "addresses": [match["address"].strip()]}


def _text(match: Found) -> JsonObject:
    text = match["text"].strip()
    return {"to": match["to"].strip(), "text": text[:1].upper() + text[1:]}


def _nothing(match: Found) -> JsonObject:
    return {}


PHRASES = (
    # What waits: a card, or an agent that has asked something.
    Phrase(rf"{_CODED}(?:make it|at) (?P<value>.+)", DECIDE, _changed),
    Phrase(rf"{_CODED}(?P<field>[^\W\d][\w' -]*?)\s*[:=]\s*(?P<value>.+)", DECIDE, _changed),
    Phrase(
        rf"{_CODED}?(?:change|make|set) (?:the )?(?P<field>[^\W\d]\w*)(?: to be| to| as)? (?P<value>.+)",
        DECIDE,
        _changed,
    ),
    Phrase(rf"{_CODED}.+", say="Name what to change about it, such as: EDIT 7K subject: Late"),
    Phrase(_YES, DECIDE, lambda _: _decided("approve")),
    Phrase(rf"no|nope|{_DROP}", DECIDE, lambda _: _decided("cancel")),
    Phrase(rf"no|nope|{_DROP}", ANSWER, lambda _: {"drop": True}),
    Phrase(_YES, ANSWER, lambda _: {"words": "yes"}),
    # Time and sums.
    Phrase(
        r"(?:what time (?:it is|is it)|(?:what(?:'s| is) )?the (?:time|date)(?: today)?|what day is it|time)"
        r"(?: (?:in|at) (?P<place>[^?]+?))?(?: now| right now)?",
        "current_time",
        reading.zone,
        example="what time is it in Tokyo?",
    ),
    Phrase(
        r"(?:(?P<ask>what(?: is|'s| are)|how much (?:is|are)|calculate) )?(?P<sum>.+?)\s*=?",
        "calculate",
        reading.expression,
        shown=_sum,
        example="what is 3 percent of 80?",
    ),
    # Notes.
    Phrase(r"(?:(?:take|make|add|write) (?:down )?)?(?:a )?note(?: that| to)?[:,]? (?P<text>.+)", "add_note"),
    Phrase(rf"{_SHOW}(?:all )?(?:my |the )?notes", "list_notes", example="what are my notes?"),
    Phrase(r"(?:forget|delete) (?:my )?note (?:number |#)?(?P<number>\d{1,6})", "forget_note", reading.number),
    # Memory.
    Phrase(
        r"remember(?:,? that|[:,])? (?!to )(?P<statement>.+)", "remember", example="remember that I row on Tuesdays"
    ),
    Phrase(r"what do you (?:know|remember)(?: about me)?", "list_memories", shown=_remembered),
    Phrase(r"(?:do you (?:know|remember)|what do you know about) (?P<question>.+)", "search_memory", shown=_remembered),
    Phrase(
        r"forget (?:everything about |about |that )?(?!(?:it|that|this)$)(?P<what>.+)",
        "ask_to_forget",
        found=_LISTED,
        then=("forget", lambda match: {"memories": [*match["lines"].splitlines()]}),
    ),
    # The weather, flights, and mail with both.
    Phrase(
        rf"(?:{_WEATHER}) (?:in|for|at) (?P<city>{_PLACE})(?: (?:on |for )?(?P<date>{DAY}))?",
        "get_weather",
        example="weather in Berlin tomorrow",
    ),
    # Where the person is.
    Phrase(rf"(?:{_WEATHER}) (?:here|where i am)(?: (?P<date>{DAY}))?", "get_weather", _here),
    Phrase(r"this is (?P<name>(?:the|my) [^\W\d_][\w ]{0,30})", "save_place"),
    Phrase(
        r"remind me (?:to|of) (?P<what>.+?) when i(?: am|'m| get) (?:at|to) (?P<place>(?:the |my )?[\w ]{1,40})",
        "ScheduleTask",
        _there,
    ),
    Phrase(rf"(?:{_WEATHER}) (?P<city>there)(?: (?P<date>{DAY}))?", "get_weather"),
    Phrase(
        rf"(?:(?:search|find|check|show|get|look for)(?: me)?(?: for)? )?(?:a |the )?(?:cheap )?flights?"
        rf"(?: from (?P<origin>{_PLACE}))?(?: to (?P<destination>{_PLACE}))?(?: (?:on |for )?(?P<date>{DAY}))?"
        rf"(?:,? (?:and )?(?:back|returning)(?: on)? (?P<return_date>{DAY}))?",
        "FlightSearchAgent",
        example="flights from Berlin to Rome next Friday",
    ),
    Phrase(
        rf"{_MAIL} {_TO}(?:,? (?:that|saying)|:) (?P<body>.+?),? if (?P<who>{_NAME}) agrees(?:,? too)?",
        "ask_both",
        reading.email_of_both,
        say=NO_ACCOUNT,
    ),
    Phrase(
        rf"{_MAIL} {_TO}(?:,? (?:that|saying)|:) (?P<body>.+)",
        "SendEmailAgent",
        reading.email,
        say=NO_ACCOUNT,
        example="email sam@example.com that I am late",
    ),
    Phrase(
        rf"{_MAIL} {_TO}(?:(?: with)? {_FOUND})?|(?:send|e-?mail) {_FOUND} to {_TO.replace('<to>', '<too>')}",
        "SendEmailAgent",
        reading.results,
        say=NO_ACCOUNT,
        last=True,
    ),
    Phrase(rf"{_MAIL} {_TO} about (?P<subject>[^:]+?)(?:: (?P<body>.+))?", "SendEmailAgent", reading.email, NO_ACCOUNT),
    # Mailboxes, calendars, accounts and contacts.
    Phrase(
        rf"(?:do i have |{_SHOW})(?:my |any )?(?:new|unread) mails?",
        "search_mail",
        _unread,
        shown=_mails,
        example="do I have new mail?",
    ),
    Phrase(r"(?:tell|let) me(?: know)? when (?P<sender>[^,.;:?!]{1,40}?) (?:writes|mails)", "ScheduleTask", _writes),
    Phrase(
        r"connect (?:my |an? )?(?P<kind>e-?mail|mailbox|calendar|contacts)(?: account)?",
        "connect_account",
        _connected,
        example="connect my calendar",
    ),
    Phrase(
        rf"what(?:'s| is| do i have) (?:on|{_CALENDAR})(?: (?P<day>{DAY})| (?P<week>(?:this|next) week))?",
        "list_events",
        reading.days,
        shown=_lines,
        example="what's on tomorrow?",
    ),
    Phrase(rf"(?:add|put) (?P<title>.+?) {_CALENDAR},? (?:for |on )?(?P<start>{MOMENT})", "create_event"),
    Phrase(rf"(?:move|reschedule) (?:the |my )?(?P<event>[^,;:]+?) to (?P<start>{MOMENT})", "change_event"),
    Phrase(
        rf"(?P<name>{_NAME})'s (?:phone )?(?:number|e-?mail|address) is (?P<address>\+?\d[\d ()/-]{{5,20}}|{ADDRESS})",
        "add_contact",
        _contact,
    ),
    Phrase(rf"text (?P<to>{_NAME})(?: that|:| saying) (?P<text>.+)", "MessageSomeoneAgent", _text),
    # Briefings, reminders and tasks.
    Phrase(rf"{_BRIEFING}(?: now)?|brief me", "brief_me", _nothing, example="brief me"),
    Phrase(
        rf"(?:please )?remind me (?:(?P<at>{MOMENT})(?: (?:to |about )?(?P<text>.+))?)",
        "remind_me",
        example="remind me at 3pm to call mum",
    ),
    Phrase(rf"(?:please )?remind me (?:to |about )(?P<text>.+?)(?: (?P<at>{MOMENT}))?", "remind_me"),
    Phrase(rf"(?:please )?remind us (?P<at>{MOMENT}) (?:to |about )?(?P<text>.+)", "remind_group"),
    Phrase(rf"(?:please )?remind us (?:to |about )(?P<text>.+?) (?P<at>{MOMENT})", "remind_group"),
    Phrase(r"undo(?: it| that| (?:the|my) reminder)?", "undo_last", _nothing),
    Phrase(r"undo (?:the |my )?(?P<words>[^,;:?!]{1,60}?)(?: reminder)?", "undo_last"),
    Phrase(
        rf"{EVERY} (?P<remind>remind me (?:to |about )?)?(?P<what>.+)",
        "ScheduleTask",
        reading.every,
        example="every weekday at 8 my notes",
    ),
    Phrase(
        rf"what(?: have i| do i have)(?: got)? (?:scheduled|planned)|{_SHOW}(?:my )?(?:tasks|reminders)",
        "list_tasks",
        example="what have I got scheduled?",
    ),
    Phrase(rf"why (?:did|didn't) {_WHICH} (?:fire|run|come|remind me)", "why_task"),
    Phrase(rf"(?:stop|cancel|delete) {_WHICH}", "stop_task"),
    Phrase(
        r"(?:say|read|tell me) (?:it|that|this)(?: to me)? (?:aloud|out loud),?(?: too)?",
        "say_aloud",
        _nothing,
        say="No voice is set up for me.",
        shown=lambda *_: "I also say it aloud, without a sound: this is a demo.",
    ),
    # The web, and plain talk.
    Phrase(r"(?:read )?(?P<url>https?://[^\s<>\"]+?)[.,;:!)]?", "read_page", shown=_page),
    Phrase(r"help(?: me)?|what (?:can|do) you do|what can i (?:do|ask)(?: you)?|who are you|what are you", say=HELP),
    Phrase(r"(?:hi|hello|hey|good (?:morning|afternoon|evening))(?:,? (?:there|valet))?", say="Hello! {examples}"),
    Phrase(r"(?:many )?(?:thanks|thank you)(?: so much| very much)?", say="You are welcome."),
    Phrase(r"(?:good)?bye|see you|good night", say="Goodbye!"),
    # Words that are nothing else: the answer to an agent.
    Phrase(rf"(?:from )?(?P<origin>{_PLACE})(?:,| on|, on)? (?P<date>{DAY})", ANSWER, reading.fields),
    Phrase(r"(?:i live in|i am in|i'm in|in)? ?(?P<place>[^.?!\n]+?)", ANSWER, reading.city),
)
