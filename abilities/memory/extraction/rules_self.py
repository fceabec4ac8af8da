"""Knowledge without a model: facts found by rules in an English sentence, in typeagent's own schema.

Names become entities, content words topics, and statements of people about themselves a facet and an action. A slot
names a property with a single value at a time, so that "I moved to Lisbon" replaces "I live in Berlin".
"""

import re
from dataclasses import dataclass

from abilities.memory.extraction.rules_others import END, MANY, PROPER, RELATION, VALUE, facts_of
from abilities.memory.extraction.words import content_words, stem, word_set
from core.json_types import Json, JsonObject

EXTRACTOR = "rules-3"
"""Stored with the findings of these rules; raised when the rules change."""

_NOW = (
    r"(?:\s+(?:now|just|currently|recently|finally|actually|really|still|also|only|always|already|officially|mostly))*"
)


@dataclass(frozen=True, slots=True)
class SlotRule:
    """A property that people tell of themselves. `many`: several values may hold at once, so none replaces another."""

    slot: str
    pattern: re.Pattern[str]
    verb: str
    many: bool = False


def _rule(slot: str, pattern: str, verb: str, *, many: bool = False) -> SlotRule:
    return SlotRule(slot, re.compile(pattern.replace("VALUE", VALUE + END), re.IGNORECASE), verb, many)


_I = r"\b(?:i|we)(?:'ve|'m|'re| have| am| are| was| will| got)?" + _NOW
_IS = r"(?:'s(?! names?\b)(?![^.,;!?\n]*\b(?:is|are|was|were|has|had|will|can)\b)| is)"
"""Not the 's of "my boss's birthday is in May", which does not say who the boss is."""
PETS = "dog|cat|puppy|kitten|spaniel|terrier|poodle|parrot|tortoise|pony|horse|hamster|rabbit|ferret|hedgehog"
_MAKES = (
    "audi|bmw|citro[eë]n|dacia|fiat|ford|honda|hyundai|kia|mazda|mercedes|mini|nissan|opel|peugeot|renault|seat|skoda"
    "|suzuki|tesla|toyota|vauxhall|volkswagen|vw|volvo"
)
_RULES = (
    _rule(
        "home",
        rf"{_I} (?:live|lived|living|moved?|moving|relocated?|settled(?: down)?|based|residing?)(?: back)?"
        r" (?:over )?(?:in|to|at) VALUE",
        "live",
    ),
    _rule("home", r"\bmy (?:new )?(?:home|flat|apartment|place|house) is (?:now )?(?:in|at) VALUE", "live"),
    _rule(
        "work",
        rf"{_I} (?:work|working|employed|started(?: working)?|joined?|hired)(?: a (?:new )?job)?"
        r" (?:at|for|by|with) VALUE",
        "work",
    ),
    _rule("work", rf"{_I} joined VALUE", "work"),
    _rule("work", r"\bmy (?:new )?(?:employer|company|job) is (?:now )?(?:at |with )?VALUE", "work"),
    _rule("profession", rf"{_I} (?:work|working|employed) as (?:an? )?VALUE", "work"),
    _rule("name", r"\b(?:my name(?:'s| is)|call me|i go by) VALUE", "call"),
    _rule("birthday", r"\b(?:my birthday(?:'s| is)(?: on)?|i was born on) VALUE", "bear"),
    _rule("phone", r"\bmy (?:new )?(?:phone|mobile|cell)(?: number)? is (?:now )?VALUE", "have"),
    _rule("email", r"\bmy (?:new )?e-?mail(?: address)? is (?:now )?(?P<value>\S+@\S+?)(?=[.,;!?]?(?:\s|$))", "have"),
    _rule(
        "diet", rf"{_I}(?: an?| turned| gone| become| went)* (?P<value>vegetarian|vegan|pescatarian|omnivore)\b", "eat"
    ),
    _rule("car", rf"{_I} (?:drive|driving) (?:an? )VALUE", "drive"),
    _rule("allergy", r"\bi (?:can'?t|cannot|must not|mustn'?t|may not) eat (?:any )?VALUE", "avoid", many=True),
    _rule(
        "allergy",
        r"\b(?P<value>[\w -]{3,40}?) (?:makes?|gives?|causes?)"
        r" (?:my throat|my skin|my mouth|me (?:a rash|hives))",
        "avoid",
        many=True,
    ),
    _rule("allergy", rf"{_I} (?:severely |badly )?allergic to VALUE", "avoid", many=True),
    _rule(
        "car",
        rf"\b(?:bought|got|drive|own|have|leased|the) (?:an? |my |our )?(?:used |new |old )?"
        rf"(?P<value>(?:{_MAKES})\b(?: [A-Z0-9][\w-]*| estate| van)?)",
        "drive",
    ),
    _rule(
        "pet", rf"\b(?:our|my) (?:[a-z]+ )?(?:{PETS})(?: is)?(?: called| named)? (?P<value>{PROPER})", "have", many=True
    ),
    _rule(
        "pet",
        rf"\b(?:adopted|got|have|bought|found) an? (?:[a-z]+ )?[a-z]+"
        rf" (?:called|named|and named it|and called it) (?P<value>{PROPER})",
        "have",
        many=True,
    ),
    _rule(
        "hobby",
        r"\bi (?:usually |always )?(?P<value>(?:sing|play the \w+|drum|dance|paint|row|climb|knit|fence)\b"
        r"[^.,;!?]{0,40})",
        "do",
        many=True,
    ),
    _rule(
        "MINE",
        rf"\bmy (?:older |younger |big |little |twin )?(?P<thing>{MANY})(?:'s name)?{_IS}?"
        rf" (?:called |named )?(?P<value>{PROPER})",
        "have",
        many=True,
    ),
    _rule("MINE", rf"\bmy (?:new )?(?P<thing>{RELATION})(?:'s name)?{_IS}(?: now)?(?: called| named)? VALUE", "have"),
    _rule(
        "MINE",
        r"\bmy (?:new )?(?P<thing>(?:fav(?:ou?rite)? )?[a-z'-]+(?: [a-z'-]+)?)"
        rf"(?:{_IS}| are)(?: now)? VALUE",
        "have",
    ),
    _rule(
        "TASTE",
        rf"{_I} (?P<verb>love|like|enjoy|prefer|adore|hate|dislike|can'?t stand|don'?t like|detest) VALUE",
        "like",
        many=True,
    ),
)
_DISLIKES = re.compile(r"hate|dislike|stand|don|detest", re.IGNORECASE)
_ENDED = re.compile(
    r"\b(?:no longer|not? (?:\w+ ){0,4}any ?more|any ?more|stopped|quit|gave up|used to|cancelled|canceled|broke up)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][\w'’&-]*(?:\s+(?:(?:of|de|da|van|von|the|la|le)\s+)?[A-Z0-9][\w'’&-]*)*")
_NUMBER = re.compile(r"\b\d[\d:.,/-]*\d\b|\b\d\b")
_NO_NAMES = word_set("i i'm i've i'd i'll the a an my we we're our it it's he she they this that there but and so")
_ARTICLE = re.compile(r"^(?:an?|the|called|named)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Slot:
    """A property of the person in a statement: the slot's `name` and its `value`, both lower case."""

    name: str
    value: str
    verb: str
    many: bool


def slot_of(text: str) -> Slot | None:
    """Return the property of the person that a statement tells; None if no rule matches."""
    for rule in _RULES:
        if match := rule.pattern.search(text):
            value = _ARTICLE.sub("", match["value"].strip(" '\"“”")).lower()
            if not value:
                continue
            name = f"my {rule.slot}"
            if rule.slot == "MINE":
                name = f"my {match['thing'].lower()}"
            elif rule.slot == "TASTE":
                name = f"taste {' '.join(sorted(stem(word) for word in content_words(value)))}"
                value = "dislikes" if _DISLIKES.search(match["verb"]) else "likes"
            return Slot(name, value, rule.verb, rule.many and not name.startswith("taste"))
    return None


def says_it_ended(text: str) -> bool:
    """Return whether a statement says that something is over."""
    return _ENDED.search(text) is not None


def names_in(text: str) -> list[str]:
    """Return the proper names of a statement: capitalised words that do not only begin a sentence."""
    names: list[str] = []
    for match in _NAME.finditer(text):
        words = match[0].split()
        while words and words[0].lower() in _NO_NAMES:
            words.pop(0)
        if not words:
            continue
        first = match.start() == 0 or text[: match.start()].rstrip()[-1:] in ".!?"
        if first and len(words) == 1 and words[0].lower() == match[0].lower() and words[0].lower() in _COMMON:
            continue
        name = " ".join(words).rstrip("'’").removesuffix("'s").removesuffix("’s")
        if name and name not in names:
            names.append(name)
    return names


def knowledge_of(text: str, speaker: str) -> JsonObject:
    """Return the findings of the rules as a KnowledgeResponse of typeagent's schema."""
    facets: dict[str, list[Json]] = {}
    for fact in facts_of(text):
        if fact.owner.lower() not in _COMMON | _NO_NAMES:
            facets.setdefault(fact.owner, []).append({"name": fact.kind, "value": fact.value})
    names = dict.fromkeys([*names_in(text), *facets])
    entities: list[Json] = [
        {"name": name, "type": ["name"], "facets": list(facets.get(name) or ()) or None} for name in names
    ]
    actions: list[Json] = []
    topics = list(dict.fromkeys([*content_words(text), *(stem(word) for word in content_words(text))]))
    topics += [number for number in _NUMBER.findall(text) if number not in topics]
    if (slot := slot_of(text)) is not None:
        facet: Json = {"name": slot.name, "value": slot.value}
        entities.append({"name": speaker, "type": ["speaker"], "facets": [facet]})
        actions.append(
            {
                "verbs": [slot.verb],
                "verbTense": "present",
                "subjectEntityName": speaker,
                "objectEntityName": slot.value,
                "indirectObjectEntityName": "none",
                "params": None,
                "subjectEntityFacet": None,
            }
        )
    return {"entities": entities, "actions": actions, "inverse_actions": [], "topics": list(topics)}


_COMMON = word_set(
    "yes no please thanks sorry today tomorrow yesterday last next also then now when while after before since"
    " because if just still maybe perhaps actually finally by for from with without at on in to of as all some"
    " many most every each remember note remind tell ask book buy get go went had has have was were is are am can"
    " could would will should do did does don't not never always often sometimes her his their your its what where"
    " why how who which here booked bought got started finished met saw called made took paid ordered sent moved"
    " turns looks sounds feels"
)
