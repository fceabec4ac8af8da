"""Who writes, and what: the texts of a run."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.simulator.config import Person

CHANNELS = ("sms", "slack", "telegram")


@dataclass(frozen=True, slots=True)
class Text:
    """One text of one person on one channel, on its way `copies` times."""

    person: Person
    channel: str
    body: str
    sid: str
    copies: int


def make_people(count: int) -> tuple[Person, ...]:
    """Make people with numbers of their own."""
    return tuple(
        Person(f"p{n:03}", f"Person {n}", f"+1555020{n:04}", f"U0P{n:07}", 600_000_000 + n) for n in range(count)
    )


def make_texts(
    people: tuple[Person, ...],
    count: int,
    chance: random.Random,
    channels: Sequence[str] = ("sms",),
    first: int = 0,
) -> list[Text]:
    """Make texts in turn over the people, who are spread over the channels; each to be delivered 1 to 5 times."""
    return [
        Text(
            person=people[n % len(people)],
            channel=channels[n % len(people) % len(channels)],
            body=f"m{n:05}-{people[n % len(people)].key}",
            sid=f"SM{chance.getrandbits(128):032x}",
            copies=chance.randint(1, 5),
        )
        for n in range(first, first + count)
    ]
