"""The words of six languages around a moment: clock times, words for a time, and what a date parser does not know.

The parser is told of days and spans only. It reads a clock time that it does not understand as no time at all
("tomorrow at 9" as tomorrow at this minute), so clock times are taken out of the text before.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_HOUR = r"(?P<hour>\d{1,2})"
_MINUTE = r"(?P<minute>\d{2})"
_END = r"(?![\w.:/-])"
_GERMAN_PARTS = r"(?: (?P<part>morgens|nachmittags|abends))?"
_FRENCH_PARTS = r"(?: (?P<part>du matin|de l'après-midi|du soir))?"


@dataclass(frozen=True, slots=True)
class MomentWords:
    """One language. A pattern of `clocks` has the groups hour and, where they exist, minute, part and half."""

    cues: str
    """One of these stands in every moment of the language that has words."""
    from_now: str
    """What marks a span that is counted from now."""
    clocks: tuple[str, ...]
    times: Mapping[str, tuple[int, int]]
    """Words for a time of day."""
    afternoon: frozenset[str] = frozenset()
    """Parts of a day after noon."""
    rewrites: tuple[tuple[str, str], ...] = ()
    """Patterns, and what stands for their text where the date parser does not know it."""
    fillers: str = ""
    """Words at either end of a day that the date parser does not know."""
    twelve_hours: bool = False
    """Whether "at 9" after nine o'clock means the evening."""


ENGLISH = MomentWords(
    cues=r"^[\x00-\x7f]+$",
    from_now=r"^in\b|\bfrom now$",
    clocks=(
        rf"(?:\bat )?\b{_HOUR}(?:[:.]{_MINUTE})? ?(?:o'?clock ?)?(?P<part>am|pm|a\.m\.|p\.m\.)(?!\w)",
        rf"\b(?:at )?{_HOUR}:{_MINUTE}{_END}",
        rf"\bat {_HOUR}(?:[:.]{_MINUTE})?(?: o'?clock)?{_END}",
        rf"\b{_HOUR} o'?clock{_END}",
        rf"(?<=day|row) {_HOUR}$",
    ),
    times={"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0), "tonight": (20, 0)},
    afternoon=frozenset({"pm"}),
    rewrites=(
        (r"\bhalf an hour\b", "30 minutes"),
        (r"\b(?:an?|one) (?=hour|minute|day|week)", "1 "),
        (r"\bthe day after tomorrow\b", "day after tomorrow"),
    ),
    fillers=r"at|on|this|next|the",
    twelve_hours=True,
)
_GERMAN = MomentWords(
    cues=r"uhr|\bum\b|\bam\b|heute|morgen|mittag|mitternacht|tage?n?\b|woche|stunde|minute|[a-z]+tag\b|\d\.",
    from_now=r"^in\b",
    clocks=(
        rf"(?:\bum )?\b{_HOUR}(?:[:.]{_MINUTE})? ?uhr(?: (?P<after>\d{{2}}))?{_GERMAN_PARTS}{_END}",
        rf"\bum {_HOUR}(?:[:.]{_MINUTE})?{_GERMAN_PARTS}{_END}",
        rf"\b{_HOUR}:{_MINUTE}{_END}",
    ),
    times={"mittags": (12, 0), "mittag": (12, 0), "mitternacht": (0, 0), "heute abend": (20, 0)},
    afternoon=frozenset({"nachmittags", "abends"}),
    rewrites=(
        (r"\beiner halben stunde\b", "30 minuten"),
        (r"\beiner? (?=stunde|minute|woche)", "1 "),
        (r"\b(?:früh|vormittag)\b", ""),
    ),
    fillers=r"am|im|den|an|nächste[nrms]?|kommende[nrms]?|diese[nrms]?",
)
_SPANISH = MomentWords(
    cues=r"\ba las?\b|hoy|mañana|noche|mediod|medianoche|\ben\b|dentro|[a-z]+(?:es|ado|ingo)\b|\bde\b",
    from_now=r"^(?:en|dentro de)\b",
    clocks=(
        rf"\ba las? {_HOUR}(?:[:.]{_MINUTE})?(?: ?h(?:oras)?)?(?: de la (?P<part>mañana|tarde|noche))?{_END}",
        rf"\b{_HOUR}:{_MINUTE}(?: ?h(?:oras)?)?{_END}",
        rf"\b{_HOUR} ?h(?:oras)?{_END}",
    ),
    times={"mediodía": (12, 0), "medianoche": (0, 0), "esta noche": (20, 0)},
    afternoon=frozenset({"tarde", "noche"}),
    rewrites=(
        (r"\bpasado mañana\b", "en 2 días"),
        (r"\bmedia hora\b", "30 minutos"),
        (r"\buna? (?=hora|día|semana)", "1 "),
        (r"\bdos (?=hora|día|semana)", "2 "),
        (r"\btres (?=hora|día|semana)", "3 "),
    ),
    fillers=r"el|la|al|a|este|próxim[oa]|que viene",
)
_FRENCH = MomentWords(
    cues=r"\bà\b|\d ?h\b|\d ?h\d|heure|demain|aujourd|midi|minuit|soir|\bdans\b|\ble\b|[a-z]+(?:di|che)\b",
    from_now=r"^dans\b",
    clocks=(
        rf"(?<!dans )(?:\bà )?\b{_HOUR} ?(?:h|heures?)(?: ?{_MINUTE})?{_FRENCH_PARTS}{_END}",
        rf"(?:\bà )?\b{_HOUR}:{_MINUTE}{_END}",
    ),
    times={"midi": (12, 0), "minuit": (0, 0), "ce soir": (20, 0)},
    afternoon=frozenset({"de l'après-midi", "du soir"}),
    rewrites=(
        (r"\bune demi-heure\b", "30 minutes"),
        (r"\bune (?=heure|minute|semaine)", "1 "),
        (r"(?<=dans )(\d+) ?h(?:eures?)?\b", r"\1 heures"),
    ),
    fillers=r"le|à|ce|prochaine?",
)
_PORTUGUESE = MomentWords(
    cues=r"\bàs?\b|\d ?h\b|\d ?h\d|hoje|amanhã|noite|meio-dia|\bem\b|daqui|dentro|[a-z]+-feira|sexta|sábado|domingo"
    r"|\bde\b",
    from_now=r"^em\b",
    clocks=(
        rf"\b[àa]s {_HOUR}(?:[:.h]{_MINUTE})?(?: ?h(?:oras)?)?(?: da (?P<part>manhã|tarde|noite))?{_END}",
        rf"\b{_HOUR}(?::|h){_MINUTE}{_END}",
        rf"\b{_HOUR} ?h(?:oras)?{_END}",
    ),
    times={"meio-dia": (12, 0), "meia-noite": (0, 0), "hoje à noite": (20, 0), "esta noite": (20, 0)},
    afternoon=frozenset({"tarde", "noite"}),
    rewrites=(
        (r"\bdepois de amanhã\b", "em 2 dias"),
        (r"\b(?:daqui a|dentro de)\b", "em"),
        (r"\bmeia hora\b", "30 minutos"),
        (r"\b(?:uma?) (?=hora|dia|semana)", "1 "),
        (r"\bdua?s? (?=hora|semana)", "2 "),
    ),
    fillers=r"no|na|o|a|à|ao|dia|este|esta|próxim[oa]",
)
_CHINESE_DIGITS = {
    "十二": 12,
    "十一": 11,
    "十": 10,
    "九": 9,
    "八": 8,
    "七": 7,
    "六": 6,
    "五": 5,
    "四": 4,
    "三": 3,
    "[二两]": 2,
    "一": 1,
}
"""The longer ones first, since they contain others."""
_CHINESE_NUMBERS = tuple(
    (f"{word}(?=个?(?:点|點|小时|分钟|天|周|星期))", str(number)) for word, number in _CHINESE_DIGITS.items()
)
_CHINESE = MomentWords(
    cues=r"[\u4e00-\u9fff]",
    from_now=r"后$",
    clocks=(
        rf"(?P<part>凌晨|早上|上午|中午|下午|晚上)?{_HOUR}(?:点|點|时|時)(?!间|間)(?:(?P<half>半)|{_MINUTE}分?)?钟?",
        rf"(?P<part>凌晨|早上|上午|中午|下午|晚上)?{_HOUR}[::]{_MINUTE}",
    ),
    times={"中午": (12, 0), "午夜": (0, 0), "今晚": (20, 0)},
    afternoon=frozenset({"下午", "晚上", "中午"}),
    rewrites=(
        (r"半个?小时", "30分钟"),
        *_CHINESE_NUMBERS,
        (r"个(?=小时)", ""),
        (r"(\d{1,2})月(\d{1,2})[日号]?", r"\1/\2"),
    ),
    fillers=r"在|下|这|本",
)
LANGUAGES = {"en": ENGLISH, "de": _GERMAN, "es": _SPANISH, "fr": _FRENCH, "pt": _PORTUGUESE, "zh": _CHINESE}


def languages_of(text: str, language: str | None) -> list[str]:
    """Return the codes of the languages that a text may be written in, the person's own and English first."""
    codes = dict.fromkeys(((language or "")[:2].lower(), *LANGUAGES))
    return [code for code in codes if code in LANGUAGES and re.search(LANGUAGES[code].cues, text)]
