"""German."""

from abilities.moments.words.words import MomentWords

_TENS = {"zwanzig": 20, "dreißig": 30, "dreissig": 30, "vierzig": 40, "fünfzig": 50}
_ONES = ["ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
_TEENS = ["zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"]
_PART = r"(?:am )?"

GERMAN = MomentWords(
    clocks=(
        (r"(?:um )?(?:punkt )?<h>(?:[:.]<m>)? ?(?:uhr|h)", 0),
        (r"(?:um )?(?:punkt )?<h> ?uhr <m>", 0),
        (r"um (?:punkt )?<h>(?:[:.]<m>)?", 0),
        (r"<h>:<m>", 0),
        (r"<h> ?<half>", 0),
        (r"(?:um )?halb <h>(?: uhr)?", -30),
        (r"(?:um )?viertel nach <h>(?: uhr)?", 15),
        (r"(?:um )?(?:viertel vor|dreiviertel) <h>(?: uhr)?", -15),
        (r"(?:um )?<past>(?: minuten)? nach <h>(?: uhr)?", 0),
        (r"(?:um )?<to>(?: minuten)? vor <h>(?: uhr)?", 0),
    ),
    parts={
        "am (?:frühen )?morgen|morgens|früh|in der früh|frühmorgens": "morning",
        # After a day, "morgen" is its morning; alone it is tomorrow.
        "(?<=heute )morgen|(?<=tag )morgen|(?<=woch )morgen|(?<=tag)morgen|(?<=woch)morgen": "morning",
        f"{_PART}vormittag|vormittags": "forenoon",
        "mittags?|am mittag|zu mittag": "noon",
        f"{_PART}(?:frühen |späten )?nachmittag|nachmittags": "afternoon",
        f"{_PART}(?:frühen |späten )?abend|abends": "evening",
        "in der nacht|nacht": "late night",
        "nachts": "nightly",
        "(?:um )?mitternacht": "midnight",
    },
    parts_of_today={
        "diesen morgen": "morning",
        "diesen nachmittag": "afternoon",
        "diesen abend": "evening",
        "diese nacht": "late night",
    },
    days={"heute": 0, "morgen": 1, "übermorgen|uebermorgen": 2, "überübermorgen": 3, "gestern": -1},
    dates=(r"<d>\.? <month>(?: <y>)?", r"<d>\. ?<mm>\."),
    weekdays={"sonnabend": 5},
    weeks={"(?:in der )?nächsten? woche|(?:in der )?kommenden? woche": 1, "(?:in )?dieser? woche": 0},
    numbers={
        **{word: number for number, word in enumerate([*_ONES, *_TEENS], 1)},
        "eins": 1,
        "zwo": 2,
        **_TENS,
        **{f"{one}und{ten}": tens + ones for ten, tens in _TENS.items() for ones, one in enumerate(_ONES, 1)},
    },
    one="eine[rmns]?|ein",
    units={
        "s|sek|sekunden?": ("seconds", 1),
        "min|minuten?": ("seconds", 60),
        "h|std|stunden?": ("seconds", 3600),
        "tag(?:en?)?": ("days", 1),
        "wochen?": ("days", 7),
        "monat(?:en?)?": ("months", 1),
        "jahr(?:en?)?": ("months", 12),
    },
    spans={
        "(?:einer )?halben stunde|(?:eine )?halbe stunde": 30,
        "(?:einer )?viertelstunde": 15,
        "(?:einer )?dreiviertelstunde": 45,
        "(?:eineinhalb|anderthalb) stunden": 90,
        "zweieinhalb stunden": 150,
    },
    more={"und eine halbe": 30},
    from_now="in|von jetzt an",
    zones=("<place>er zeit", "(?:nach )?(?:der )?zeit (?:in|von) <place>", "in <place>"),
    joined="morgen|früh|vormittag|mittag|nachmittag|abend|nacht",
    fillers="am|im|den|der|die|an|nächste[nrms]?|kommende[nrms]?|diese[nrms]?|und|bitte",
)
