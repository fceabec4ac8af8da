"""What a mail means: whose it is, in which conversation, which words count, and what gets no answer."""

from collections.abc import Sequence
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.email.parse import ONLY_QUOTED, parse_headers
from channels.email.parse import Mail as _Mail
from core.messaging.inbound import Inbound
from core.messaging.messages import Command, IgnoredMessage, IgnoreReason, InboundMessage, Origin
from providers.email.wire import MAX_MAIL, message_id, thread_of
from tests.channels.email.letters import PASSED, VALET, letter, stored, understood
from tests.examples import examples

FORWARDED = "---------- Forwarded message ---------\nFrom: Bob <bob@example.net>\nSubject: Rent\n\nPay me."
OURS = message_id("part_1", "aaaabbbbccccdddd", "example.org")


def read(raw: bytes, uid: int = 7) -> Sequence[Inbound]:
    with pytest.MonkeyPatch.context() as patch:
        return understood(stored(raw, uid), patch)


def one(raw: bytes) -> InboundMessage:
    (item,) = read(raw)
    assert isinstance(item, InboundMessage)
    return item


def reason(raw: bytes) -> IgnoreReason:
    (item,) = read(raw)
    assert isinstance(item, IgnoredMessage)
    assert (item.sender, item.address.peer) == ("", "")
    return item.reason


# Whose it is


def test_a_mail_becomes_a_message_of_its_proven_sender() -> None:
    message = one(letter("What is on today?", subject="My day"))
    assert (message.sender, message.address.peer, message.sender_name) == (
        "ada@example.com",
        "ada@example.com",
        "Ada Lovelace",
    )
    assert (message.text, message.subject) == ("My day\n\nWhat is on today?", "My day")
    assert message.provider_id == "<one@example.com>"
    assert message.keys == ("uid:1.7", "message:ada@example.com:<one@example.com>")
    assert message.sent_at is not None


def test_a_sender_is_the_same_whatever_the_case_of_the_address() -> None:
    assert one(letter(sender="ADA@Example.COM")).sender == "ada@example.com"


@pytest.mark.parametrize(
    "sender",
    [
        "ada@example.com, bob@example.com",
        "a: ada@example.com;",
        "ada@example.com <bob@attacker.net>",
        '"ada@example.com" <bob@attacker.net>',
        "ada@example.com)bob@attacker.net",
        "(ada@example.com) bob@attacker.net",
        "<ada@example.com",
        "ada",
        "",
        "ada@example.com\tbob@attacker.net",
        # The proof is about the domain: an address beside it is another person's.
        "<bob@example.com>, <ada@example.com>",
        "bob@example.com <ada@example.com>",
        '"Bob <bob@example.com>" <ada@example.com>',
        "Bob (bob@example.com) <ada@example.com>",
        "ada@example.com (, bob@example.com)",
        "ada(x\\)@example.com",
        "ada(,bob)@example.com",
        "<bob@example.com> <ada@example.com>",
        "<bob@example.com>ada@example.com",
        "<@example.com:ada@example.com>",
        "<@example.com,@example.net:ada@example.com>",
        "a:bob@example.com,ada@example.com;",
        "ada@bob@example.com",
        '"ada@example.com',
        "ada @example.com",
        "<ada@example .com>",
        "ada@example.com\x00@bob.example.com",
        "=?utf-8?q?ada=40example.com?=",
        "=?utf-8?q?ada?=@example.com",
        "ada@=?utf-8?q?example?=.com",
        "ada@ex\u00e4mple.com",
        "ada@example.com.",
        "ada@[192.0.2.1]",
        "<>",
        "ada@example.com; bob@example.com",
    ],
)
def test_promise_12_an_odd_from_is_nobody_whom_the_proof_is_about(sender: str) -> None:
    raw = letter(sender="x@example.com").replace(b"From: x@example.com", b"From: " + sender.encode())
    assert reason(raw) is IgnoreReason.UNPROVEN


BESIDE = {
    "as it is": (b"", True),
    "another From": (b"From: bob@example.com\n", False),
    "another From in capitals": (b"FROM: bob@example.com\n", False),
    "a From with a space": (b"From : bob@example.com\n", False),
    "a From with a tab": (b"From\t: bob@example.com\n", False),
    "a From behind a NUL": (b"\x00From: bob@example.com\n", False),
    "a From behind a carriage return": (b"X: a\rFrom: bob@example.com\n", False),
    "an end of the headers that is one to some": (b"X: a\r\rFrom: bob@example.com\n", False),
    "a line without a colon": (b"From bob@example.com\n", False),
    "a line that ends the headers to some": (b"bob\n", False),
    "a NUL": (b"X: a\x00b\n", False),
    "a From of whom it was sent again by": (b"Resent-From: bob@example.com\n", True),
    "a sender": (b"Sender: bob@example.com\n", True),
    "results under another name": (b"X-Authentication-Results: mx.example.org; dmarc=fail\n", True),
    "a chain of others": (b"ARC-Authentication-Results: i=1; mx.example.org; dmarc=fail\n", True),
    "a signature": (b"DKIM-Signature: v=1; d=example.com; bh=l=; b=abc\n", True),
    "a signature of the beginning": (b"DKIM-Signature: v=1; d=example.com;\n l = 20; b=abc\n", False),
    "letters of another character set": (b"X: \xff\xfe\n", True),
}


@pytest.mark.parametrize(("line", "counts"), BESIDE.values(), ids=BESIDE.keys())
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_promise_12_headers_that_have_two_readings_prove_nothing(line: bytes, counts: bool, ending: bytes) -> None:
    raw = letter().replace(b"From: ", line + b"From: ", 1).replace(b"\n", ending)
    found = parse_headers(stored(raw), VALET)
    assert (found is None) == counts
    assert found is None or found.reason is IgnoreReason.UNPROVEN


def test_promise_12_a_first_line_that_is_a_from_to_some_proves_nothing() -> None:
    assert reason(b"From : bob@example.com\n" + letter()) is IgnoreReason.UNPROVEN


def test_promise_12_lines_that_end_in_two_ways_prove_nothing() -> None:
    raw = letter().replace(b"\n", b"\r\n").replace(b"Date: ", b"X: a\nDate: ", 1)
    assert reason(raw) is IgnoreReason.UNPROVEN


def test_a_beginning_is_read_though_its_headers_go_on() -> None:
    raw = letter(X_Long="a" * 500)
    assert parse_headers(_Mail(1, 7, len(raw), raw[: raw.index(b"X-Long") + 3]), VALET) is None
    assert reason(raw.replace(b"X-Long: ", b"From: bob@example.com\nX-Long: ")) is IgnoreReason.UNPROVEN


@pytest.mark.parametrize("sender", ["ada@example.com (Ada Lovelace)", '"Lovelace, Ada: \\"A\\"" <ada@example.com>'])
def test_comments_and_quotes_that_are_names_are_left_out(sender: str) -> None:
    raw = letter(sender="x@example.com").replace(b"From: x@example.com", b"From: " + sender.encode())
    assert one(raw).sender == "ada@example.com"


def test_promise_12_two_froms_are_nobody() -> None:
    raw = letter().replace(b"From: ", b"From: Bob <bob@attacker.net>\nFrom: ", 1)
    assert reason(raw) is IgnoreReason.UNPROVEN


@pytest.mark.parametrize(
    "proof",
    [
        (),
        ("mx.example.org; dmarc=fail header.from=example.com", PASSED),
        ("mx.attacker.net; dmarc=pass header.from=example.com",),
        ("mx.example.org; dkim=pass header.d=attacker.net",),
        ("mx.example.org; none", PASSED),
    ],
)
def test_promise_12_a_forged_from_ends_before_its_text(proof: tuple[str, ...]) -> None:
    assert reason(letter("OK 7K", proof=proof)) is IgnoreReason.UNPROVEN


def test_promise_12_those_in_cc_are_nobodys_concern() -> None:
    message = one(letter(Cc="Bob <bob@example.net>", Reply_To="bob@example.net", Sender="eve@example.net"))
    assert (message.sender, message.address.peer) == ("ada@example.com", "ada@example.com")


# Who gets no answer


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto-Submitted": "auto-replied"},
        {"Auto-Submitted": "auto-generated; owner-email=a@b"},
        {"Precedence": "bulk"},
        {"Precedence": "LIST"},
        {"List-Id": "<all.example.com>"},
        {"X-Autoreply": "yes"},
        {"Return-Path": "<>"},
    ],
)
def test_promise_6_what_a_program_wrote_gets_no_answer(headers: dict[str, str]) -> None:
    assert reason(letter(**headers)) is IgnoreReason.BOT


def test_promise_6_what_no_person_can_have_written_gets_no_answer() -> None:
    for name in ("MAILER-DAEMON", "postmaster", "no-reply", "bounces+1"):
        assert reason(letter(sender=f"{name}@example.com")) is IgnoreReason.BOT
    proof = ("mx.example.org; dmarc=pass header.from=example.org",)
    assert reason(letter(sender="Valet@example.org", proof=proof)) is IgnoreReason.OWN
    assert reason(letter("  \n", In_Reply_To=OURS)) is IgnoreReason.EMPTY
    assert one(letter(Auto_Submitted="no")).text == "Hello"


def test_a_mail_that_is_too_large_is_never_read() -> None:
    raw = letter()
    item = parse_headers(_Mail(1, 7, MAX_MAIL + 1, raw), VALET)
    assert item is not None
    assert (item.reason, item.sender) == (IgnoreReason.UNSUPPORTED, "ada@example.com")
    assert "30 MB" in item.reply


# Which conversation


def test_a_thread_is_one_conversation_and_a_new_subject_another() -> None:
    first = one(letter(id="<a@example.com>"))
    assert first.address.thread == thread_of("<a@example.com>") != one(letter(id="<b@example.com>")).address.thread
    answer = message_id("part_1", first.address.thread, "example.org")
    for headers in (
        {"In_Reply_To": answer},
        {"References": f"<a@example.com> {answer}", "In_Reply_To": answer},
        {"References": "<a@example.com>", "In_Reply_To": "<a@example.com>"},
    ):
        assert one(letter(id="<c@example.com>", **headers)).address.thread == first.address.thread
    assert one(letter(In_Reply_To=answer)).reply_to == answer
    assert one(letter(In_Reply_To="<a@example.com>")).reply_to == ""


def test_an_answer_to_news_is_in_the_conversation_of_news() -> None:
    assert one(letter(In_Reply_To=message_id("part_1", "", "example.org"))).address.thread == ""
    elsewhere = message_id("part_1", "", "example.net")
    assert one(letter(In_Reply_To=elsewhere)).address.thread == thread_of(elsewhere)


def test_what_cannot_be_a_message_id_goes_into_no_header() -> None:
    raw = letter(id="").replace(b"From:", b"Message-ID: <a b\x01@x> <ok@example.com>\nFrom:", 1)
    assert one(raw).provider_id == "<ok@example.com>"
    assert one(letter(id="")).keys == ("uid:1.7",)


# Which words count


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("NEW", "new"),
        ("help!\n\n-- \nAda", "help"),
        ("Halt\n\nSent from my iPhone", "stop"),
        ("/new", "new"),
        ("Help\n\nThanks,\nAda", "help"),
    ],
)
def test_a_word_in_the_first_line_is_a_command(text: str, command: str) -> None:
    assert one(letter(text, subject="Re: lunch", In_Reply_To=OURS)).command == Command(command)
    assert one(letter(text, subject="lunch")).command == Command(command)


def test_a_halt_counts_whatever_follows_and_other_words_only_alone() -> None:
    assert one(letter("HALT\n\nwrong person", In_Reply_To=OURS)).command == Command("stop", "wrong person")
    message = one(letter("NEW\n\nplan a trip", In_Reply_To=OURS))
    assert (message.command, message.text) == (None, "NEW\n\nplan a trip")


def test_promise_9_a_code_counts_where_it_is_all_that_was_written() -> None:
    quoted = "\n\nOn Mon, Nov 23, 2026 at 9:00 AM Valet <valet@example.org> wrote:\n> Reply OK 7K or NO 7K"
    assert one(letter(f"OK 7K{quoted}", subject="Re: x", In_Reply_To=OURS)).text == "OK 7K"
    assert one(letter(f"ok 7k\n\nBest,\nAda{quoted}", subject="Re: x", In_Reply_To=OURS)).text == "ok 7k"
    assert one(letter("OK 7K", subject="my answer")).text == "OK 7K"
    changed = one(letter(f"OK 7K\n\nbut at 3pm{quoted}", subject="Re: x", In_Reply_To=OURS))
    assert changed.text == "OK 7K\n\nbut at 3pm"


def test_promise_9_a_quoted_or_forwarded_code_decides_nothing() -> None:
    (quoted,) = read(letter("> OK 7K", subject="Re: x", In_Reply_To=OURS))
    assert isinstance(quoted, IgnoredMessage)
    assert (quoted.reason, quoted.sender, quoted.reply) == (IgnoreReason.EMPTY, "ada@example.com", ONLY_QUOTED)
    message = one(letter(FORWARDED.replace("Pay me.", "OK 7K"), subject="Fwd: x"))
    assert message.origin is Origin.FORWARDED


def test_a_subject_is_said_by_whoever_begins_with_it() -> None:
    assert one(letter("\n", subject="What is on today?")).text == "What is on today?"
    assert one(letter("At nine", subject="Re: lunch", In_Reply_To=OURS)).text == "At nine"
    assert one(letter("At nine", subject="AW: lunch")).text == "At nine"
    hidden = letter("x", subject="HERE").replace(b"HERE", b"=?utf-8?q?a=E2=80=AEb=0Ac?=")
    assert one(hidden).subject.isprintable()


@pytest.mark.parametrize("prefix", ["Re", "AW", "RÉP", "RE[2]", "Odp", "YNT", "Ответ", "回复", "回覆", "返信", "답장"])
def test_a_subject_that_answers_is_not_said_in_any_language(prefix: str) -> None:
    message = one(letter("At nine", subject=f"{prefix}: lunch"))
    assert (message.text, message.subject) == ("At nine", "lunch")


@pytest.mark.parametrize(
    "prefix", ["Fwd", "FW", "WG", "TR", "RV", "ENC", "I", "Doorst", "VB", "PD", "İLT", "转发", "轉寄", "転送"]
)
def test_a_subject_that_passes_on_does_so_in_any_language(prefix: str) -> None:
    assert one(letter("Pay me.", subject=f"{prefix}: Rent")).origin is Origin.FORWARDED


def test_what_is_passed_on_is_data_beside_the_persons_own_words() -> None:
    passed, own = read(letter(f"Is this right?\n\n{FORWARDED}", subject="Fwd: Rent"))
    assert isinstance(passed, InboundMessage)
    assert isinstance(own, InboundMessage)
    assert (passed.origin, own.origin) == (Origin.FORWARDED, Origin.OWN)
    assert "Pay me." in passed.text
    assert own.text == "Is this right?"
    assert not set(passed.keys) & set(own.keys)
    assert one(letter(FORWARDED, subject="Fwd: Rent")).origin is Origin.FORWARDED
    assert one(letter("Pay me.", subject="WG: Rent")).origin is Origin.FORWARDED


def test_a_mail_that_hangs_on_another_is_passed_on() -> None:
    outer, inner = MIMEMultipart(), MIMEText("Pay me.")
    inner["From"], inner["Subject"] = "Bob <bob@example.net>", "Rent"
    for name, value in (("Authentication-Results", PASSED), ("From", "ada@example.com"), ("Subject", "Fwd: Rent")):
        outer[name] = value
    outer.attach(MIMEText("Is this right?"))
    outer.attach(MIMEMessage(inner))
    passed, own = read(outer.as_bytes())
    assert isinstance(passed, InboundMessage)
    assert isinstance(own, InboundMessage)
    assert passed.text.endswith("From: Bob <bob@example.net>\nSubject: Rent\n\nPay me.")
    assert (own.text, own.origin) == ("Is this right?", Origin.OWN)


def test_html_is_read_where_there_is_no_plain_text() -> None:
    html = "<p>Yes.</p><div class='gmail_quote'><blockquote>old</blockquote></div>"
    assert one(letter("", html=html, In_Reply_To=OURS)).text == "Yes."
    assert one(letter("Plain.", html=html, In_Reply_To=OURS)).text == "Plain."


def test_characters_and_flowing_lines_are_read() -> None:
    mail = EmailMessage()
    mail["Authentication-Results"], mail["From"], mail["In-Reply-To"] = PASSED, "ada@example.com", OURS
    mail.set_content("Grüße, \nund mehr\n", charset="iso-8859-1", cte="quoted-printable", params={"format": "flowed"})
    assert one(mail.as_bytes()).text == "Grüße, und mehr"
    assert one(letter(In_Reply_To=OURS).replace(b'charset="utf-8"', b'charset="no-such"')).text == "Hello"


def test_files_come_in_as_references() -> None:
    mail = MIMEMultipart()
    for name, value in (("Authentication-Results", PASSED), ("From", "ada@example.com"), ("In-Reply-To", OURS)):
        mail[name] = value
    mail.attach(MIMEText("Look"))
    pdf = MIMEApplication(b"%PDF", "pdf")
    pdf.add_header("Content-Disposition", "attachment", filename="../../etc/a.pdf")
    mail.attach(pdf)
    (media,) = one(mail.as_bytes()).media
    assert (media.url, media.name, media.content_type, media.size) == ("mail:1.7.1", "a.pdf", "application/pdf", 4)


# Whatever comes


@examples(300)
@given(st.binary(max_size=400))
def test_any_bytes_have_one_fate(raw: bytes) -> None:
    assert read(raw)
    assert read(letter().replace(b"Hello", raw))


def test_a_mail_within_mails_without_end_is_read() -> None:
    part = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"
    raw = letter(In_Reply_To=OURS).partition(b"Content-Type")[0] + part * 400 + b"Content-Type: text/plain\n\nx"
    assert len(read(raw)) == 1


def test_a_mail_has_the_language_of_its_text_where_that_is_clear() -> None:
    german = letter("Kannst du mich bitte morgen an den Arzt erinnern?")
    assert one(german).sender_language == "de"
    assert one(letter("OK")).sender_language is None
