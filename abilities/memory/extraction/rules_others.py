"""Facts about other people, found by rules: "my sister Greta is a nurse", "Kofi moved to Riga"."""

import re
from dataclasses import dataclass

VALUE = r"(?P<value>[^.,;!?\n]{1,60}?)"
END = (
    r"(?=\s*(?:[.,;!?\n]|$|\b(?:and|but|because|since|with|when|where|which|who|so|now|these days|last|this|next|for"
    r" the|in order|after|before|until|from|every|while|as well|too|again|at the moment|right now|nowadays)\b))"
)
RELATION = (
    r"wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|boss|manager|landlord|dentist|doctor|gp|lawyer|therapist"
    r"|accountant|mother|mum|mom|father|dad|dog|cat|neighbou?r"
)
MANY = "sister|brother|friend|cousin|aunt|uncle|daughter|son|niece|nephew|colleague|grandson|granddaughter"
PROPER = r"(?-i:[A-Z][\w-]+)"
PERSON_WORD = re.compile(rf"(?:{RELATION}|{MANY}|grand(?:mother|father|ma|pa)|(?:mother|father|sister|brother)-in-law)")
"""Words for people whom a person calls "my …"; a question may ask more of them than a name."""

_OWNER = (
    rf"\b(?:my (?:older |younger |big |little |twin )?(?P<relation>{PERSON_WORD.pattern})\b(?: (?P<name>{PROPER}))?"
    rf"|(?P<alone>{PROPER}))"
)
_DOES = r"(?:\s+(?:now|just|currently|recently|finally|also|still|already|has|have))*"
_UPTO = r"(?=\s*(?:[.,;!?\n]|$|\b(?:in|at|for|near|on|and|but|because|since|who|now|these days|nowadays)\b))"
_SAID = (
    ("home", r" (?:lives?|moved?|relocated|settled|is (?:now )?(?:living|based))(?: back)? (?:in|to|at) VALUE", END),
    ("profession", r" (?:works?|worked|is (?:now )?(?:working|employed)) as (?:an? )?VALUE", _UPTO),
    ("profession", r" (?:trains?|is training|studies|is studying|wants|hopes) to (?:be|become) (?:an? )?VALUE", _UPTO),
    ("diet", r" (?:is|became|turned|went|has gone) (?:now )?(?:an? )?(?P<value>vegetarian|vegan|pescatarian)\b", ""),
    ("profession", r" (?:is|became|was) (?:now )?an? VALUE", _UPTO),
    ("work", r" (?:works?|is (?:now )?(?:working|employed)|started) (?:at|for|by|with) VALUE", END),
    ("work", r" joined VALUE", END),
    ("allergy", r" (?:is (?:severely |badly )?allergic to|can'?t eat|cannot eat) VALUE", END),
    ("birthday", r"(?:'s birthday is(?: on)?| was born (?:on|in)) VALUE", END),
    ("car", r" (?:drives|bought|owns) an? VALUE", _UPTO),
    ("hobby", r" (?P<value>(?:plays the \w+|sings|dances|paints|climbs|knits|rows|fences)\b)", ""),
)
_RULES = tuple(
    (kind, re.compile(_OWNER + _DOES + phrase.replace("VALUE", VALUE + upto), re.IGNORECASE))
    for kind, phrase, upto in _SAID
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about `owner`, a name or "my sister"; `kind` is the property, as in "their home"."""

    owner: str
    kind: str
    value: str


def facts_of(text: str) -> list[Fact]:
    """Return the facts about others in a statement, at most a single fact of each kind for each person."""
    facts: dict[tuple[str, str], Fact] = {}
    for kind, pattern in _RULES:
        for match in pattern.finditer(text):
            owner = match["alone"] or match["name"] or f"my {match['relation'].lower()}"
            value = match["value"].strip(" '\"“”").lower()
            if value:
                facts.setdefault((owner, kind), Fact(owner, f"their {kind}", value))
    return list(facts.values())
