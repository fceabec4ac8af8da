"""Whom a person means by some words: whole parts of names, and never a part of a word."""

import pytest

from abilities.contacts.book import Contact
from abilities.contacts.matching import matches

PEOPLE = [
    Contact("Stef", number=1),
    Contact("Brent Stef", number=2),
    Contact("Sam Miller", relation="colleague", organization="Acme Work", number=3),
    Contact("Sam Jones", nicknames=("Sammy",), relation="my brother", number=4),
    Contact("José Núñez-Ruiz", number=5),
    Contact("Daniela Brown", notes="Dan's sister, ask Dan", number=6),
    Contact("Anna Weiß", relation="Schwester", number=7),
]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Stef", [1]),
        ("brent", [2]),
        ("Brent Stef", [2]),
        ("sam", [3, 4]),
        ("Sam from work", [3]),
        ("Sammy", [4]),
        ("my brother", [4]),
        ("jose", [5]),
        ("JOSE NUNEZ-RUIZ", [5]),
        ("Dan", []),
        ("Dani", []),
        ("work", []),
        ("weiss", [7]),
        ("meine Schwester", [7]),
        ("Sam Brown", []),
        ("", []),
        ("the", []),
    ],
)
def test_words_mean_whole_parts_of_names(words: str, found: list[int]) -> None:
    assert [contact.number for contact in matches(words, PEOPLE)] == found
