"""What a person wrote now, without what their mail program puts around it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.email.html_text import text_of_html
from channels.email.written import Written, alone, split_text

OWN = "Yes, at nine.\n\nAnd bring the book."
BELOW = {
    "Gmail": "On Mon, Nov 23, 2026 at 9:00 AM Valet <valet@example.org> wrote:\n\n> Shall I?\n>\n> > Book",
    "Gmail, broken": "On Mon, Nov 23, 2026 at 9:00 AM Valet The Assistant\n<valet@example.org>\nwrote:\n> Shall I?",
    "German": "Am 23.11.2026 um 09:00 schrieb Valet <valet@example.org>:\n> Soll ich?",
    "French": "Le lun. 23 nov. 2026 à 09:00, Valet <valet@example.org> a écrit :\n> Oui ?",
    "Spanish": "El lun, 23 nov 2026 a las 9:00, Valet (<valet@example.org>) escribió:\n> ¿Sí?",
    "Portuguese": "Em seg., 23 de nov. de 2026 às 09:00, Valet <valet@example.org> escreveu:\n> Sim?",
    "Chinese": "在 2026年11月23日，Valet <valet@example.org> 写道：\n> 好吗？",
    "without marks": "On Mon, Nov 23, 2026 Valet wrote:\n\nShall I?",
    "Outlook": "____________\nFrom: Valet <valet@example.org>\nSent: Monday\nTo: Ada\nSubject: Re: Book\n\nShall I?",
    "Outlook, German": "Von: Valet <valet@example.org>\nGesendet: Montag\nAn: Ada\nBetreff: AW: Buch\n\nSoll ich?",
    "Outlook, old": "-----Original Message-----\nFrom: Valet\nShall I?",
    "bold": "*From:* Valet <valet@example.org>\n*Date:* Monday\n*To:* Ada\n*Subject:* Re: Book\n\nShall I?",
    "signature": "-- \nAda Lovelace\nAnalytical Engines Ltd.",
    "telephone": "Sent from my iPhone",
    "telephone, German": "Von meinem iPhone gesendet",
    "both": "Sent from my iPhone\n\n> On 23 Nov 2026, at 09:00, Valet <valet@example.org> wrote:\n>\n> Shall I?",
}


@pytest.mark.parametrize("below", BELOW.values(), ids=BELOW.keys())
def test_what_a_program_puts_below_is_not_what_was_written(below: str) -> None:
    assert split_text(f"{OWN}\n\n{below}\n") == Written(OWN)


def test_answers_between_quoted_lines_stay() -> None:
    text = "On Monday Valet wrote:\n> Tea or coffee?\nTea.\n\n> Milk?\nNo milk."
    assert split_text(text).own == "Tea.\n\nNo milk."


@pytest.mark.parametrize(
    "text",
    [
        "On Monday we wrote: nothing at all.",
        "From: Paris\nTo: Rome, by train",
        "On reflection\n\nI wrote: yes",
        "I was sent from my office to yours.",
    ],
)
def test_what_only_looks_like_a_mark_stays(text: str) -> None:
    assert split_text(text) == Written(text)


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
    below = "From: Bob <bob@example.net>\nSent: Monday\nTo: Ada\nSubject: Rent\n\nPay me."
    assert split_text(f"See below\n\n{below}", passes_on=True) == Written("See below", below)
    assert split_text("Pay me.", passes_on=True) == Written("", "Pay me.")


def test_a_first_line_stands_alone_before_a_greeting_and_a_name_only() -> None:
    names = "Ada Lovelace ada"
    for text in ("OK 7K", "OK 7K\n\nThanks!\nAda", "OK 7K\nBest regards,\nAda Lovelace", "OK 7K\nViele Grüße\n\nADA"):
        assert alone(text, names) == "OK 7K"
    for text in ("OK 7K\n\nbut at 3pm", "OK 7K\nThanks\nno, wait", "OK 7K\nAda says no", "OK 7K\nBob"):
        assert alone(text, names) == text


def test_html_is_read_as_it_is_seen() -> None:
    html = (
        "<html><head><style>p {color: red}</style></head><body><p>Yes &amp; <b>no</b><br>two</p>"
        "<ul><li>a</li><li>b</li></ul><div style='display:none'>hidden</div><script>x</script>"
        '<div class="gmail_quote">On Monday<blockquote>old</blockquote></div></body></html>'
    )
    assert text_of_html(html) == "Yes & no\ntwo\n\n- a\n- b"
    assert "old" in text_of_html(html, quoted=True)
    assert "hidden" not in text_of_html(html, quoted=True)


@given(st.text(max_size=500))
def test_any_text_and_any_html_is_read(text: str) -> None:
    split_text(text)
    split_text(text, passes_on=True)
    text_of_html(text)


@pytest.mark.whole("it measures")
@pytest.mark.parametrize(
    "piece", ["On a", "On \n", ">\n", "From: a\n", "_" * 50 + "\n", "\n", "-- \n", "<div>", "<", "&", "在", "- "]
)
def test_no_mail_is_read_slowly(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    begun = time.process_time()
    split_text(text)
    text_of_html(text)
    assert time.process_time() - begun < 5.0


def test_what_was_passed_on_in_quoted_history_is_history() -> None:
    quoted = "From: Valet <valet@example.org>\nSent: Monday\nSubject: Re: Rent\n\nI read:\n\n"
    text = f"Thanks.\n\n{quoted}---------- Forwarded message ---------\nFrom: Bob\n\nPay me."
    assert split_text(text) == Written("Thanks.")
