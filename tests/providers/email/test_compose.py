"""Messages written: what is handed in is what two parsers read, and nothing becomes a header."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default

import pytest
from fast_mail_parser import parse_email
from hypothesis import example, given
from hypothesis import strategies as st

from providers.email.compose import (
    answered,
    as_mailed,
    compose,
    forward_subject,
    is_address,
    message_id_of,
    quoted,
    reply_subject,
    thread_of,
)
from providers.email.types import MailAddress, MailCalendar, MailFile, MailMessage, OutgoingMail
from tests.examples import examples

NOW = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
MAIL = OutgoingMail(
    sender=MailAddress("Ann Müller", "ann@example.org"),
    to=["sam@example.com"],
    cc=[],
    subject="Lunch",
    body="At noon?",
    date=NOW,
    message_id=message_id_of("turn.0.0", "ann@example.org"),
)
_PIECES = (
    "Grüße",
    "am",
    "Freitag",
    "日本語",
    "👩‍💻",
    "=?utf-8?q?hi?=",
    "=20",
    "?=",
    "<a@b>",
    "(c)",
    '"q"',
    ",",
    "",
    "\\",
    "x" * 80,
)
_subjects = st.lists(st.sampled_from(_PIECES) | st.text(max_size=12), max_size=30).map(" ".join)
_bodies = st.lists(st.sampled_from([*_PIECES, ".", "From x", "\n", "\n\n", "> a"]) | st.text(max_size=30)).map(" ".join)
_names = st.text(min_size=1, max_size=60).filter(str.isprintable).filter(str.strip)


def one_line(text: str) -> bool:
    return len(text) <= 500 and text.isprintable()


def lines(text: str) -> list[str]:
    """Return a text's lines as mail has them: it ends each in its own way, and the last one too."""
    return re.split("\r\n|\r|\n", text.rstrip("\r\n"))


@examples(200)
@given(_subjects.filter(one_line))
@example("Grüße zum Termin am Freitag für alle in München: Überraschung für dich um zehn Uhr")
@example("=?utf-8?q?hi?= there")
@example("a  b ")
def test_promise_9_a_subject_is_read_as_it_was_approved(subject: str) -> None:
    message = compose(replace(MAIL, subject=subject))
    assert str(message_from_bytes(message, policy=default)["Subject"]) == subject
    assert parse_email(message).subject == subject
    assert max(len(line) for line in message.split(b"\r\n")) <= 78
    assert sum(line.lower().startswith(b"subject:") for line in message.split(b"\r\n\r\n")[0].split(b"\r\n")) == 1


@examples(150)
@given(_bodies, st.booleans())
@example("a\n.\n..\nFrom me", False)
@example("trailing \t \nnext", True)
def test_promise_9_a_body_is_read_as_it_was_approved(body: str, files: bool) -> None:
    attached = [MailFile("a.txt", "text/plain", b"a\nb")] if files else []
    message = compose(replace(MAIL, body=body, files=attached))
    part = message_from_bytes(message, policy=default).get_body(("plain",))
    assert part is not None
    assert lines(part.get_content()) == lines(body)
    assert lines(parse_email(message).text_plain[0]) == lines(body)
    assert max(message) < 128
    assert max(len(line) for line in message.split(b"\r\n")) <= 998


@examples(150)
@given(_names, st.binary(max_size=200))
@example("Rechnung März 2026 – für Anna und Bob, mit allen Anlagen.pdf", b"%PDF-1.7")
@example('a"b\\c; filename=x.exe', b"x")
@example("x" * 60 + ".pdf", b"\r\n.\r\n")
@example("0 ", b"")
@example("=?utf-8?q?Invoice?=", b"")
@example("<>", b"")
def test_promise_9_a_file_arrives_as_it_is_under_its_name(name: str, data: bytes) -> None:
    message = compose(replace(MAIL, files=[MailFile(name, "application/pdf", data)]))
    [part] = message_from_bytes(message, policy=default).iter_attachments()
    assert part.get_content() == data
    # Readers drop the spaces around it, which no card shows, and would decode what begins like an encoded word.
    expected = name.strip().replace("=?", "=_")
    # Python's reader takes angle brackets around a whole name for quotation marks.
    is_bracketed = len(expected) > 1 and expected[0] == "<" and expected[-1] == ">"
    assert part.get_filename() == (expected[1:-1] if is_bracketed else expected)
    [attachment] = parse_email(message).attachments
    assert bytes(attachment.content) == data


@given(subject=st.text(max_size=80), body=st.text(max_size=200), name=st.text(max_size=30), file=st.text(max_size=30))
def test_nothing_that_is_said_becomes_a_header(subject: str, body: str, name: str, file: str) -> None:
    mail = replace(
        MAIL,
        sender=MailAddress(name, "ann@example.org"),
        subject=subject,
        body=body,
        in_reply_to=name,
        references=[file, subject],
        files=[MailFile(file, name, b"x")],
    )
    try:
        raw = compose(mail)
    except ValueError:
        return
    head = raw.partition(b"\r\n\r\n")[0].replace(b"\r\n ", b" ").replace(b"\r\n\t", b" ").split(b"\r\n")
    known = {b"from", b"to", b"subject", b"date", b"message-id", b"mime-version", b"content-type", b"references"}
    known |= {b"content-transfer-encoding", b"in-reply-to"}
    names = [line.partition(b":")[0].lower() for line in head]
    assert set(names) <= known
    assert len(names) == len(set(names))
    assert max(raw) < 128


@pytest.mark.parametrize(
    ("given", "good"),
    [
        ("sam@example.com", True),
        ("bo.b+x@sub.example.co", True),
        ("sam@müller.de", True),
        ("Sam <sam@example.com>", False),
        ("sam@example.com\r\nBcc: eve@example.com", False),
        ("sam@example.com\nRCPT TO:<eve@example.com>", False),
        ("sam@localhost", False),
        ("sam@@example.com", False),
        ('"a b"@example.com', False),
        ("", False),
    ],
)
def test_only_plain_addresses_are_mailed(given: str, good: bool) -> None:
    assert is_address(given) is good


def test_a_domain_in_any_script_is_written_as_dns_has_it() -> None:
    raw = compose(replace(MAIL, sender=MailAddress("", "ann@bücher.example"), to=["li@例え.jp"]))
    read = message_from_bytes(raw, policy=default)
    assert (read["From"], read["To"]) == ("ann@xn--bcher-kva.example", "li@xn--r8jz45g.jp")
    assert as_mailed("x@" + "ü" * 300) == "x@" + "ü" * 300


def test_the_same_call_has_the_same_message_id() -> None:
    first, again, other = (message_id_of(key, "ann@example.org") for key in ("t.0", "t.0", "t.1"))
    assert first == again != other
    assert f"Message-ID: <{first}>".encode() in compose(replace(MAIL, message_id=first))


def test_an_answer_stands_in_its_thread() -> None:
    old = MailMessage(message_id="3@x", references=("1@x", "2@x"))
    own, references = thread_of(old)
    assert (own, references) == ("3@x", ("1@x", "2@x", "3@x"))
    read = message_from_bytes(compose(replace(MAIL, in_reply_to=own, references=references)), policy=default)
    assert (read["In-Reply-To"], read["References"].split()) == ("<3@x>", ["<1@x>", "<2@x>", "<3@x>"])
    long = replace(old, references=tuple(f"{number}@x" for number in range(100, 160)))
    assert (thread_of(long)[1][0], thread_of(long)[1][-2:], len(thread_of(long)[1])) == ("100@x", ("159@x", "3@x"), 20)
    assert thread_of(MailMessage(message_id="a b\r\nBcc: x@y.z")) == (None, ())


@pytest.mark.parametrize(
    ("subject", "reply", "forward"),
    [
        ("Invoice", "Re: Invoice", "Fwd: Invoice"),
        ("Re: Invoice", "Re: Invoice", "Fwd: Re: Invoice"),
        ("AW: Rechnung", "AW: Rechnung", "Fwd: AW: Rechnung"),
        ("FW: x", "Re: FW: x", "FW: x"),
        ("Request", "Re: Request", "Fwd: Request"),
        ("", "Re:", "Fwd:"),
    ],
)
def test_subjects_of_answers_are_marked_once(subject: str, reply: str, forward: str) -> None:
    assert (reply_subject(subject), forward_subject(subject)) == (reply, forward)


def test_an_event_stands_beside_the_text_for_calendar_programs() -> None:
    text = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nSUMMARY:Grüße\r\nEND:VCALENDAR\r\n"
    files = [MailFile("minutes.txt", "text/plain", b"one")]
    raw = compose(replace(MAIL, body="Grüße", calendar=MailCalendar("REQUEST", text), files=files))
    assert raw.isascii()
    message = message_from_bytes(raw, policy=default)
    [attached] = message.iter_attachments()
    assert attached.get_filename() == "minutes.txt"
    both = next(part for part in message.walk() if part.get_content_type() == "multipart/alternative")
    plain, calendar = both.iter_parts()
    assert plain.get_content().strip() == "Grüße"
    assert calendar.get_content_type() == "text/calendar"
    params = {name: calendar.get_param(name) for name in ("method", "charset", "component")}
    assert params == {"method": "REQUEST", "charset": "utf-8", "component": "VEVENT"}
    assert lines(calendar.get_content()) == lines(text)
    assert calendar.get_content_disposition() is None


def test_an_answer_goes_to_whom_its_sender_named() -> None:
    bob, eve, ann = (MailAddress(name, f"{name.lower()}@example.com") for name in ("Bob", "Eve", "Ann"))
    mail = MailMessage(sender=(bob,), to=(ann, eve), cc=(MailAddress("", "BOB@example.com"),))
    assert answered(mail, "ann@example.com") == (["bob@example.com"], [])
    assert answered(mail, "Ann@example.com", everybody=True) == (["bob@example.com"], ["eve@example.com"])
    assert answered(replace(mail, reply_to=(eve,)), "ann@example.com") == (["eve@example.com"], [])
    assert answered(mail, "bob@example.com") == (["ann@example.com", "eve@example.com"], [])


def test_a_quote_stands_line_by_line() -> None:
    assert quoted(MailMessage(text="Hi\n\n> older\nBye")) == "> Hi\n>\n> > older\n> Bye"


SMUGGLED = "=?utf-8?q?x=0D=0ABcc:_eve@example.org=0D=0A=0D=0APay_Eve?="


def test_an_encoded_word_in_a_name_is_no_header() -> None:
    files = [MailFile(f"{SMUGGLED}.pdf", "application/pdf", b"pdf")]
    raw = compose(replace(MAIL, sender=MailAddress(SMUGGLED, "ann@example.org"), files=files, subject=SMUGGLED))
    message = message_from_bytes(raw, policy=default)
    assert [line for line in raw.splitlines() if line.startswith((b"Bcc", b"Pay"))] == []
    [file] = message.iter_attachments()
    assert (message["Bcc"], message["Subject"]) == (None, SMUGGLED)
    assert (file["Bcc"], file.get_content(), file.get_filename()) == (
        None,
        b"pdf",
        f"{SMUGGLED}.pdf".replace("=?", "=_"),
    )
    assert not is_address(f"{SMUGGLED[:20]}?=@example.org")
