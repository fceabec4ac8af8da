"""Recall in languages that put no spaces between words, and what is told in few letters."""

import pytest

from abilities.memory.extraction.statements import statements
from abilities.memory.extraction.words import content_words
from abilities.memory.momex import Momex
from tests.abilities.memory.harness import told

LIFE = [
    "我妹妹叫小雨。",
    "我住在上海浦东。",
    "我对花生过敏。",
    "我的车停在三号楼下面。",
    "私の妹の名前は花子です。",
    "ドイツ語を勉強しています。",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("我妹妹叫什么名字？", LIFE[0]),
        ("我住在哪里？", LIFE[1]),
        ("我对什么过敏？", LIFE[2]),
        ("我的车停在哪里？", LIFE[3]),
        ("私の妹の名前は何ですか？", LIFE[4]),
        ("私は何語を勉強していますか？", LIFE[5]),
    ],
)
async def test_what_was_told_without_spaces_is_recalled(momex: Momex, question: str, answer: str) -> None:
    await momex.add_now("ann", [told(text, days_ago=3) for text in LIFE])
    assert (await momex.search("ann", question)).found[0].memory.text == answer


@pytest.mark.parametrize("question", ["我的雨伞在哪里？", "谁是我的老板？", "今天天气怎么样？"])
async def test_a_question_about_something_else_recalls_nothing(momex: Momex, question: str) -> None:
    await momex.add_now("ann", [told(text, days_ago=3) for text in LIFE])
    assert [hit.memory.text for hit in (await momex.search("ann", question)).found] == []


async def test_what_is_asked_to_be_remembered_may_be_short(momex: Momex) -> None:
    assert await momex.add_now("ann", [told("我喜欢喝茶")])
    assert await momex.add_now("ann", [told("Likes tea")])
    assert not await momex.add_now("ann", [told("Thanks!")])


def test_words_without_spaces_are_pairs_of_what_carries_meaning() -> None:
    assert content_words("我妹妹叫什么名字？") == ["妹妹"]
    assert content_words("My car 停在三号楼") == ["car", "停", "三号", "号楼"]


def test_a_german_date_does_not_end_a_statement() -> None:
    assert statements("Mein Zug fährt am 3. Dezember. Ich freue mich.") == [
        "Mein Zug fährt am 3. Dezember.",
        "Ich freue mich.",
    ]
