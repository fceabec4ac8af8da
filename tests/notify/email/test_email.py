"""Email over SMTP, handed to a server of our own: what arrives, and what each refusal means."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import default

import pytest
from fast_mail_parser import parse_email
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Ambiguous, CredentialsRejected, DeliveryError, Rejected, Unavailable, Unreachable
from core.messaging.channels import Part, Target
from core.messaging.messages import Action, Address, OutboundKind, OutboundMessage
from notify.email.send import EmailNotification, Security, SmtpServer
from tests.examples import examples
from tests.patience import PATIENCE

ANN = Target(Address("email", "smtp", "ann@example.org"), "part_1")


@dataclass(slots=True)
class MailServer:
    """A server that keeps what it is handed; `answers` replaces what it says to a command."""

    answers: dict[str, str] = field(default_factory=dict)
    kept: list[tuple[str, list[str], bytes]] = field(default_factory=list)
    port: int = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        sender, recipients = "", list[str]()
        writer.write(b"220 here\r\n")
        while line := await reader.readline():
            words = line.decode().strip()
            command = words.split(" ")[0].split(":")[0].upper()
            answer = self.answers.get(command, "250 OK")
            if answer == "hang up":
                break
            if command == "MAIL":
                sender = words.split("<")[1].split(">")[0]
            elif command == "RCPT" and answer.startswith("250"):
                recipients.append(words.split("<")[1].split(">")[0])
            elif command == "DATA" and answer.startswith("250"):
                writer.write(b"354 go on\r\n")
                data = await reader.readuntil(b"\r\n.\r\n")
                self.kept.append((sender, recipients, data[:-3]))
                answer = self.answers.get("END", "250 OK")
                if answer == "hang up":
                    break
            elif command == "QUIT":
                answer = "221 bye"
            writer.write(f"{answer}\r\n".encode())
        writer.close()


@asynccontextmanager
async def serving(**answers: str) -> AsyncIterator[MailServer]:
    """Run a mail server."""
    there = MailServer(answers)
    server = await asyncio.start_server(there.talk, "127.0.0.1", 0)
    there.port = server.sockets[0].getsockname()[1]
    try:
        yield there
    finally:
        server.close()
        async with asyncio.timeout(PATIENCE):
            await server.wait_closed()


def email(port: int, **more: str) -> EmailNotification:
    return EmailNotification(SmtpServer("127.0.0.1", "Valet <valet@example.org>", port, security=Security.NONE, **more))


async def test_an_email_arrives_whole_for_one_recipient_without_auto_replies() -> None:
    text = "# Déjà vu\n\nYour train leaves at 9.\n.\nA line with a dot alone, and 日本語"
    async with serving() as there:
        channel = email(there.port)
        (part,) = channel.render(OutboundMessage("o", OutboundKind.NOTIFICATION, text, (Action("Go", "t"),)))
        receipt = await channel.send(part, ANN)
    [(sender, recipients, data)] = there.kept
    read = message_from_bytes(data.replace(b"\r\n..", b"\r\n."), policy=default)
    assert (sender, recipients) == ("valet@example.org", ["ann@example.org"])
    assert (read["Subject"], read["To"], read["From"]) == ("Déjà vu", "ann@example.org", "Valet <valet@example.org>")
    assert read["Auto-Submitted"] == "auto-generated"
    assert read["List-Unsubscribe"] == "<mailto:valet@example.org?subject=unsubscribe>"
    assert receipt.provider_id == read["Message-ID"] == "<part_1@example.org>"
    body = read.get_body(("plain",))
    assert body is not None
    assert body.get_content().split() == text.partition("\n")[2].split()


def test_any_text_gives_a_subject_of_one_visible_line() -> None:
    def subject(text: str) -> object:
        return email(1).render(OutboundMessage("o", OutboundKind.NOTIFICATION, text))[0].data["subject"]

    assert subject("# a\rBcc: x@y.z\n\ntext") == "a Bcc: x@y.z"
    assert subject("**The flight** is cheap\nmore") == "The flight is cheap"
    assert subject("\x00\x1b") == "A message from your assistant"
    assert len(str(subject("x" * 500))) == 120


@examples(150)
@given(
    st.lists(st.sampled_from(["Grüße", "am", "日本語", "=?utf-8?q?hi?=", "x" * 40]) | st.text(max_size=8)).map(" ".join)
)
def test_a_subject_is_read_as_it_is_written_by_two_parsers(text: str) -> None:
    (part,) = email(1).render(OutboundMessage("o", OutboundKind.NOTIFICATION, f"# {text}\n\nx"))
    _, message = email(1)._write(part, ANN)
    assert str(message_from_bytes(message, policy=default)["Subject"]) == part.data["subject"]
    assert parse_email(message).subject == part.data["subject"]


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ({"RCPT": "550 5.1.1 no such person"}, Unreachable),
        ({"RCPT": "450 4.2.0 greylisted"}, Unavailable),
        ({"MAIL": "553 not yours"}, CredentialsRejected),
        ({"DATA": "554 no"}, Rejected),
        ({"END": "552 too large"}, Rejected),
        ({"END": "451 later"}, Unavailable),
        ({"END": "hang up"}, Ambiguous),
        ({"EHLO": "421 busy", "HELO": "421 busy"}, Unavailable),
    ],
)
async def test_each_refusal_means_what_it_says(answers: dict[str, str], kind: type[DeliveryError]) -> None:
    async with serving(**answers) as there:
        with pytest.raises(DeliveryError) as caught:
            await email(there.port).send(Part("text", {"subject": "s"}), ANN)
    assert type(caught.value) is kind
    assert "ann@" not in str(caught.value)


async def test_a_server_that_is_away_or_lacks_tls_and_an_address_that_is_none() -> None:
    with pytest.raises(Unavailable):
        await email(1).send(Part("text", {"subject": "s"}), ANN)
    async with serving() as there:
        server = SmtpServer("127.0.0.1", "valet@example.org", there.port)
        with pytest.raises(CredentialsRejected):
            await EmailNotification(server).send(Part("text"), ANN)
        odd = Target(Address("email", "smtp", "ann@example.org\r\nBcc: bob@example.org"), "p")
        with pytest.raises(Rejected):
            await email(there.port).send(Part("text"), odd)
    assert there.kept == []
