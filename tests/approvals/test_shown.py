"""How values are written on a card: in full, and so that none can pass for another or for a line beside it."""

import pytest

from core.approvals.shown import as_text, is_short, plain_line, plain_words, visible
from core.json_types import Json


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["a@x", "b@y"], ["a@x, b@y"]),
        ({"a": "1", "b": "2"}, {"a": "1\nb: 2"}),
        ([["a"], "- b"], [["a\n- - b"]]),
        ("a\u200bb", "ab"),
        ("a\u3164b", "ab"),
        ("\u202eabc", "cba"),
        ("a\u00a0b", "a b"),
    ],
)
def test_what_is_not_the_same_is_not_shown_the_same(one: Json, other: Json) -> None:
    assert as_text(one) != as_text(other)


def test_pictures_stay_as_they_are_and_their_marks_hide_nothing_elsewhere() -> None:
    for picture in ("👍🏽", "❤️", "👩‍💻", "🇩🇪", "1️⃣"):
        assert visible(picture) == picture
    assert visible("a\ufe0f") == "a<U+FE0F>"
    assert visible("a\u200db") == "a<U+200D>b"


@pytest.mark.parametrize("text", ["to a_b@example.com", "file_1_of_2.txt", "Ünter_ä: 5", "x" * 200])
def test_what_is_no_markup_stands_in_a_heading_as_it_is(text: str) -> None:
    assert plain_line(text) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("*b* _i_ __b__ [x](y) `c` #h <u> {code} a|b \\", "b i b x(y) c h u code ab"),
        ("_a b_", "a b"),
        ("one\n\ntwo\tthree", "one two three"),
    ],
)
def test_a_heading_has_no_markup_and_one_line(text: str, line: str) -> None:
    assert plain_line(text) == line


def test_a_cut_says_so_and_whoever_shows_it_can_tell() -> None:
    assert plain_line("x" * 201).endswith("x...")
    assert not is_short("x" * 201)
    assert is_short("x" * 200)
    assert plain_words("x " * 500) == " ".join("x" * 500)
