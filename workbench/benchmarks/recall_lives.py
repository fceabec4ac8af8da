"""Forty invented lives of 300 messages each, and five frozen questions about each.

The lives come from a seed, so that every run measures the same. The questions are in `recall_questions.json`, written
before the extractor was tuned; `uv run -m workbench.benchmarks.recall_lives` checks that they have not changed.
"""

import json
import random
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

LIVES = 40
MESSAGES = 300
NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
FROZEN = Path(__file__).with_name("recall_questions.json")
MONTHS = "January February March April May June July August September October November December"

CITIES = (
    "Lisbon Porto Ghent Turin Bergen Malmö Krakow Leipzig Graz Utrecht Cork Dundee Nantes Bilbao Split Tartu Riga Basel"
)
NAMES = "Greta Milan Oona Tariq Wanda Pavel Ines Kofi Sanne Ruben Maeve Dario Lotte Emre Nadia Yusuf Brita Caspar"
JOBS = [
    "welder",
    "midwife",
    "cellist",
    "beekeeper",
    "notary",
    "geologist",
    "baker",
    "translator",
    "crane driver",
    "vet",
]
FOODS = ["hazelnuts", "shellfish", "celery", "kiwi", "sesame", "lupin flour", "mustard", "strawberries", "soy", "mango"]
COMPANIES = "Brightwell Norvex Halden Quillon Tessaro Umbriel Vantor Wexford Ysolde Zephyrine Kestrel Marlow"
ANIMALS = ["spaniel", "parrot", "tortoise", "ginger cat", "pony", "ferret"]
PETS = "Biscuit Mango Rufus Tilda Pixel Olive Bramble Socks Waffle Juno"
CARS = ["Volvo estate", "Fiat Panda", "Skoda Octavia", "Renault Twingo", "Toyota Yaris", "Citroën Berlingo"]
PLACES = ["the Copper Pot", "Casa Mirela", "the Blue Heron", "Trattoria Nino", "the Old Mill", "Saffron House"]
DISHES = ["mussels", "dumplings", "a risotto", "lamb stew", "ramen", "a tart"]
CHOIRS = [
    "sing in a choir",
    "play the trombone in a brass band",
    "play the viola in a quartet",
    "drum with a samba group",
]

CHATTER = (
    "Can you remind me to call the {trade} {day}?",
    "The {thing} in the kitchen makes a strange noise again.",
    "I watched a film about {topic} last night and slept badly.",
    "Meeting about {topic} went on for two hours today.",
    "Need to buy {grocery} and {grocery2} on the way back.",
    "It has been raining since {day}, my shoes are soaked.",
    "Please add {grocery} to the shopping list.",
    "The train was {n} minutes late this morning.",
    "{friend} sent me a long message about {topic}.",
    "I read {n} pages about {topic} before bed.",
    "What should I cook with {grocery} and {grocery2}?",
    "Paid {n} euros for the {thing}, a bit much.",
    "{friend} wants to borrow the {thing} {day}.",
    "I went for a run of {n} kilometres along the river.",
    "The neighbours are having their {thing} repaired.",
    "My back hurts a little after moving the {thing}.",
    "Thinking about a course on {topic} in the autumn.",
    "Lunch with {friend}, we talked about {topic}.",
    "The {trade} came by and looked at the {thing}.",
    "How long does {grocery} keep in the fridge?",
)
FILL = {
    "trade": ["plumber", "electrician", "accountant", "tailor", "locksmith", "gardener"],
    "day": ["on Monday", "on Tuesday", "tomorrow", "on Friday", "this weekend"],
    "thing": ["dishwasher", "bookshelf", "boiler", "ladder", "sofa", "printer", "lawn mower", "tent", "roof"],
    "topic": [
        "glaciers",
        "the budget",
        "old maps",
        "sourdough",
        "tax law",
        "migration",
        "solar panels",
        "chess",
        "opera",
    ],
    "grocery": ["leeks", "oat milk", "lentils", "pears", "yoghurt", "spinach", "rice", "coffee", "eggs", "tomatoes"],
    "friend": ["Hannes", "Priya", "Lukas", "Amelie", "Jonas", "Farah", "Theo", "Clara"],
}
UNKNOWN = (
    "What is my shoe size?",
    "What is my blood type?",
    "Which secondary school did I attend?",
    "What is my grandmother's maiden name?",
    "What number is my locker at the gym?",
    "Which bank holds my mortgage?",
    "Who was my first flatmate?",
    "What is my passport's expiry date?",
    "Which hospital was I born in?",
    "What colour are my bedroom walls?",
    "How tall am I?",
    "Who is my landlord?",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A message of a life."""

    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: a memory with `answer` is right, a memory with `stale` is outdated; unknown: both empty."""

    life: int
    kind: str
    text: str
    answer: str = ""
    stale: str = ""


def life(number: int) -> tuple[list[Line], list[Asked]]:
    """Return a life and the questions about it."""
    chance = random.Random(f"life {number}")
    facts, asked = _facts(number, chance)
    lines: dict[int, str] = {}
    for day, text in facts:
        while day in lines:
            day += 1
        lines[day] = text
    out = []
    for day in range(MESSAGES):
        text = lines.get(day) or _chatter(chance)
        out.append(Line(text, NOW - timedelta(days=MESSAGES - day, hours=chance.randint(0, 10))))
    return out, asked


def _facts(number: int, chance: random.Random) -> tuple[list[tuple[int, str]], list[Asked]]:
    """Return the facts of a life by day, and the questions about them."""
    old_city, city, sister_city = chance.sample(CITIES.split(), 3)
    sister, friend, brother = chance.sample(NAMES.split(), 3)
    job, brother_job = chance.sample(JOBS, 2)
    old_company, company = chance.sample(COMPANIES.split(), 2)
    food, animal, pet, car = (
        chance.choice(FOODS),
        chance.choice(ANIMALS),
        chance.choice(PETS.split()),
        chance.choice(CARS),
    )
    hobby = chance.choice(CHOIRS)
    places, dishes = chance.sample(PLACES, 3), chance.sample(DISHES, 3)
    days = sorted(chance.sample(range(40, 240), 3))
    facts = [
        (
            chance.randint(2, 20),
            chance.choice([f"I live in {old_city}.", f"I am based in {old_city}, close to the station."]),
        ),
        (
            chance.randint(150, 260),
            chance.choice([f"We finally moved to {city}.", f"I've relocated to {city} for good."]),
        ),
        (chance.randint(5, 60), chance.choice([f"I work at {old_company}.", f"I am employed by {old_company}."])),
        (
            chance.randint(140, 270),
            chance.choice([f"Last week I joined {company}.", f"I started a new job at {company}."]),
        ),
        (
            chance.randint(5, 200),
            chance.choice([f"My sister is called {sister}.", f"My sister {sister} came to stay."]),
        ),
        (
            chance.randint(5, 280),
            chance.choice([f"{sister} works as a {job} in {sister_city}.", f"{sister} is a {job} now."]),
        ),
        (chance.randint(5, 280), f"My brother {brother} trains to be a {brother_job}."),
        (
            chance.randint(5, 280),
            chance.choice([f"{food.capitalize()} make my throat swell up.", f"I can't eat {food}, I get a rash."]),
        ),
        (
            chance.randint(5, 280),
            chance.choice([f"Our {animal} {pet} chewed the carpet.", f"We adopted a {animal} and named it {pet}."]),
        ),
        (chance.randint(5, 280), chance.choice([f"We bought a used {car}.", f"The {car} is ours since today."])),
        (chance.randint(5, 280), f"On Thursday evenings I {hobby}."),
        *(
            (day, f"Had {dish} at {place} with {friend}.")
            for day, dish, place in zip(days, dishes, places, strict=True)
        ),
    ]
    middle = NOW - timedelta(days=MESSAGES - days[1])
    month = MONTHS.split()[middle.month - 1]
    paraphrase = [
        ("What must I not eat because of an allergy?", food),
        (f"What name did we give the {animal.split()[-1]}?", pet),
        ("Which vehicle do we own?", car),
        ("What do I do as a musical hobby?", hobby.split()[-1]),
    ]
    question, answer = paraphrase[number % 4]
    moved = number % 2 == 0
    return facts, [
        Asked(number, "paraphrase", question, answer),
        Asked(number, "time", f"Where did I eat with {friend} in {month}?", places[1]),
        Asked(
            number,
            "contradiction",
            "Which city is my home these days?" if moved else "Who is my employer now?",
            city if moved else company,
            old_city if moved else old_company,
        ),
        Asked(number, "two-hop", "What is my sister's profession?", job),
        Asked(number, "unknown", UNKNOWN[number % len(UNKNOWN)]),
    ]


def _chatter(chance: random.Random) -> str:
    given = {name: chance.choice(words) for name, words in FILL.items()}
    return chance.choice(CHATTER).format(**given, grocery2=chance.choice(FILL["grocery"]), n=chance.randint(3, 60))


def made_questions() -> list[Asked]:
    """Make the questions about all lives."""
    return [question for number in range(LIVES) for question in life(number)[1]]


def frozen_questions(frozen: Path = FROZEN) -> list[Asked]:
    """Read the questions as they were frozen."""
    return [Asked(**item) for item in json.loads(frozen.read_text(encoding="utf-8"))]


def freeze(frozen: Path, made: list[Asked]) -> None:
    """Freeze questions if there are none; else check that the lives still answer them."""
    if not frozen.exists():
        whole = [asdict(question) for question in made]
        frozen.write_text(json.dumps(whole, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    kept = frozen_questions(frozen)
    sys.stdout.write(f"{len(kept)} questions, {'as frozen' if kept == made else 'NOT as frozen'}\n")
    sys.exit(0 if kept == made else 1)


if __name__ == "__main__":
    freeze(FROZEN, made_questions())
