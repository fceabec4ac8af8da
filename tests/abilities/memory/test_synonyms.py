"""Recall finds what was told in another word, below what was told in the same one, and nothing besides."""

import pytest

from abilities.memory.momex import Momex
from abilities.memory.recall.synonyms import same_as
from tests.abilities.memory.harness import told

LIFE = [
    "My bicycle is in the cellar.",
    "I report to Mrs Lindqvist.",
    "The weather report said rain.",
    "I own an automobile from 1968.",
    "My flat is on the third floor.",
    "We watched a movie about whales.",
    "I am terrified of the lift.",
    "My physician is in Leeds.",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where is my bike?", LIFE[0]),
        ("What is in the basement?", LIFE[0]),
        ("Who is my boss?", LIFE[1]),
        ("Who is my manager?", LIFE[1]),
        ("Do I have a car?", LIFE[3]),
        ("Which floor is my apartment on?", LIFE[4]),
        ("Which film did we watch?", LIFE[5]),
        ("What did I say about elevators?", LIFE[6]),
        ("Where is my doctor?", LIFE[7]),
    ],
)
async def test_what_was_told_in_another_word_is_recalled(momex: Momex, question: str, answer: str) -> None:
    await momex.add_now("ann", [told(text, days_ago=3) for text in LIFE])
    assert [hit.memory.text for hit in (await momex.search("ann", question)).found] == [answer]


@pytest.mark.parametrize(
    "question", ["Where is my umbrella?", "Who is my aunt?", "Which train did I take?", "Who reads the news?"]
)
async def test_a_question_about_something_else_recalls_nothing(momex: Momex, question: str) -> None:
    await momex.add_now("ann", [told(text, days_ago=3) for text in LIFE])
    assert [hit.memory.text for hit in (await momex.search("ann", question)).found] == []


async def test_the_same_word_stands_before_one_that_means_the_same(momex: Momex) -> None:
    told_twice = ["My bicycle is blue and old.", "My bike is blue and old."]
    await momex.add_now("ann", [told(text, days_ago=3) for text in told_twice])
    assert [hit.memory.text for hit in (await momex.search("ann", "Where is my bike?")).found] == told_twice[::-1]


def test_no_word_stands_for_itself_and_phrases_are_read_whole() -> None:
    assert same_as("Where is my bike?", ["bike"]) == {
        "bicycle": "bike", "cycle": "bike", "pushbike": "bike", "two-wheeler": "bike",
    }  # fmt: skip
    assert same_as("Who do I report to?", ["report"])["boss"] == "report"
    assert same_as("What did the report say?", ["report"]) == {}
