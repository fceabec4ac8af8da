"""What a question looks for: its words, the terms that knowledge is filed under, the time it names."""

import re
from dataclasses import dataclass
from datetime import datetime

from core.memory.rules import names_in
from core.memory.synonyms import synonyms
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
    (r"\b(?:what|which)\b.*\b(?:drive|car|vehicle)\b", "car"),
    (r"\b(?:pet|dog|cat|animal)\b|\bname\b.*\bgive\b", "pet"),
    (r"\bhobb(?:y|ies)\b|\bpastime\b", "hobby"),
    (r"\b(?:when|what|which)\b.*\b(?:birthday|born)\b", "birthday"),
    (r"\ballerg", "allergy"),
    (r"\b(?:diet|vegetarian|vegan|eat meat)\b", "diet"),
)
_TIMES = word_set(
    "last past previous week weeks month months year years day days ago recently during january february march april"
    " may june july august september october november december one two three four five six seven eight nine ten couple"
)
_ASIDE = re.compile(r"[?!.,;:]+")


_MINE = re.compile(r"\b(?:my|our) ([a-z]+(?:-in-law)?)(?='s\b|\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the legs take it. `past`: what holds no longer is asked for too.

    `words` are its own, `meant` others that say the same; `slots` are what it asks for by a rule, and `relations` whom
    it speaks of as "my sister", whose name is looked up before anything else.
    """

    text: str
    words: tuple[str, ...]
    meant: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    period: Period | None = None
    past: bool = False

    @property
    def own(self) -> frozenset[str]:
        """Give the terms of which a sure find has most: each thing asked for counts once."""
        return frozenset([*self.slots, *self.names, *self.words])

    @property
    def terms(self) -> tuple[str, ...]:
        """Give what knowledge may be filed under, the surest first."""
        stems = (stem(word) for word in self.words)
        return tuple(dict.fromkeys([*self.slots, *self.names, *self.words, *stems, *self.meant]))


def read_question(text: str, now: datetime) -> Question:
    """Read a question, or whatever a person wrote, without a model."""
    text = text.strip()[-MOST_TEXT:]
    period = period_of(text, now)
    words = content_words(text)
    if period is not None:  # the time is looked for by itself
        words = [word for word in words if word not in _TIMES and not word.isdigit()]
    kept = tuple(words[:MOST_TERMS])
    slots = [f"my {slot}" for pattern, slot in _SLOTS if re.search(pattern, text, re.IGNORECASE)]
    relations = [f"my {found.lower()}" for found in _MINE.findall(text)]
    names = [_ASIDE.sub("", name).lower() for name in names_in(text)]
    return Question(
        text,
        kept,
        synonyms(kept),
        tuple(dict.fromkeys([*slots, *relations])),
        tuple(names),
        tuple(dict.fromkeys(relations)),
        period,
        asks_about_the_past(text),
    )
