"""Words that mean the same ("bike" and "bicycle"), and words that have to do with each other ("car" and "drive")."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from abilities.memory.extraction.words import stem

_SAME = Path(__file__).with_name("synonyms.txt")
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
    """Return the other words of all groups of related words that any of these words is in."""
    others = [other for word in words for other in _MEANT.get(stem(word), ())]
    return tuple(dict.fromkeys(word for word in others if word not in words))


def same_as(text: str, words: Sequence[str]) -> dict[str, str]:
    """Return the words and phrases that mean the same as a word of the question, each with that word.

    A phrase in the question ("who do I report to") stands for its words.
    """
    plain, stems = f" {' '.join(text.lower().split())} ", {stem(word): word for word in words}
    found: dict[str, str] = {}
    for key, key_stem, group in _keys():
        word = stems.get(key_stem) if " " not in key else _word_of(key, plain, stems)
        if word is not None:
            found |= {other: word for other in group if stem(other) not in stems and other not in found}
    return found


def _word_of(phrase: str, plain: str, stems: Mapping[str, str]) -> str | None:
    """Return the question's own word for a phrase that the question contains."""
    if not any(f" {phrase}{end}" in plain for end in (" ", "?", ",", ".", "!")):
        return None
    return next((stems[stem(part)] for part in phrase.split() if stem(part) in stems), None)


@cache
def _keys() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return each word of the file with its stem and its group."""
    lines = (line for line in _SAME.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    groups = [tuple(word.strip() for word in line.split(",")) for line in lines]
    return tuple((word, stem(word), group) for group in groups for word in group)
