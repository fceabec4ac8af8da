"""French."""

from abilities.moments.words.words import MomentWords

_UNITS = "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
_ONES = ["deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"]
_TENS = {"vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50}

FRENCH = MomentWords(
    clocks=(
        (r"(?:à )?<h> ?(?:h|heures?)(?: ?<m>)?(?: ?pile| précises?)?(?: ?<half>)?", 0),
        (r"(?:à )?<h>:<m>(?: ?<half>)?", 0),
        (r"(?:à )?<h> ?<half>", 0),
        (r"(?:à )?<h> ?(?:h|heures?) et demie?", 30),
        (r"(?:à )?<h> ?(?:h|heures?) et quart", 15),
        (r"(?:à )?<h> ?(?:h|heures?) moins le quart", -15),
        (r"(?:à )?<h> ?(?:h|heures?) moins <to>", 0),
    ),
    parts={
        "(?:du |le |au |dans la )?matin|dans la matinée|matinée": "morning",
        "(?:à |de )?midi": "noon",
        "(?:de |dans |en )?(?:l')?après[- ]midi|(?:en )?(?:début|fin) d'après[- ]midi": "afternoon",
        "(?:du |le |au |dans la )?soir|dans la soirée|(?:en )?soirée": "evening",
        "(?:dans |de |pendant )?la nuit": "nightly",
        "nuit": "late night",
        "(?:à )?minuit": "midnight",
    },
    parts_of_today={
        "ce matin": "morning",
        "ce midi": "noon",
        "cet(?:te)? après[- ]midi": "afternoon",
        "ce soir": "evening",
        "cette nuit": "late night",
    },
    days={"aujourd['’ ]?hui": 0, "demain": 1, "après[- ]demain": 2, "hier": -1},
    dates=(r"(?:le )?<d>(?:er)? <month>(?: <y>)?",),
    weekdays={},
    weeks={"(?:de |dans )?la semaine prochaine": 1, "(?:de )?cette semaine": 0},
    numbers={
        "une?": 1,
        **{word: number for number, word in enumerate(_UNITS.split(), 2)},
        "dix[- ]sept": 17,
        "dix[- ]huit": 18,
        "dix[- ]neuf": 19,
        **_TENS,
        **{f"{ten}[- ]et[- ]une?": tens + 1 for ten, tens in _TENS.items()},
        **{f"{ten}[- ]{one}": tens + ones for ten, tens in _TENS.items() for ones, one in enumerate(_ONES, 2)},
    },
    one="une?",
    units={
        "s|secondes?": ("seconds", 1),
        "min|minutes?": ("seconds", 60),
        "h|heures?": ("seconds", 3600),
        "j|jours?": ("days", 1),
        "semaines?": ("days", 7),
        "mois": ("months", 1),
        "ans?|années?": ("months", 12),
    },
    spans={
        "une demi[- ]heure": 30,
        "un quart d['’]heure": 15,
        "trois quarts d['’]heure": 45,
    },
    more={"et demie?": 30, "et quart": 15},
    from_now="dans|d'ici",
    zones=("(?:à l'|à )?heure de <place>", "à <place>"),
    fillers="le|la|à|au|ce|cet|cette|prochaine?|et|de|s'il te plaît|s'il vous plaît",
)
