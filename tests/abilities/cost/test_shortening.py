"""Answers shortened by rules: whole sentences in their order, the important ones, in the room, in every language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abilities.cost.shortening import shorten

TRIP = """You can go to Lisbon for 412 euros. I have looked at all that there is.

## Flights

TAP leaves at 07:10, e.g. on the 3. May, and is back at 21:40. Some people like early flights very much.

| day | price |
|---|---|
| Monday | 99 |

- Hotel Borges is **in the centre**.
- It is said that the breakfast there is rather good, all in all.

```
secret code of 12 lines
```

There are trams. Shall I book it?"""


@pytest.mark.parametrize(
    ("room", "kept"),
    [
        (60, "You can go to Lisbon for 412 euros.\nShall I book it?"),
        (
            170,
            "You can go to Lisbon for 412 euros.\n"
            "TAP leaves at 07:10, e.g. on the 3. May, and is back at 21:40.\n"
            "- Hotel Borges is **in the centre**.\nThere are trams. Shall I book it?",
        ),
    ],
)
def test_the_important_sentences_are_kept_whole_and_in_order(room: int, kept: str) -> None:
    assert shorten(TRIP, room) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "Der Zug fährt um 9:15 Uhr. Das ist nicht früh. Manche sagen, es sei spät genug. Soll ich buchen?",
            "Der Zug fährt um 9:15 Uhr. Soll ich buchen?",
        ),
        (
            "火车9点15分开。这不算早。有人说已经很晚了，也有人说正好，大家的看法都不太一样，谁也说服不了谁。要我订票吗？",
            "火车9点15分开。 这不算早。 要我订票吗？",
        ),
    ],
)
def test_it_reads_no_words_of_any_one_language(text: str, kept: str) -> None:
    assert shorten(text, 50) == kept


def test_what_others_have_said_is_not_said_again() -> None:
    text = "The train leaves at seven. " + "The train leaves at seven sharp. " * 3 + "Bring your passport along."
    assert shorten(text, 70) == "The train leaves at seven. Bring your passport along."


@pytest.mark.parametrize("text", ["", "| a | b |\n|---|---|", "```\ncode\n```", "x" * 500, "word " * 200])
def test_an_answer_without_a_short_sentence_is_cut(text: str) -> None:
    short = shorten(text, 60)
    assert len(short) <= 60
    assert text.startswith(short.rstrip("…"))
    assert bool(short) == bool(text)


@given(st.lists(st.text(alphabet="abc 1.!?\n-#|*`。", max_size=80), max_size=12).map(" ".join), st.integers(40, 300))
def test_all_of_it_is_in_the_answer_and_in_the_room(text: str, room: int) -> None:
    short = shorten(text, room)
    assert len(short) <= room
    at = 0
    for piece in short.rstrip("…").split():
        at = text.find(piece, at)
        assert at >= 0, piece
        at += len(piece)
