"""What a mail says and what hangs on it, however its program put it together. RFC 2046, RFC 3676, RFC 5545, RFC 6047.

Each form is read by the reader of people's accounts and by the assistant's own mailbox: one reader, in a process apart.
"""

import base64
from dataclasses import dataclass

import pytest

from channels.email.receive import read_mail
from core.messaging.messages import IgnoredMessage, InboundMessage
from providers.email.messages import read_message, take_file
from tests.channels.email.letters import PASSED, VALET, stored

HEAD = f"Authentication-Results: {PASSED}\nFrom: Ada <ada@example.com>\nIn-Reply-To: <1@example.com>\n"
CALENDAR = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY:Lunch\nEND:VEVENT\nEND:VCALENDAR\n"


def part(kind: str, text: str, *headers: str) -> str:
    return "\n".join([f"Content-Type: {kind}", *headers, "", text])


def several(kind: str, *parts: str, name: str = "b") -> str:
    inner = "".join(f"--{name}\n{one}\n" for one in parts)
    return part(f'multipart/{kind}; boundary="{name}"', f"{inner}--{name}--\n")


@dataclass(frozen=True)
class Form:
    """A mail, and what a person finds in it: its text, and its files by name and type."""

    body: str | bytes
    text: str
    files: tuple[tuple[str, str], ...] = ()


PLAIN, PAGE = part("text/plain", "Come at nine?"), part("text/html", "<p>Come at <b>nine</b>?</p>")
INVITE = part("text/calendar; method=REQUEST; charset=utf-8", CALENDAR)
FILE = part("application/ics; name=invite.ics", CALENDAR, "Content-Disposition: attachment; filename=invite.ics")
LONG = " ".join(f"word{number}" for number in range(60))
FORMS = {
    "plain text": Form(PLAIN, "Come at nine?"),
    "a page": Form(PAGE, "Come at nine?"),
    "both": Form(several("alternative", PLAIN, PAGE), "Come at nine?"),
    "an empty text and a page": Form(several("alternative", part("text/plain", " \n"), PAGE), "Come at nine?"),
    "a text that only says that there is a page": Form(
        several("alternative", part("text/plain", "Your program shows no HTML."), part("text/html", f"<p>{LONG}</p>")),
        LONG,
    ),
    "forms for watches and old programs": Form(
        several("alternative", PLAIN, part("text/x-amp-html", "<html amp4email>x"), part("text/enriched", "y"), PAGE),
        "Come at nine?",
    ),
    # Invitations: Exchange and Google make them a form of the text, Google sends a file besides.
    "an invitation of Exchange": Form(
        several("alternative", PLAIN, PAGE, INVITE), "Come at nine?", (("text-1.ics", "text/calendar"),)
    ),
    "an invitation of Google": Form(
        several("mixed", several("alternative", PLAIN, PAGE, INVITE, name="c"), FILE),
        "Come at nine?",
        (("text-1.ics", "text/calendar"),),
    ),
    "an invitation alone": Form(INVITE, "", (("text-1.ics", "text/calendar"),)),
    "an invitation and a page": Form(
        several("alternative", PAGE, INVITE), "Come at nine?", (("text-1.ics", "text/calendar"),)
    ),
    "another invitation as a file": Form(
        several("mixed", several("alternative", PLAIN, INVITE, name="c"), FILE.replace("Lunch", "Dinner")),
        "Come at nine?",
        (("text-1.ics", "text/calendar"), ("invite.ics", "application/ics")),
    ),
    # Texts beside each other, all of which a program shows.
    "a page with a footer of a list": Form(
        several("mixed", PAGE, part("text/plain", "A list")), "Come at nine?\n\nA list"
    ),
    "a page around a file (Apple Mail)": Form(
        several(
            "alternative",
            part("text/plain", " "),
            several(
                "mixed",
                part("text/html", "<p>Before</p>"),
                part("application/pdf", "x", "Content-Disposition: inline; filename=a.pdf"),
                part("text/html", "<p>After</p>"),
                name="c",
            ),
        ),
        "Before\n\nAfter",
        (("a.pdf", "application/pdf"),),
    ),
    "a page with its pictures": Form(
        several("related", PAGE, part("image/png", "x" * 20_000, "Content-ID: <1@x>", "Content-Disposition: inline")),
        "Come at nine?",
        (("image-1", "image/png"),),
    ),
    "text that is a file": Form(
        several("mixed", PLAIN, part("text/plain; name=a.txt", "notes", "Content-Disposition: attachment")),
        "Come at nine?",
        (("a.txt", "text/plain"),),
    ),
    "signed": Form(several("signed", PLAIN, part("application/pgp-signature", "-----BEGIN")), "Come at nine?"),
    # Pages: links with their addresses, tables cell by cell.
    "links": Form(
        part("text/html", "<p>See <a href='https://x.example/a'>this</a> or <a href='https://y.example'>y.example</a>"),
        "See this (https://x.example/a) or y.example",
    ),
    "a table": Form(
        part("text/html", "<table><tr><th>Day<th>Room</tr><tr><td>Monday</td><td>B12</td></tr></table>"),
        "Day\t\tRoom\nMonday\t\tB12",
    ),
    "a list": Form(
        part("text/html", "Bring:<ul><li>tea</li><li>cups</li></ul>"), "Bring:\n  \u2022 tea\n  \u2022 cups"
    ),
    "a page that names its own set": Form(
        b"Content-Type: text/html\n\n<meta charset='iso-8859-1'><p>Gr\xfc\xdfe</p>", "Gr\u00fc\u00dfe"
    ),
    # Lines that were broken to be joined.
    "flowed": Form(part("text/plain; format=flowed", "Come \nat nine?\nPlease."), "Come at nine?\nPlease."),
    "flowed, with DelSp": Form(
        part(
            'text/plain; charset=utf-8; format=Flowed; delsp="YES"',
            "https://x.example/a/very/ \nlong\n\u660e\u65e5\u306f \n\u4e5d\u6642",
        ),
        "https://x.example/a/very/long\n\u660e\u65e5\u306f\u4e5d\u6642",
    ),
    "flowed, without DelSp": Form(part("text/plain; format=flowed; delsp=no", "nine \no'clock"), "nine o'clock"),
    "flowed, with a signature": Form(part("text/plain; format=flowed", "Yes \n-- \nAda"), "Yes \n-- \nAda"),
    "flowed, stuffed": Form(part("text/plain; format=flowed", " From me \n and you"), "From me and you"),
    "not flowed": Form(part("text/plain", "Come \nat nine?"), "Come \nat nine?"),
    "lines of a Mac": Form(part("text/plain", "one\rtwo"), "one\ntwo"),
    "base64": Form(
        part(
            "text/plain; charset=utf-8",
            base64.b64encode("Gr\u00fc\u00dfe".encode()).decode(),
            "Content-Transfer-Encoding: base64",
        ),
        "Gr\u00fc\u00dfe",
    ),
    "korean by its old name": Form(
        b"Content-Type: text/plain; charset=ks_c_5601-1987\n\n" + "\ub620\ubc29\uac01\ud558".encode("cp949"),
        "\ub620\ubc29\uac01\ud558",
    ),
    "japanese with NEC's numbers": Form(b"Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B-!\x1b(B", "\u2460"),
    "a set that is none": Form(b"Content-Type: text/plain; charset=no-such\n\ncaf\xc3\xa9", "caf\u00e9"),
}


def raw_of(body: str | bytes) -> bytes:
    return HEAD.encode() + b"MIME-Version: 1.0\n" + (body.encode() if isinstance(body, str) else body)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
async def test_accounts_and_the_mailbox_read_the_same_of_a_mail(form: Form) -> None:
    raw = raw_of(form.body)
    read = await read_message(raw)
    assert read.text == form.text
    assert tuple((file.name, file.content_type) for file in read.attachments) == form.files
    (item,) = await read_mail(stored(raw), VALET)
    assert isinstance(item, InboundMessage)
    assert item.text.split() == form.text.partition("-- ")[0].split()
    assert tuple((media.name, media.content_type) for media in item.media) == form.files
    for media in item.media:
        taken = await take_file(raw, int(media.url.rpartition(".")[2]))
        assert (taken.content_type, len(taken.data)) == (media.content_type, media.size)


HEADERS = {
    "encoded": (b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Gr\u00fc\u00dfe"),
    "a letter cut in two": (b"Subject: =?utf-8?b?5pel?= =?utf-8?b?5pw=?=\n =?utf-8?b?rA==?=", "\u65e5\u672c"),
    "Latin that is Windows'": (b"Subject: =?iso-8859-1?q?=80_5?=", "\u20ac 5"),
    "a language beside the set": (b"Subject: =?utf-8*de?q?Gr=C3=BC=C3=9Fe?=", "Gr\u00fc\u00dfe"),
    "korean": (
        b"Subject: =?ks_c_5601-1987?b?" + base64.b64encode("\ub620\ubc29".encode("cp949")) + b"?=",
        "\ub620\ubc29",
    ),
    "japanese": (b"Subject: =?ISO-2022-JP?B?" + base64.b64encode(b"\x1b$B-!\x1b(B") + b"?=", "\u2460"),
    "an unknown set": (b"Subject: =?x-unknown?q?caf=C3=A9?=", "caf\u00e9"),
    "base64 without its end": (b"Subject: =?utf-8?b?R3LDvMOfZQ?=", "Gr\u00fc\u00dfe"),
    "no base64": (b"Subject: =?utf-8?b?a?= b", "=?utf-8?b?a?= b"),
    "words around it": (b"Subject: Re: =?utf-8?q?caf=C3=A9?= at nine", "Re: caf\u00e9 at nine"),
    "spaces in it": (b"Subject: =?utf-8?q?caf=C3=A9 at nine?=", "caf\u00e9 at nine"),
    "raw UTF-8": ("Subject: Gr\u00fc\u00dfe \U0001f600".encode(), "Gr\u00fc\u00dfe \U0001f600"),
    "raw, as the text": (
        b"Subject: \xf0\xd2\xc9\xd7\xc5\xd4\nContent-Type: text/plain; charset=koi8-r",
        "\u041f\u0440\u0438\u0432\u0435\u0442",
    ),
    "raw, without a word of it": (b"Subject: Gr\xfc\xdfe", "Gr\u00fc\u00dfe"),
}


@pytest.mark.parametrize(("header", "subject"), HEADERS.values(), ids=HEADERS.keys())
async def test_a_subject_is_read_by_both(header: bytes, subject: str) -> None:
    raw = f"Authentication-Results: {PASSED}\nFrom: ada@example.com\n".encode() + header + b"\n\nx"
    assert (await read_message(raw)).subject == subject
    (item,) = await read_mail(stored(raw), VALET)
    assert isinstance(item, InboundMessage)
    assert item.text == ("x" if subject.startswith("Re:") else f"{subject}\n\nx")


NAMES = {
    "plain": (b'filename="a.pdf"', "a.pdf"),
    "encoded words": (b'filename="=?utf-8?q?M=C3=A4rz.pdf?="', "M\u00e4rz.pdf"),
    "encoded words in pieces": (b'filename="=?utf-8?q?M=C3?=\n =?utf-8?q?=A4rz.pdf?="', "M\u00e4rz.pdf"),
    "RFC 2231": (b"filename*=UTF-8''M%C3%A4rz.pdf", "M\u00e4rz.pdf"),
    "RFC 2231, Latin": (b"filename*=iso-8859-1'de'M%E4rz%80.pdf", "M\u00e4rz\u20ac.pdf"),
    "RFC 2231, Korean": (b"filename*=ks_c_5601-1987''%8Cc.pdf", "\ub620.pdf"),
    "RFC 2231, in pieces": (b"filename*0*=UTF-8''M%C3%A4; filename*1*=rz.pdf", "M\u00e4rz.pdf"),
    "both": (b"filename=\"M_rz.pdf\"; filename*=UTF-8''M%C3%A4rz.pdf", "M\u00e4rz.pdf"),
    "raw UTF-8": ('filename="M\u00e4rz.pdf"'.encode(), "M\u00e4rz.pdf"),
    "raw Latin": (b'filename="M\xe4rz.pdf"', "M\u00e4rz.pdf"),
    "an unknown set": (b"filename*=x-no''M%C3%A4rz.pdf", "M\u00e4rz.pdf"),
}


@pytest.mark.parametrize(("parameter", "name"), NAMES.values(), ids=NAMES.keys())
async def test_a_file_has_its_name_by_both(parameter: bytes, name: str) -> None:
    head = b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/pdf\n"
    raw = HEAD.encode() + head + b"Content-Disposition: attachment;\n " + parameter + b"\n\n%PDF\n--b--\n"
    assert [file.name for file in (await read_message(raw)).attachments] == [name]
    (item,) = await read_mail(stored(raw), VALET)
    assert isinstance(item, InboundMessage)
    assert [media.name for media in item.media] == [name]


async def test_a_mail_that_breaks_its_reader_is_answered_with_a_sentence() -> None:
    deep = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(60))
    (item,) = await read_mail(stored(raw_of(deep + "Content-Type: text/plain\n\ndeep")), VALET)
    assert isinstance(item, IgnoredMessage)
    assert (item.sender, "cannot be read" in item.reply) == ("ada@example.com", True)
