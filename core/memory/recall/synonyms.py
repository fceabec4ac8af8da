"""Everyday synonyms: a question says "vehicle" where people said "car"."""

from core.memory.extraction.words import stem

_GROUPS = (
    "home live live moved house flat apartment address reside based relocated",
    "work job employer employed company profession occupation career boss colleague living",
    "eat food meal dinner lunch restaurant cooked dish",
    "allergy allergic intolerance rash swell",
    "car vehicle drive motor automobile",
    "pet dog cat animal puppy kitten",
    "hobby pastime sing play music musical instrument sport",
    "wife husband spouse partner married",
    "mother mum mom",
    "father dad",
    "birthday born birth",
    "holiday vacation trip travel journey",
    "doctor dentist physician gp",
    "phone mobile number telephone",
    "favourite favorite prefer like love",
    "child children kid kids son daughter",
    "diet vegetarian vegan",
)
_MEANT = {stem(word): tuple(group.split()) for group in _GROUPS for word in group.split()}


def synonyms(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the other words of all groups that any of these words is in."""
    others = [other for word in words for other in _MEANT.get(stem(word), ())]
    return tuple(dict.fromkeys(word for word in others if word not in words))
