"""Answers as people's mail programs write them: the person's own words are read, and nothing else, and "
"all of them."""

from email.message import EmailMessage
from html import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channels.email.receive import read_mail
from channels.email.written import Written, split_text
from core.language.unseen import without_unseen
from core.messaging.messages import InboundMessage, Origin
from providers.email.reading.mail_html import text_of_html
from providers.email.wire import message_id
from tests.channels.email.letters import PASSED, VALET, stored
from tests.channels.email.quotes import HTML, OWN_SENTENCES, PLAIN
from tests.examples import examples

OURS = message_id("part_1", "aaaabbbbccccdddd", "example.org")
OWN = "Yes, at nine.\n\nAnd bring the book."
SENTENCES = st.lists(
    st.one_of(
        st.sampled_from([one for one in OWN_SENTENCES if any(map(str.isalpha, one))]),
        st.from_regex(r"[A-Za-z][a-z ,]{0,40}[a-z.?:!]", fullmatch=True),
    ),
    min_size=1,
    max_size=4,
)


def split(text: str) -> Written:
    """Divide a text as it comes from the reader."""
    return split_text(without_unseen(text), ours=VALET.address)


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("form", PLAIN.values(), ids=PLAIN.keys())
def test_what_a_program_quotes_in_plain_text_is_not_what_was_written(form: str) -> None:
    assert split(form.replace("{own}", OWN)) == Written(OWN)


@pytest.mark.parametrize("form", HTML.values(), ids=HTML.keys())
def test_what_a_program_quotes_in_html_is_not_what_was_written(form: str) -> None:
    own = "Yes, at nine.<br><br>And bring the book."
    assert split(text_of_html(form.replace("{own}", own))) == Written(OWN)


async def test_a_code_in_any_programs_answer_is_all_that_was_said() -> None:
    """The whole way from the mailbox's bytes, through the process that reads them."""
    wrong: dict[str, str] = {}
    for name, form in [*PLAIN.items(), *HTML.items()]:
        mail = EmailMessage()
        mail["Authentication-Results"], mail["From"], mail["In-Reply-To"] = PASSED, "ada@example.com", OURS
        mail.set_content(form.replace("{own}", "OK 7K"), subtype="html" if form.startswith("<") else "plain")
        items = await read_mail(stored(mail.as_bytes()), VALET)
        said = [(item.text, item.origin) for item in items if isinstance(item, InboundMessage)]
        if said != [("OK 7K", Origin.OWN)]:
            wrong[name] = str(items)
    assert wrong == {}


@examples(150)
@given(SENTENCES, SENTENCES, st.sampled_from([*PLAIN.values()]))
@example(
    ["From: Paris"], ["Subject: what I said on Monday", "Sent: yes, this morning at 9:00"], next(iter(PLAIN.values()))
)
@example(["Sent: yes, this morning at 9:00", "Subject: what I said on Monday"], ["Yes."], PLAIN["Outlook, en"])
@example(["The address is sam@example.com, at 9:00 on 23.11.2026.", "Aaaaa:"], ["Yes."], next(iter(PLAIN.values())))
def test_a_persons_own_sentence_always_survives_in_plain_text(above: list[str], below: list[str], form: str) -> None:
    own = split(form.replace("{own}", "\n".join(above))).own
    assert [one for one in above if squeezed(one) not in squeezed(own)] == []
    marked = "On Mon, Nov 23, 2026 at 9:00 AM Valet <valet@example.org> wrote:\n> Tea?\n{0}\n\n> Milk?\n{1}"
    own = split(marked.format("\n".join(above), "\n".join(below))).own
    assert [one for one in [*above, *below] if squeezed(one) not in squeezed(own)] == []


@examples(100)
@given(SENTENCES, st.sampled_from([*HTML.values()]))
@example(["----- my notes -----"], next(form for form in HTML.values() if "divRplyFwdMsg" in form))
def test_a_persons_own_sentence_always_survives_in_html(said: list[str], form: str) -> None:
    own = split(text_of_html(form.replace("{own}", "<br>".join(map(escape, said))))).own
    assert [one for one in said if squeezed(one) not in squeezed(own)] == []


@pytest.mark.parametrize("sentence", OWN_SENTENCES)
@pytest.mark.parametrize("answers", [True, False])
def test_what_only_looks_like_a_mark_stays(sentence: str, answers: bool) -> None:
    text = f"Look.\n{sentence}\nThat was it.\n\n{sentence}\n\nIs that right?"
    assert split_text(text, answers=answers, ours=VALET.address) == Written(text)


@pytest.mark.parametrize("sentence", [one for one in OWN_SENTENCES if one.endswith(":") or one.endswith("：")])
def test_what_a_person_quotes_themselves_stays_where_they_answer_nothing(sentence: str) -> None:
    text = f"{sentence}\n> I shall be late.\n\nIs that right?"
    assert split_text(text, answers=False, ours=VALET.address) == Written(text)


def test_a_line_that_begins_like_a_quote_stays_above_what_a_program_quotes() -> None:
    text = "> 5 people come.\n\nOn Mon, Nov 23, 2026 at 9:00 AM Valet <valet@example.org> wrote:\n> How many?"
    assert split(text) == Written("> 5 people come.")


def test_what_a_person_pastes_with_its_headers_is_somebody_elses() -> None:
    pasted = "From: Bob <bob@example.net>\nSent: Monday, 23 November 2026 9:00\nTo: Ada\nSubject: Dinner\n\nFriday?"
    assert split_text(f"Put this in.\n\n{pasted}", answers=False) == Written("Put this in.", pasted)


def test_anothers_words_below_a_line_that_names_them_stay() -> None:
    text = "See what I got.\n\nOn Mon, Nov 23, 2026 at 9:00 AM Bob <bob@example.net> wrote:\n\nLunch?\n\nIs he right?"
    assert split(text) == Written(text)


def test_an_own_paragraph_that_is_indented_is_no_quote() -> None:
    page = (
        "<div>First<blockquote style='margin:0 0 0 40px;border:none;padding:0px' "
        "class='gmail_quote'><div>second</div>"
        "</blockquote></div><blockquote style='margin-top:0;margin-bottom:0'>third</blockquote>"
    )
    assert split(text_of_html(page)).own.split() == ["First", "second", "third"]
