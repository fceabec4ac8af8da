"""Questions in other words about the same forty lives: a check that tuning by some wordings holds for others.

They were written, and frozen in `recall_more.json`, before the tuning that they check, and are never used for tuning.
`uv run -m workbench.benchmarks.recall_more` checks that they have not changed.
"""

import random
from datetime import timedelta
from pathlib import Path

from workbench.benchmarks.recall_lives import (
    ANIMALS,
    CARS,
    CHOIRS,
    CITIES,
    COMPANIES,
    DISHES,
    FOODS,
    JOBS,
    LIVES,
    MESSAGES,
    MONTHS,
    NAMES,
    NOW,
    PETS,
    PLACES,
    Asked,
    freeze,
)

FROZEN = Path(__file__).with_name("recall_more.json")
UNKNOWN = (
    "What is my middle name?",
    "Which university did I study at?",
    "What is my favourite colour?",
    "When is my wedding anniversary?",
    "How many cousins do I have?",
    "Which newspaper do I subscribe to?",
    "Which football club do I support?",
    "What was the first concert I went to?",
)
NEARLY_KNOWN = (
    "When is my sister's birthday?",
    "What is my brother's phone number?",
    "How old is our {animal}?",
    "Who is my boss?",
    "What is the licence plate of my car?",
    "How much money do I owe {friend}?",
    "What is my brother's wife called?",
    "What rent do I pay for my flat?",
)
"""Questions about known people or things whose answers were never stated."""


def questions(number: int) -> list[Asked]:
    """Make eight questions about a life, with the same draws as its maker."""
    chance = random.Random(f"life {number}")
    old_city, city, _ = chance.sample(CITIES.split(), 3)
    sister, friend, _ = chance.sample(NAMES.split(), 3)
    job, brother_job = chance.sample(JOBS, 2)
    old_company, company = chance.sample(COMPANIES.split(), 2)
    food, animal, pet, car = (
        chance.choice(FOODS),
        chance.choice(ANIMALS),
        chance.choice(PETS.split()),
        chance.choice(CARS),
    )
    hobby = chance.choice(CHOIRS)
    chance.sample(PLACES, 3)
    dishes = chance.sample(DISHES, 3)
    days = sorted(chance.sample(range(40, 240), 3))
    paraphrase = [
        ("Is there any food that is dangerous for me?", food),
        ("What is our pet called?", pet),
        ("What do we drive?", car),
        ("What am I busy with on Thursday nights?", hobby.split()[-1]),
        ("What will my brother be one day?", brother_job),
        ("Who is my sister?", sister),
    ]
    moved = number % 2 == 1
    return [
        Asked(number, "paraphrase", *paraphrase[number % 6]),
        Asked(number, "paraphrase", *paraphrase[(number + 1 + number // 6) % 6]),
        *_meal(number, friend, dishes, days),
        Asked(
            number,
            "contradiction",
            "Where do I live at the moment?" if moved else "Which company pays my salary?",
            city if moved else company,
            old_city if moved else old_company,
        ),
        Asked(
            number,
            "past",
            "Where did I live before I moved?" if moved else "Which company did I work for previously?",
            old_city if moved else old_company,
        ),
        Asked(number, "two-hop", ("What does my sister do for a living?", "What is my sister?")[number % 2], job),
        Asked(number, "unknown", UNKNOWN[number % len(UNKNOWN)]),
        Asked(
            number,
            "nearly known",
            NEARLY_KNOWN[number % len(NEARLY_KNOWN)].format(animal=animal.split()[-1], friend=friend),
        ),
    ]


def _meal(number: int, friend: str, dishes: list[str], days: list[int]) -> list[Asked]:
    """Ask for a meal out of three by a month that is unique to it; none if each shares its month."""
    moments = [NOW - timedelta(days=MESSAGES - day) for day in days]
    months = [moment.month for moment in moments]
    for place in (number % 3, (number + 1) % 3, (number + 2) % 3):
        moment = moments[place]
        # A message is moved to an earlier hour, or to a later day if that hour is taken: away from the month's ends.
        if months.count(moment.month) == 1 and 3 <= moment.day <= 26:
            month = MONTHS.split()[moment.month - 1]
            words = ("What did {friend} and I eat back in {month}?", "I met {friend} in {month}: what did we have?")
            return [Asked(number, "time", words[number % 2].format(friend=friend, month=month), dishes[place])]
    return []


def made_questions() -> list[Asked]:
    """Make the questions about all lives."""
    return [question for number in range(LIVES) for question in questions(number)]


if __name__ == "__main__":
    freeze(FROZEN, made_questions())
