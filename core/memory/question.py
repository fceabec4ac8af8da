"""What a question looks for: its words, the terms that knowledge is filed under, the time it names."""

import re
from dataclasses import dataclass
from datetime import datetime

from core.memory.rules import names_in
from core.memory.when import Period, asks_about_the_past, period_of
from core.memory.words import content_words, stem, word_set

MOST_TEXT = 1000
MOST_TERMS = 12

# How people ask for what a slot of the rules holds.
_SLOTS = (
    (
        r"\bwhere\b.*\b(?:live|living|based|home|reside)\b|\b(?:which|what) (?:city|town|country)\b.*\b(?:live|in)\b",
        "home",
    ),
    (r"\b(?:where|who|whom|which|what)\b.*\b(?:work|job|employ\w*|company)\b|\bfor a living\b", "work"),
    (r"\b(?:what|which)\b.*\b(?:profession|occupation|job)\b|\bfor a living\b", "profession"),
    (r"\b(?:what|which)\b.*\b(?:drive|car)\b", "car"),
    (r"\b(?:when|what|which)\b.*\b(?:birthday|born)\b", "birthday"),
    (r"\ballerg", "allergy"),
    (r"\b(?:diet|vegetarian|vegan|eat meat)\b", "diet"),
)
_TIMES = word_set(
    "last past previous week weeks month months year years day days ago recently during january february march april"
    " may june july august september october november december one two three four five six seven eight nine ten couple"
)
_ASIDE = re.compile(r"[?!.,;:]+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the legs take it. `past`: what holds no longer is asked for too."""

    text: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    period: Period | None = None
    past: bool = False


def read_question(text: str, now: datetime) -> Question:
    """Read a question, or whatever a person wrote, without a model."""
    text = text.strip()[-MOST_TEXT:]
    period = period_of(text, now)
    words = content_words(text)
    if period is not None:  # the time is looked for by itself
        words = [word for word in words if word not in _TIMES and not word.isdigit()]
    slots = [slot for pattern, slot in _SLOTS if re.search(pattern, text, re.IGNORECASE)]
    names = [_ASIDE.sub("", name).lower() for name in names_in(text)]
    terms = list(dict.fromkeys([*slots, *names, *words, *(stem(word) for word in words)]))
    return Question(
        text,
        tuple(words[:MOST_TERMS]),
        tuple(terms[: MOST_TERMS + 4]),
        period,
        asks_about_the_past(text),
    )
