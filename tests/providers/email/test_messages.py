"""Messages read: as people see them, whatever their senders did to them."""

import base64
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.email.messages import read_message, read_messages, take_file
from providers.email.types import MailFailed, MailFailure
from tests.examples import examples

HEAD = "From: Bob <bob@example.com>\r\nTo: ann@example.org\r\nSubject: Hi\r\nMessage-ID: <1@x>\r\n"


def html(body: str) -> bytes:
    return f"{HEAD}Content-Type: text/html; charset=utf-8\r\n\r\n{body}".encode()


def with_files(*files: tuple[str, str, bytes]) -> bytes:
    message = EmailMessage(policy=SMTP)
    message["From"], message["Subject"] = "Bob <bob@example.com>", "Files"
    message.set_content("See the files.")
    for name, kind, data in files:
        main, _, sub = kind.partition("/")
        message.add_attachment(data, maintype=main, subtype=sub, filename=name)
    return bytes(message)


async def test_the_head_of_a_message_is_read() -> None:
    raw = (
        b'From: =?utf-8?q?Bj=C3=B6rn?= <b@example.com>\r\nTo: ann@example.org, "Eve, the first" <eve@example.com>\r\n'
        b"Cc: undisclosed-recipients:;\r\nReply-To: desk@example.com\r\nSubject: =?iso-8859-1?q?Gr=FC=DFe?= \r\n"
        b" =?utf-8?b?"
        + base64.b64encode("日本".encode())
        + b"?=\r\nDate: Mon, 23 Nov 2026 10:00:00 +0100\r\nMessage-ID: <a.b@example.com>\r\n"
        b"References: <1@x>\r\n <2@x>\r\nIn-Reply-To: <2@x>\r\nAuto-Submitted: auto-replied\r\n"
        b"Authentication-Results: mx.example.org; dkim=pass header.d=example.com\r\n\r\nText\r\n"
    )
    mail = await read_message(raw)
    assert [str(address) for address in mail.sender] == ["Björn <b@example.com>"]
    assert [str(address) for address in mail.to] == ["ann@example.org", "Eve, the first <eve@example.com>"]
    assert [address.address for address in mail.reply_to] == ["desk@example.com"]
    assert (mail.subject, mail.text, mail.message_id) == ("Grüße日本", "Text", "a.b@example.com")
    assert mail.date == datetime(2026, 11, 23, 9, tzinfo=UTC)
    assert mail.references == ("1@x", "2@x")
    assert mail.header("auto-submitted") == ["auto-replied"]
    assert mail.header("authentication-results") == ["mx.example.org; dkim=pass header.d=example.com"]


@pytest.mark.parametrize(
    ("charset", "data"),
    [
        ("utf-8", "Grüße".encode()),
        ("iso-8859-15", "Grüße".encode("iso-8859-15")),
        ("us-ascii", "Grüße".encode()),
        ("x-unknown", "Grüße".encode("cp1252")),
        ("utf-7", "Grüße".encode()),
        ("", "Grüße".encode("cp1252")),
        ("../../etc/passwd\x00", "Grüße".encode()),
    ],
)
async def test_a_text_is_read_whatever_its_character_set_is_called(charset: str, data: bytes) -> None:
    raw = f'{HEAD}Content-Type: text/plain; charset="{charset}"\r\n\r\n'.encode() + data
    assert (await read_message(raw)).text == "Grüße"


async def test_html_is_read_as_it_is_seen() -> None:
    page = (
        "<html><head><title>T</title><style>p{}</style></head><body><p>Dear <b>Ann</b>,</p>"
        "<p>see <a href='https://shop.example/x'>your order</a>.</p><ul><li>one</li><li>two</li></ul></body></html>"
    )
    text = (await read_message(html(page))).text
    assert "Dear Ann," in text
    assert "https://shop.example/x" in text
    assert text.index("one") < text.index("two")
    assert "<" not in text


async def test_a_mail_of_thousands_of_styled_parts_is_read() -> None:
    parts = "".join(f"<p style='color:red'>part {n}, <a href='https://shop.example/{n}'>x</a></p>" for n in range(4000))
    message = await read_message(html(f"{parts}<p style='display:none'>SECRET</p>" + "<p hidden>SECRET</p>" * 4000))
    assert "part 3999" in message.text
    assert "SECRET" not in message.text


@pytest.mark.parametrize(
    "trick",
    [
        "<div style='display:none'>SECRET</div>",
        "<span style='font-size:0px'>SECRET</span>",
        "<p hidden>SECRET</p>",
        "<div style='visibility: hidden'><p>SECRET</p></div>",
        "<span style='opacity:0'>SECRET</span>",
        "<!-- SECRET -->",
        "<script>document.write('SECRET')</script>",
        "<style>/* SECRET */</style>",
        "<noscript>SECRET</noscript>",
        "<svg><text>SECRET</text></svg>",
        "<template>SECRET</template>",
        "<img src='https://spy.example/SECRET.gif' alt='SECRET'>",
        "<iframe srcdoc='SECRET'></iframe>",
        "<object data='SECRET'></object>",
        "<div style='position:absolute;left:-9999px'>SECRET</div>",
        "<a href='javascript:SECRET'>x</a>",
        "<a href='data:text/html,SECRET'>x</a>",
    ],
)
async def test_what_nobody_sees_in_html_is_not_read(trick: str) -> None:
    text = (await read_message(html(f"<p>Before</p>{trick}<p>After</p>"))).text
    assert "SECRET" not in text
    assert "Before" in text
    assert "After" in text


async def test_no_invisible_or_turning_character_is_left() -> None:
    hidden = "\u202eevil\u202c \u200bze\u200bro \U000e0041\U000e0042 \ufeffx"
    raw = f"{HEAD.replace('Hi', hidden).replace('Bob', hidden)}Content-Type: text/plain; charset=utf-8\r\n\r\n{hidden}"
    mail = await read_message(raw.encode())
    for text in (mail.text, mail.subject, mail.sender[0].name):
        assert text.split() == ["evil", "zero", "x"]


async def test_a_name_that_looks_like_an_address_hides_none() -> None:
    raw = b'From: "boss@bank.example <boss@bank.example>" <thief@evil.example>\r\nSubject: x\r\n\r\nx'
    [sender] = (await read_message(raw)).sender
    assert sender.address == "thief@evil.example"
    assert str(sender) == "boss@bank.example boss@bank.example <thief@evil.example>"


async def test_files_are_listed_and_taken_as_they_are() -> None:
    pdf, text = b"%PDF-1.7\r\n\x00\xff", b"a,b\n1,2\n"
    raw = with_files(("Rechnung März.pdf", "application/pdf", pdf), ("../../etc/passwd", "text/csv", text))
    mail = await read_message(raw)
    assert mail.text == "See the files."
    assert [(file.number, file.name, file.content_type, file.size) for file in mail.attachments] == [
        (1, "Rechnung März.pdf", "application/pdf", len(pdf)),
        (2, "../../etc/passwd", "text/csv", len(text)),
    ]
    taken = await take_file(raw, 1)
    assert (taken.name, taken.data) == ("Rechnung März.pdf", pdf)
    with pytest.raises(MailFailed) as gone:
        await take_file(raw, 3)
    assert gone.value.failure is MailFailure.GONE


async def test_a_message_within_a_message_is_a_file() -> None:
    outer = EmailMessage(policy=SMTP)
    outer["Subject"] = "Fwd"
    outer.set_content("Below.")
    inner = EmailMessage(policy=SMTP)
    inner["Subject"] = "Inner"
    inner.set_content("INNER TEXT")
    outer.add_attachment(inner)
    mail = await read_message(bytes(outer))
    assert (mail.text, [file.content_type for file in mail.attachments]) == ("Below.", ["message/rfc822"])
    assert (await read_message((await take_file(bytes(outer), 1)).data)).text == "INNER TEXT"


def nested(depth: int) -> bytes:
    parts = "".join(
        f'Content-Type: multipart/mixed; boundary="b{number}"\r\n\r\n--b{number}\r\n' for number in range(depth)
    )
    return f"{HEAD}{parts}Content-Type: text/plain\r\n\r\ndeep".encode()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00" * 1000,
        b"no head at all",
        nested(15),
        nested(3000),
        f"{HEAD}Content-Type: multipart/mixed\r\n\r\nno boundary".encode(),
        f"{HEAD}Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!".encode(),
        f"{HEAD}Content-Type: text/html\r\n\r\n{'<div>' * 100_000}x".encode(),
        f"{HEAD}Subject: {'=?utf-8?b?' * 2000}\r\n\r\nx".encode(),
        f"{HEAD}Date: Mon, 99 Foo 99999 99:99:99 +9999\r\n\r\nx".encode(),
        f"From: {'a,' * 50_000}<x@y.example>\r\n\r\nx".encode(),
        f"From: {'(' * 5000}\r\n\r\nx".encode(),
        (f"{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n" + "--b\r\n\r\nx\r\n" * 5000).encode(),
    ],
    ids=range(13),
)
async def test_a_broken_message_costs_itself_alone(raw: bytes) -> None:
    good = html("<p>fine</p>")
    first, broken, last = await read_messages([good, raw, good])
    assert (first.text, last.text) == ("fine", "fine")
    assert len(broken.text) <= 200_000
    assert len(broken.attachments) <= 200


@examples(5)
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4))
async def test_any_bytes_are_read_as_so_many_messages(raws: list[bytes]) -> None:
    assert len(await read_messages([HEAD.encode() + raw for raw in raws])) == len(raws)
