"""What a person wrote now, without what their mail program puts around it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.email.written import Written, alone, split_text
from providers.email.reading.mail_html import text_of_html


@pytest.mark.parametrize(
    "mark",
    [
        "---------- Forwarded message ---------",
        "-------- Weitergeleitete Nachricht --------",
        "Begin forwarded message:",
        "Début du message transféré :",
    ],
)
def test_what_is_passed_on_stands_apart(mark: str) -> None:
    passed = f"{mark}\nFrom: Bob <bob@example.net>\nSubject: Rent\n\n> quoted by Bob\nPay me."
    assert split_text(f"Is this right?\n\n{passed}") == Written("Is this right?", passed)
    assert split_text(passed) == Written("", passed)


def test_outlooks_headers_pass_on_where_the_subject_says_so() -> None:
    below = "From: Bob <bob@example.net>\nSent: Monday, November 23, 2026 9:00 AM\nTo: Ada\nSubject: Rent\n\nPay me."
    assert split_text(f"See below\n\n{below}", passes_on=True) == Written("See below", below)
    assert split_text("Pay me.", passes_on=True) == Written("", "Pay me.")


def test_a_first_line_stands_alone_before_a_greeting_and_a_name_only() -> None:
    names = "Ada Lovelace ada"
    for text in ("OK 7K", "OK 7K\n\nThanks!\nAda", "OK 7K\nBest regards,\nAda Lovelace", "OK 7K\nViele Grüße\n\nADA"):
        assert alone(text, names) == "OK 7K"
    for text in ("OK 7K\n\nbut at 3pm", "OK 7K\nThanks\nno, wait", "OK 7K\nAda says no", "OK 7K\nBob"):
        assert alone(text, names) == text


@given(st.text(max_size=500))
def test_any_text_is_read(text: str) -> None:
    split_text(text)
    split_text(text, passes_on=True)


@pytest.mark.whole("it measures")
@contextmanager
def in_little_time() -> Iterator[None]:
    begun = time.process_time()
    yield
    assert time.process_time() - begun < 5.0


@pytest.mark.whole("it measures")
@pytest.mark.parametrize(
    "piece",
    [
        "On a",
        "On \n",
        ">\n",
        "From: a\n",
        "From: a\nSent: 23 November 2026 9:00\n",
        "_" * 50 + "\n",
        "_",
        "-" * 9 + "a" + "\n",
        "\n",
        "-- \n",
        "On 23.11.2026 9:00 a@b.example wrote:\n",
        "On 23.11.2026 9:00 a@b.example wrote:\n> a\n",
        "a:\n>\n",
        "Sent from my iPhone ",
        "Sent from my iPhone\n",
        "1.1.1.",
        "a@a.",
        "<",
        "在",
        "- ",
    ],
)
def test_no_mail_is_read_slowly(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    with in_little_time():
        split_text(text, ours="valet@example.org")
        split_text(text, passes_on=True, answers=False, ours="valet@example.org")


@pytest.mark.whole("it measures")
@pytest.mark.parametrize(
    "piece",
    [
        "<div>",
        "<blockquote type=cite>",
        "<blockquote>a:",
        "<blockquote></blockquote>",
        "<p>a</p><blockquote>b</blockquote>",
        "<a href='http://a'>a</a>",
        "<p>a<br>",
        "<",
        "&",
    ],
)
def test_no_page_is_read_slowly(piece: str) -> None:
    with in_little_time():
        text_of_html(piece * (200_000 // len(piece)))


def test_what_was_passed_on_in_quoted_history_is_history() -> None:
    quoted = "From: Valet <valet@example.org>\nSent: Monday 9:00\nSubject: Re: Rent\n\nI read:\n\n"
    text = f"Thanks.\n\n{quoted}---------- Forwarded message ---------\nFrom: Bob\n\nPay me."
    assert split_text(text) == Written("Thanks.")
