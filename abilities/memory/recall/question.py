"""Parsing a question: its words, the terms that knowledge is indexed under, the time it names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from abilities.memory.extraction.rules_others import PERSON_WORD
from abilities.memory.extraction.rules_self import PETS, names_in
from abilities.memory.extraction.words import STOP_WORDS, content_words, stem, word_set
from abilities.memory.recall.synonyms import same_as, synonyms
from abilities.memory.recall.time_expressions import Period, asks_about_the_past, period_of

MAX_TEXT = 1000
MAX_TERMS = 12

# How people ask for the value of a slot.
_SLOTS = (
    (
        r"\bwhere\b.*\b(?:live|lived|living|based|home|resid\w+|settled?|moved?)\b"
        r"|\b(?:my|our) (?:(?!e?mail )\w+ )?address\b"
        r"|\b(?:which|what) (?:city|town|village|country|place)\b.*"
        r"\b(?:live|lived|living|based|home|resid\w+|am i in)\b",
        "home",
    ),
    (
        r"\b(?:where|who|whom)\b.*\b(?:work|working|worked|works|employ\w*)\b|\bfor a living\b"
        r"|\b(?:which|what) (?:company|firm|employer)\b|\b(?:my|our) (?:\w+ )?(?:employer|company|firm|job)\b",
        "work",
    ),
    (
        r"\b(?:profession|occupation)\b|(?:\bmy|\bhis|\bher|\btheir|['’]s) trade\b"
        r"|\b(?:what|which)\b.*\b(?:job|works? as|working as)\b|\bfor a living\b"
        r"|\bfor work\b|\bwhat do(?:es)? (?!(?:i|we|you)\b)(?:\w+ ){1,2}do\b"
        r"|\b(?:what|who)\b.*\b(?:train|stud|want|hop|learn|plan)\w* to (?:be|become)\b",
        "profession",
    ),
    (r"\b(?:what|which)\b.*\b(?:drive|cars?|vehicles?)\b", "car"),
    (rf"\b(?:pets?|animals?|{PETS})\b", "pet"),
    (r"\bhobb(?:y|ies)\b|\bpastimes?\b|\b(?:free|spare) time\b|\binstruments?\b|\bmake music\b", "hobby"),
    (r"\b(?:when|what|which)\b.*\b(?:birthday|born)\b", "birthday"),
    (
        r"\ballerg|\bintoleran|\b(?:can'?t|cannot|can i not|must i not|mustn'?t|may i not|unable to|avoid)\b.*\beat",
        "allergy",
    ),
    (r"\b(?:diet|vegetarian|vegan|eat meat)\b", "diet"),
    (r"\b(?:phone|mobile) number\b", "phone"),
    (r"\be-?mail address\b", "email"),
)
_TIMES = word_set(
    "last past previous week weeks month months year years day days ago recently during january february march april"
    " may june july august september october november december one two three four five six seven eight nine ten couple"
    " spring summer autumn fall winter weekend monday tuesday wednesday thursday friday saturday sunday"
)
_ASIDE = re.compile(r"[?!.,;:]+")


_MINE = re.compile(r"\b(?:my|our) ([a-z]+(?:-in-law)?)")
_THING = re.compile(r"\b(?:my|our) ([a-z]+ [a-z-]+)")
_OURSELVES = re.compile(r"\b(?:i|me|we|us|my|our|mine|ours)\b", re.IGNORECASE)
_WHO = word_set("name names called")


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question. `past`: memories that hold no longer are asked for too.

    `words` are its own, `same` are words and phrases that mean the same as any of them, each with that word, `meant`
    those that have to do with them; `slots` are asked for by a rule, and `relations` are people it calls "my
    sister", whose names are looked up first. `known` are the terms that such a name then stands for.
    """

    text: str
    words: tuple[str, ...]
    same: Mapping[str, str] = field(default_factory=dict)
    meant: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    period: Period | None = None
    past: bool = False
    known: tuple[str, ...] = ()

    @property
    def own(self) -> frozenset[str]:
        """Return the terms that a certain hit has most of: each property asked for counts once."""
        return frozenset([*self.slots, *self.names, *self.words]) - frozenset(self.known)

    @property
    def asked_slots(self) -> frozenset[str]:
        return frozenset(self.slots) - frozenset(self.known)

    @property
    def beyond_now(self) -> bool:
        """Return whether a memory that holds no longer may be the answer."""
        return self.past or self.period is not None

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the terms that knowledge may be indexed under, the surest first."""
        stems = (stem(word) for word in self.words)
        others = (other for other in self.same if " " not in other)
        return tuple(dict.fromkeys([*self.slots, *self.names, *self.words, *stems, *others, *self.meant]))

    def naming(self, names: Sequence[str]) -> "Question":
        """Return the same question with the names of the people it means: the second of two hops.

        If it asks for more than the name, the name counts and "my sister" hardly does any more.
        """
        whole = tuple(dict.fromkeys([*self.names, *names]))
        people = frozenset(word for word in self.words if PERSON_WORD.fullmatch(word))
        if not names or not set(self.words) - people - _WHO:
            return replace(self, names=whole)
        known = [term for term in (*self.slots, *self.words) if term.removeprefix("my ") in people]
        return replace(self, names=whole, known=tuple(known))


def read_question(text: str, now: datetime) -> Question:
    """Parse a question, or any other message, without a model."""
    text = text.strip()[-MAX_TEXT:]
    period = period_of(text, now)
    words = content_words(text)
    if period is not None:  # the period is matched by itself
        words = [word for word in words if word not in _TIMES and not word.isdigit()]
    kept = tuple(words[:MAX_TERMS])
    mine = _MINE.findall(text.lower())
    relations = [f"my {relation}" for relation in mine]
    things = [f"my {thing}" for thing in _THING.findall(text.lower()) if thing.split()[1] not in STOP_WORDS]
    names = [_ASIDE.sub("", name).lower() for name in names_in(text)]
    names = [name for name in names if not (period and name in _TIMES) and name.removesuffix("'s") not in STOP_WORDS]
    others = any(PERSON_WORD.fullmatch(relation) for relation in mine) or (names and not _OURSELVES.search(text))
    slots = [f"{'their' if others else 'my'} {slot}" for pattern, slot in _SLOTS if re.search(pattern, text, re.I)]
    return Question(
        text,
        kept,
        same_as(text, kept),
        synonyms(kept),
        tuple(dict.fromkeys([*slots, *relations, *things])),
        tuple(names),
        tuple(dict.fromkeys(relations)),
        period,
        asks_about_the_past(text),
    )
