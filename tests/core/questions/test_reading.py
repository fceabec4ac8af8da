"""Typed answers: by what stands before choices, by their words, and nothing that may mean something else."""

import pytest

from core.language.catalogue import speaking
from core.questions.buttons import actions, read_choice
from core.questions.reading import read_picks
from core.questions.types import SKIP, Asked, Question
from core.questions.wording import in_words, last_key, line, with_keys

PIZZA = Asked("kind", "Which pizza?", ("Margherita", "Funghi"))
SAUCE = Asked("sauce", "Extra sauce?", ("yes", "no"), skip=True)
TIP = Asked("tip", "A tip?", ("yes", "no"))
BOTH = with_keys((PIZZA, SAUCE))


@pytest.mark.parametrize(
    ("said", "picks"),
    [
        ("1", {0: 0}),
        (" 2. ", {0: 1}),
        ("2 3", {0: 1, 1: 0}),
        ("2,3", {0: 1, 1: 0}),
        ("4 and 1", {0: 0, 1: 1}),
        ("(1) #5", {0: 0, 1: SKIP}),
        ("FUNGHI", {0: 1}),
        ("funghi, no", {0: 1, 1: 1}),
        ("funghi, skip", {0: 1, 1: SKIP}),
        ("1, no", {0: 0, 1: 1}),
        ("２、３", {0: 1, 1: 0}),
        ("1 2", None),
        ("1 9", None),
        ("6", None),
        ("12", None),
        ("funghi please", None),
        ("2 of them", None),
        ("skip", None),
        ("", None),
        ("...", None),
    ],
)
def test_a_typed_answer_is_read_or_left_to_the_model(said: str, picks: object) -> None:
    assert read_picks(BOTH, said) == picks


def test_the_same_words_in_two_questions_count_in_their_order_only() -> None:
    asks = with_keys((SAUCE, TIP))
    assert read_picks(asks, "yes") is None
    assert read_picks(asks, "yes, no") == {0: 0, 1: 1}
    assert read_picks(asks, "no, yes, no") is None


def test_words_do_not_count_while_they_may_mean_an_approval() -> None:
    assert read_picks(BOTH, "no", by_words=False) is None
    assert read_picks(BOTH, "2 4", by_words=False) == {0: 1, 1: 1}


@pytest.mark.parametrize("word", ["skip", "Überspringen", "omitir", "passer", "saltar", "跳过"])
def test_a_single_question_is_skipped_in_any_language(word: str) -> None:
    assert read_picks(with_keys([SAUCE]), word) == {0: SKIP}
    assert read_picks(with_keys([TIP]), word) is None


def test_choices_with_numbers_of_their_own_are_lettered() -> None:
    asks = with_keys([Asked("guests", "How many?", ("2 people", "4 people")), PIZZA])
    assert [asked.keys for asked in asks] == [("a", "b"), ("c", "d")]
    assert read_picks(asks, "2") is None
    assert read_picks(asks, "B d") == {0: 1, 1: 1}
    assert with_keys([Asked("guests", "How many?", ("two", "four"), free=True)])[0].keys == ("a", "b")


def test_what_is_typed_goes_on_after_other_questions() -> None:
    assert last_key(BOTH) == 5
    [asked] = with_keys([TIP], last_key(BOTH))
    assert asked.keys == ("6", "7")
    assert read_picks([*BOTH, asked], "7 1") == {0: 0, 2: 1}


def test_a_question_without_choices_has_nothing_to_type_but_skip() -> None:
    [asked] = with_keys([Asked("note", "A note?", free=True, skip=True)])
    assert asked.keys == ()
    assert in_words([asked]) == "A note?\nReply “skip” to leave it out."
    assert in_words([Asked("note", "A note?")]) == "A note?"


def test_texts_are_shown_as_they_are_and_in_one_line() -> None:
    asked = with_keys([Asked("x", "# Which\n*one*?", ("<!channel>", "[a](http://x)", "1. b_c_"))])
    assert in_words(asked) == (
        "\\# Which \\*one\\*?\na: \\<!channel>\nb: \\[a\\](http://x)\nc: 1. b_c\\_\nReply with one of these, such as a."
    )
    assert line("2) two") == "2\\) two"


def test_buttons_carry_their_choice_and_a_token() -> None:
    token = "A" * 22
    [margherita, funghi] = actions(PIZZA, token)
    assert (margherita.label, read_choice(margherita.token)) == ("Margherita", (0, token))
    assert read_choice(funghi.token) == (1, token)
    with speaking("de"):
        skip = actions(SAUCE, f"01.{token}")[-1]
    assert (skip.label, read_choice(skip.token)) == ("Überspringen", (SKIP, f"01.{token}"))
    for other in (f"approve.{token}", f"pick.{token}", f"pick123.{token}", "pick1.short", f"pick1.{token}x"):
        assert read_choice(other) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": " "},
        {"text": "x" * 1001},
        {"choices": ["one"]},
        {"choices": ["a"] * 21},
        {"choices": ["a", "A"]},
        {"choices": ["a", " "]},
        {"choices": ["a", "b" * 201]},
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"question|choice"):
        Question(**({"text": "Which?"} | wrong))  # type: ignore[arg-type]
