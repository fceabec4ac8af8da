"""How values are written on a card: in full, and so that none can pass for another or for a line beside it."""

import pytest

from core.approvals.consent import call_order
from core.approvals.describe import _heading
from core.approvals.rendering import as_text
from core.json_types import Json
from core.language.catalogue import LANGUAGES, speaking
from core.language.yes_no import read_yes_or_no, yes_or_no
from core.messaging.visible_text import is_short, plain_line, plain_words, visible


@pytest.mark.parametrize(
    ("value", "other"),
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
def test_what_is_not_the_same_is_not_shown_the_same(value: Json, other: Json) -> None:
    assert as_text(value) != as_text(other)


def test_a_list_of_one_is_shown_as_its_entry_and_as_no_other_list() -> None:
    assert as_text(["1. Tea"]) == "1. Tea"
    one, two = as_text(["1. Tea, and milk"]), as_text(["1. Tea", "and milk"])
    assert (one, two) == ('"1. Tea, and milk"', "1. Tea, and milk")
    assert as_text(["- tea"]) == '"- tea"'


def test_pictures_stay_as_they_are_and_their_marks_hide_nothing_elsewhere() -> None:
    for picture in ("👍🏽", "❤️", "👩‍💻", "🇩🇪", "1️⃣"):
        assert visible(picture) == picture
    assert visible("a\ufe0f") == "a<U+FE0F>"
    assert visible("a\u200db") == "a<U+200D>b"


def test_a_heading_names_distinguishing_arguments_and_states_omissions() -> None:
    assert (
        _heading("send_mail", {"to": "a_b@x.com", "cc": "", "body": "two\nlines"}) == "send mail (to: a_b@x.com, ...)"
    )
    assert _heading("pay", {"amount_in_euros": 5, "to": "<sam>"}) == "pay (amount in euros: 5, to: <sam>)"
    assert _heading("note", {"text": "x" * 80}) == "note"
    assert _heading("undo", {}) == "undo"


def test_cards_stand_in_the_order_of_their_calls() -> None:
    places = ["0.1/a", "0.2/b", "0.10/a", "1.1/Bank2#1", "1.1/Bank2#2", "1.1/Bank2/0.3/pay"]
    mixed = [places[number] for number in (4, 2, 5, 1, 3, 0)]
    assert sorted(mixed, key=call_order) == [*places[:3], "1.1/Bank2/0.3/pay", *places[3:5]]


@pytest.mark.parametrize("text", ["to a_b@example.com", "file_1_of_2.txt", "Ünter_ä: 5", "x" * 200])
def test_what_is_no_markup_stands_in_a_heading_as_it_is(text: str) -> None:
    assert plain_line(text) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("*b* _i_ __b__ [x](y) `c` #h <u> {code} a|b \\", "*b* _i_ __b__ [x](y) `c` #h <u> {code} a|b \\"),
        ("_a b_", "_a b_"),
        ("one\n\ntwo\tthree", "one two three"),
    ],
)
def test_a_heading_keeps_every_character_in_one_line(text: str, line: str) -> None:
    assert plain_line(text) == line


def test_a_cut_is_marked_in_the_text_and_reported_to_the_caller() -> None:
    assert plain_line("x" * 201).endswith("x...")
    assert not is_short("x" * 201)
    assert is_short("x" * 200)
    assert plain_words("x " * 500) == " ".join("x" * 500)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay@\u0440\u0430ypal.com", "pay@<U+0440><U+0430>ypal.com"),
        ("g\u03bf\u03bfgle", "g<U+03BF><U+03BF>gle"),
        ("\uff41pple", "<U+FF41>pple"),
        ("\U0001d42dip", "<U+1D42D>ip"),
        ("Привет, как дела", "Привет, как дела"),
        ("Καλημέρα Ada", "Καλημέρα Ada"),
        ("日本語テキストsushi", "日本語テキストsushi"),
        ("caf\u00e9 1\u00aa \u00b5m", "caf\u00e9 1\u00aa \u00b5m"),
    ],
)
def test_letters_that_pose_as_another_scripts_are_named(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_spaces_that_push_words_out_of_sight_are_counted() -> None:
    assert visible("$10" + " " * 300 + "000 to Eve") == "$10 <300 spaces> 000 to Eve"
    assert visible("    indented\n  as code  is") == "    indented\n  as code  is"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_the_same_is_not_shown_the_same_in_any_language(language: str) -> None:
    with speaking(language):
        values: tuple[Json, ...] = (None, "", True, False, [])
        for value in values:
            ours = as_text(value)
            assert as_text([ours]) != as_text([value])
            assert as_text({"a": ours}) != as_text({"a": value})
        assert as_text(as_text(None)) != as_text(None)
        assert as_text(as_text("")) != as_text("")


@pytest.mark.parametrize("language", LANGUAGES)
def test_yes_and_no_are_read_in_the_language_in_which_they_were_shown(language: str) -> None:
    with speaking(language):
        shown = [yes_or_no(True), yes_or_no(False)]
    assert [read_yes_or_no(word.upper()) for word in shown] == [True, False]
    assert read_yes_or_no("perhaps") is None
