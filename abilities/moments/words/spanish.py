"""Spanish."""

from abilities.moments.words.words import MomentWords

_TEENS = "diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte"
_TWENTIES = "veintiuna veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
_ONES = ["una", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve"]
_TENS = {"treinta": 30, "cuarenta": 40, "cincuenta": 50}

SPANISH = MomentWords(
    clocks=(
        (r"a las? <h>(?:[:.]<m>)?(?: ?h(?:s|oras)?)?(?: en punto)?(?: ?<half>)?", 0),
        (r"<h>:<m>(?: ?h(?:s|oras)?)?(?: ?<half>)?", 0),
        (r"<h> ?hs?", 0),
        # Alone, "2 horas" may be a span.
        (r"(?<=\w )<h> horas", 0),
        (r"<h> horas(?= de la)", 0),
        (r"<h> ?<half>", 0),
        (r"a las? <h> y media(?: ?<half>)?", 30),
        (r"a las? <h> y cuarto(?: ?<half>)?", 15),
        (r"a las? <h> menos cuarto(?: ?<half>)?", -15),
        (r"a las? <h> y <past>(?: ?<half>)?", 0),
        (r"a las? <h> menos <to>(?: ?<half>)?", 0),
    ),
    parts={
        "(?:por|de|en) la mañana": "morning",
        "(?:al|a) ?(?:mediodía|mediodia)|mediodía|mediodia|del mediodía": "noon",
        "(?:por|de|en) la tarde": "afternoon",
        "(?:por|de|en) la noche": "night",
        "(?:por|de|en) la madrugada": "small hours",
        "(?:a (?:la )?)?medianoche": "midnight",
    },
    parts_of_today={
        "esta mañana": "morning",
        "esta tarde": "afternoon",
        "esta noche": "night",
        "este mediodía": "noon",
    },
    days={"hoy": 0, "mañana": 1, "pasado mañana": 2, "ayer": -1},
    dates=(r"<d> de <month>(?:(?: de| del)? <y>)?", r"<d> <month>(?: <y>)?"),
    weekdays={"miercoles": 2, "sabado": 5},
    weeks={
        "(?:de )?la (?:semana que viene|próxima semana|semana próxima)": 1,
        "(?:de )?esta semana": 0,
    },
    numbers={
        **{word: number for number, word in enumerate([*_ONES, *_TEENS.split(), *_TWENTIES.split()], 1)},
        "un": 1,
        "veintidos": 22,
        "veintitres": 23,
        **_TENS,
        **{f"{ten} y {one}": tens + ones for ten, tens in _TENS.items() for ones, one in enumerate(_ONES, 1)},
    },
    one="una?",
    units={
        "s|segundos?": ("seconds", 1),
        "min|minutos?": ("seconds", 60),
        "h|horas?": ("seconds", 3600),
        "días?|dias?": ("days", 1),
        "semanas?": ("days", 7),
        "mes(?:es)?": ("months", 1),
        "años?": ("months", 12),
    },
    spans={
        "media hora": 30,
        "(?:un )?cuarto de hora": 15,
        "tres cuartos de hora": 45,
        "(?:una )?hora y media": 90,
    },
    more={"y media": 30, "y cuarto": 15},
    from_now="en|dentro de|de aquí a",
    zones=("hora de <place>", "en <place>"),
    fillers="el|la|los|al|a|este|esta|próxim[oa]|que viene|y|de|por favor",
)
