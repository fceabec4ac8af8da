"""Portuguese."""

from abilities.moments.words.words import MomentWords

_UNITS = "três quatro cinco seis sete oito nove dez onze doze treze catorze quinze"
_TENS = {"vinte": 20, "trinta": 30, "quarenta": 40, "cinquenta": 50}
_ONES = ["uma", "duas", "três", "quatro", "cinco", "seis", "sete", "oito", "nove"]

PORTUGUESE = MomentWords(
    clocks=(
        (r"[àa]s? <h>(?:[:.h]<m>)?(?: ?h(?:oras?(?! de ))?)?(?: em ponto)?(?: ?<half>)?", 0),
        (r"<h>(?::|h)<m>(?: ?<half>)?", 0),
        (r"<h> ?h", 0),
        # Alone, "2 horas" may be a span.
        (r"(?<=\w )<h> horas", 0),
        (r"<h> horas(?= da)", 0),
        (r"<h> ?<half>", 0),
        (r"[àa]s? <h>(?: horas?)? e meia(?: ?<half>)?", 30),
        (r"[àa]s? <h>(?: horas?)? e <past>(?: ?<half>)?", 0),
        (r"(?:às )?<to> para as? <h>", 0),
        (r"(?:às )?(?:um )?quarto para as? <h>", -15),
    ),
    parts={
        "(?:de|da|pela|na) manhã(?: cedo)?": "morning",
        "(?:ao |a |do )?meio[- ]dia": "noon",
        "(?:de|da|à|pela|na) tarde": "afternoon",
        "(?:de|da|à|pela|na) noite": "night",
        "(?:de|da|na) madrugada": "small hours",
        "(?:à |a |da )?meia[- ]noite": "midnight",
    },
    parts_of_today={
        "esta manhã": "morning",
        "esta tarde": "afternoon",
        "esta noite": "night",
        "esta madrugada": "small hours",
    },
    days={"hoje": 0, "amanhã|amanha": 1, "depois de amanhã": 2, "ontem": -1},
    dates=(r"(?:dia )?<d> de <month>(?:(?: de)? <y>)?", r"(?:dia )?<d> <month>(?: <y>)?"),
    weekdays={"segunda": 0, "terça|terca|terca-feira": 1, "quarta": 2, "quinta": 3, "sexta": 4, "sabado": 5},
    weeks={"(?:da|na) (?:próxima semana|semana que vem)|(?:da |na )?semana que vem": 1, "(?:desta|esta) semana": 0},
    numbers={
        "uma?": 1,
        "dois|duas": 2,
        **{word: number for number, word in enumerate(_UNITS.split(), 3)},
        "quatorze": 14,
        "dezesseis|dezasseis": 16,
        "dezessete|dezassete": 17,
        "dezoito": 18,
        "dezenove|dezanove": 19,
        **_TENS,
        **{f"{ten} e {one}": tens + ones for ten, tens in _TENS.items() for ones, one in enumerate(_ONES, 1)},
        **{f"{ten} e {one}": tens + ones for ten, tens in _TENS.items() for ones, one in ((1, "um"), (2, "dois"))},
    },
    one="uma?",
    units={
        "s|segundos?": ("seconds", 1),
        "min|minutos?": ("seconds", 60),
        "h|horas?": ("seconds", 3600),
        "dias?": ("days", 1),
        "semanas?": ("days", 7),
        "m[êe]s(?:es)?": ("months", 1),
        "anos?": ("months", 12),
    },
    spans={
        "meia hora": 30,
        "(?:um )?quarto de hora": 15,
        "três quartos de hora": 45,
        "(?:uma )?hora e meia": 90,
    },
    more={"e meia": 30},
    from_now="em|daqui a|dentro de",
    zones=("(?:na |no )?(?:hora|horário) de <place>", "em <place>"),
    fillers="no|na|o|a|à|ao|dia|este|esta|nesta|neste|próxim[oa]|que vem|e|de|por favor",
)
