"""How values are written on a card: in full, and so that none can pass for another or for a line beside it."""

import pytest

from core.approvals.shown import as_text, visible
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
