"""English."""

from abilities.moments.words.words import MomentWords

_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_ORDINAL = "(?:st|nd|rd|th)"

ENGLISH = MomentWords(
    clocks=(
        (r"(?:at )?<h>(?:[:.]<m>)? ?(?:o'?clock ?)?<half>", 0),
        (r"(?:at )?<h>:<m>", 0),
        (r"at <h>(?:[:.]<m>)?(?: o'?clock)?(?: sharp)?", 0),
        (r"<h> o'?clock", 0),
        (r"at <h> (?P<m>thirty|fifteen|forty-five|forty five)(?: ?<half>)?", 0),
        (r"(?:at )?half[- ]past <h>(?: ?<half>)?", 30),
        (r"(?:at )?(?:a )?quarter past <h>(?: ?<half>)?", 15),
        (r"(?:at )?(?:a )?quarter (?:to|till) <h>(?: ?<half>)?", -15),
        # "9 to 5" is a span: digits need their unit.
        (r"(?:at )?(?P<past>five|ten|twenty[- ]five|twenty) past <h>(?: ?<half>)?", 0),
        (r"(?:at )?<past> minutes? past <h>(?: ?<half>)?", 0),
        (r"(?:at )?(?P<to>five|ten|twenty[- ]five|twenty) to <h>(?: ?<half>)?", 0),
        (r"(?:at )?<to> minutes? to <h>(?: ?<half>)?", 0),
    ),
    parts={
        "(?:in the )?(?:early )?morning": "morning",
        "(?:at )?(?:noon|midday)": "noon",
        "(?:in the )?(?:early |late )?afternoon": "afternoon",
        "(?:in the )?(?:early |late )?evening": "evening",
        "(?:at )?night|in the night|overnight": "night",
        "(?:at )?midnight": "midnight",
    },
    parts_of_today={
        "this (?:early )?morning": "morning",
        "this (?:early |late )?afternoon": "afternoon",
        "this (?:early |late )?evening": "evening",
        "(?:late |later )?(?:tonight|tonite)": "night",
    },
    days={
        "today": 0,
        "tomorrow|tmrw|tomorow|tommorow|tommorrow|tmr": 1,
        "(?:the )?day after tomorrow|overmorrow": 2,
        "yesterday": -1,
    },
    dates=(
        rf"<month> (?:the )?<d>{_ORDINAL}?(?:[ ,]+<y>)?",
        rf"(?:the )?<d>{_ORDINAL}?[ -](?:of )?<month>(?:[ ,-]+<y>)?",
    ),
    weekdays={"tues": 1, "weds": 2, "thur|thurs": 3},
    weeks={"(?:of )?next week": 1, "this week": 0},
    numbers={
        **{word: number for number, word in enumerate([*_ONES, *_TEENS], 1)},
        **_TENS,
        **{f"{ten}[- ]{one}": tens + ones for ten, tens in _TENS.items() for ones, one in enumerate(_ONES, 1)},
    },
    one="an?",
    units={
        "s|secs?|seconds?": ("seconds", 1),
        "m|mins?|minutes?": ("seconds", 60),
        "h|hrs?|hours?": ("seconds", 3600),
        "d|days?": ("days", 1),
        "w|wks?|weeks?": ("days", 7),
        "fortnights?": ("days", 14),
        "months?": ("months", 1),
        "years?": ("months", 12),
    },
    spans={
        "(?:a )?half(?: an?)?[- ]hour": 30,
        "(?:a )?quarter(?: of)? an hour": 15,
        "three[- ]quarters of an hour": 45,
        "an hour and a half|one and a half hours": 90,
    },
    more={"and a half": 30, "and a quarter": 15},
    from_now="in|from now|later from now",
    from_day="from|after",
    zones=("<place> time", "in <place>"),
    fillers="at|on|this|next|the|coming|by|and|of|sharp|please",
    short_weekdays=True,
    numbered_weekdays=True,
    twelve_hours=True,
    slashes=False,
)
