"""The demo model's understanding of scheduling: patterns, and the arguments from a match."""

import re

from core.json_types import JsonObject
from core.turns.prompt_lines import CONDITION_MET, EVENT_CAME, TRIGGER_MARKS, pattern_of
from workbench.demo.days import split_moment

type Found = re.Match[str]

_CLOCK = r"\d{1,2}(?:[:.]\d{2})?\s*(?:o'?clock|am|pm|a\.m\.|p\.m\.)?|noon|midday|midnight"
_DAY = r"today|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
MOMENT = (
    rf"(?:in (?:\d{{1,4}}|an?|half an) (?:minute|hour|day|week)s?|(?:on )?(?:{_DAY})(?: at)? (?:{_CLOCK})"
    rf"|(?:at )?(?:{_CLOCK})(?: (?:{_DAY}))?|\d{{4}}-\d{{2}}-\d{{2}}[T ]\d{{2}}:\d{{2}}|(?:on )?(?:{_DAY})|tonight)"
)
REMIND = r"(?:(?P<first>[^?]{2,60}?),? )?(?:please )?remind me (?P<rest>.+)"
BEFORE = (
    r"(?P<text>.+?) is (?:on )?(?P<day>\d{4}-\d\d-\d\d|\d{1,2}(?: of)? [a-z]+|[a-z]+ \d{1,2}),? (?:and )?(?:please )?"
    r"remind me (?:(?P<number>\d{1,3}|an?|one|two|three) (?P<unit>day|week)s?|the (?P<eve>day)) before(?: (?:it|that))?"
)
"""A date with a lead; a birthday or an anniversary comes each year."""
EVERY = (
    r"every (?P<other>other |second )?"
    rf"(?P<often>day|weekday|(?:{_DAY.partition('tomorrow|')[2]})|(?P<number>\d{{1,4}}) (?P<unit>minutes|hours)"
    rf"|hour|morning|evening)(?: at (?P<at>{_CLOCK}))?,? (?:please )?(?P<remind>remind me (?:to |about |of )?)?"
    r"(?P<what>.+)"
)
_MONTHLY = (
    rf"(?:(?:on )?(?:the )?|every )(?P<nth>first|second|third|fourth|last) "
    rf"(?P<weekday>{_DAY.partition('tomorrow|')[2]}|day) (?:of|in) (?:each|every|the) month(?: at (?P<at>{_CLOCK}))?"
)
MONTHLY = (
    rf"{_MONTHLY},? (?:please )?remind me (?:to |about |of |that )?(?P<what>.+)",
    rf"(?:please )?remind me {_MONTHLY},? (?:to |about |of |that )?(?P<what>.+)",
    rf"(?:please )?remind me (?:to |about |of |that )?(?P<what>.+?),? {_MONTHLY}",
)
REMIND_EVERY = rf"(?:please )?remind me {EVERY}"
_MINE = r"(?:my |the |all )?"
LIST = (
    r"what(?: have i| do i have|'s| is|'ve i)?(?: got)? (?:scheduled|planned|coming up)"
    rf"|(?:(?:list|show|what are)(?: me)? )?{_MINE}(?:tasks|reminders|schedule)(?: do i have)?"
    r"|what (?:tasks|reminders) (?:are there|do i have)"
)
_WHICH = r"(?:my |the )?(?:(?:task|reminder)s?(?: number)? )?#?(?P<which>.+?)(?: one| task| reminder)?"
UNDO = r"undo(?: it| that| the (?:last (?:thing|change|one)|reminder)| my reminder)?|take (?:it|that|the reminder) back"
UNDO_WHICH = r"undo (?:the |my )?(?P<words>[^\W\d][^,;:?!]{1,60}?)(?: reminder| change| one)?"
CAN_UNDO = r"what can (?:you undo|i undo|be undone)"
UNDO_TASK = r"undo (?:the |my )?(?:(?:task|reminder)(?: number| no\.?)? ?)?#?(?P<task>\d{1,9})"
UNDO_NAMED = r"undo (?P<words>.+)"
STOP = rf"(?:stop|cancel|delete|end|remove) {_WHICH}"
PAUSE = rf"pause {_WHICH}"
RESUME = rf"resume {_WHICH}"
WHY = rf"why (?:did|didn't|did not|has|hasn't)(?: not)? {_WHICH} (?:not )?(?:fire|run|come|go off|happen|remind me)"
_WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_NTH = ("first", "second", "third", "fourth")
_HOURS = {"morning": "8:00", "afternoon": "14:00", "evening": "19:00"}
_PART_OF_DAY = re.compile(rf"\b(?P<day>{_DAY}) (?P<part>{'|'.join(_HOURS)})\b(?! at\b)", re.IGNORECASE)
_OFTEN = re.compile(r"\b(?:every|each)(?: \w+){0,3} (?:day|week|month|year|morning|evening)s?\b", re.IGNORECASE)
_TIMES = {"noon": "12:00", "midday": "12:00", "midnight": "0:00"}
_MARKS = "|".join(re.escape(mark) for mark in TRIGGER_MARKS.values())
_MARK = re.compile(rf"^(?:{_MARKS}) (?:{pattern_of(CONDITION_MET)}|{pattern_of(EVENT_CAME)})?")


def reminder(match: Found) -> JsonObject | None:
    """Return the moment and the words of a reminder, as far as they are given: missing parts are asked for."""
    if match["first"]:
        (moment, left), text = split_moment(_with_hours(match["first"]), "en"), match["rest"]
        if left.strip(" ,"):
            return None
    else:
        moment, text = split_moment(_with_hours(match["rest"]), "en")
    said = re.fullmatch(r"(?P<about>(?:to|about|that|of) )?(?P<words>.*)", text.strip(" ,"), re.DOTALL)
    words = said["words"] if said else ""
    if (not moment and not (said and said["about"] and words)) or _OFTEN.search(words):
        return None  # "remind me how it works" is no wish to be reminded, and a reminder comes once
    return {name: value for name, value in (("at", moment), ("text", words)) if value}


def _with_hours(text: str) -> str:
    """Return a text with the hour at which a part of a day begins for us: "tomorrow morning" is no moment yet."""
    return _PART_OF_DAY.sub(lambda found: f"{found['day']} at {_HOURS[found['part'].lower()]}", text, count=1)


def unmarked(text: str) -> str:
    """Return the first line of a task's instruction, without its mark."""
    match = _MARK.match(text)
    return text[match.end() :].partition("\n")[0] if match else text


def before(match: Found) -> JsonObject:
    """Return remind_before's arguments for "mum's birthday is 4 March, remind me a week before"."""
    words = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
    number = match["number"] or "1"
    days = (words.get(number.lower()) or int(number)) * (7 if (match["unit"] or "").lower() == "week" else 1)
    yearly = re.search(r"birthday|anniversary", match["text"], re.IGNORECASE) is not None
    return {"text": match["text"], "day": match["day"], "days_before": days, **({"yearly": True} if yearly else {})}


def every(match: Found) -> JsonObject | None:
    """Return ScheduleTask's arguments for "every weekday at 8 …"; None if the time cannot be parsed."""
    instruction = match["what"].removeprefix("to ").strip()
    made: JsonObject = {"what": instruction}
    if match["remind"]:
        made["remind_only"] = True
    often = match["often"].lower()
    if match["number"]:
        made["every_minutes"] = int(match["number"]) * (60 if match["unit"].lower() == "hours" else 1)
        return made
    if often == "hour":
        made["cron"] = "0 * * * *"
        return made
    time = _time(match["at"] or _HOURS.get(often, "9am"))
    if time is None:
        return None
    if match["other"]:
        made["every"] = 2
    day = {"weekday": "1-5"}.get(often) or (str(_WEEKDAYS.index(often)) if often in _WEEKDAYS else "*")
    made["cron"] = f"{time[1]} {time[0]} * * {day}"
    return made


def monthly(match: Found) -> JsonObject | None:
    """Return ScheduleTask's arguments for "remind me to … on the last Friday of each month"."""
    time, nth, weekday = _time(match["at"] or "9am"), match["nth"].lower(), match["weekday"].lower()
    if time is None or (weekday == "day" and nth not in ("first", "last")):
        return None
    number = "L" if nth == "last" else str(_NTH.index(nth) + 1)
    if weekday == "day":
        days = f"{number} * *"
    else:
        days = f"* * {_WEEKDAYS.index(weekday)}{number if number == 'L' else f'#{number}'}"
    return {"what": match["what"].strip(), "cron": f"{time[1]} {time[0]} {days}", "remind_only": True}


def reminder_every(match: Found) -> JsonObject | None:
    """Return ScheduleTask's arguments for "remind me every other Tuesday to …"."""
    made = every(match)
    return made | {"remind_only": True} if made else None


def _time(text: str) -> tuple[int, int] | None:
    clock = _TIMES.get(text.strip().lower(), text.strip().lower())
    match = re.fullmatch(r"(\d{1,2})(?:[:.](\d{2}))?\s*(o'?clock|am|pm|a\.m\.|p\.m\.)?", clock)
    if match is None:
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), (match[3] or "").replace(".", "")
    if half in ("am", "pm"):
        hour = hour % 12 + (12 if half == "pm" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else None
