"""The languages in which moments are read."""

import re

from abilities.moments.words.chinese import CHINESE
from abilities.moments.words.english import ENGLISH
from abilities.moments.words.french import FRENCH
from abilities.moments.words.german import GERMAN
from abilities.moments.words.portuguese import PORTUGUESE
from abilities.moments.words.spanish import SPANISH

LANGUAGES = {"en": ENGLISH, "de": GERMAN, "es": SPANISH, "fr": FRENCH, "pt": PORTUGUESE, "zh": CHINESE}


def languages_of(text: str, language: str | None) -> list[str]:
    """Return the codes of the languages that a text may be written in, the person's own and English first.

    A text without words is in the person's own, and so is a date with slashes: no other language tells which of its
    numbers is the month.
    """
    own = (language or "")[:2].lower()
    codes = [code for code in dict.fromkeys((own, *LANGUAGES)) if code in LANGUAGES]
    return codes if re.search(r"[^\W\d_]", text) and not re.search(r"\d/\d", text) else codes[:1]
