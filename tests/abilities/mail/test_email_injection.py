"""Text that ends a line, in every argument of the tools of mail and in mails that are answered, commands nobody."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest

from abilities.mail.reading import SearchFor
from abilities.mail.sorting import SortAction
from abilities.mail.tools import SendEmailAgent, SortMailAgent, draft_email, read_mail, save_mail_file, search_mail
from core.agents.fields import InputField, InvalidValue
from core.files.kinds import FileKind
from core.files.types import SentFile, StoredFile
from onevalet import ToolFailed, ToolRetry
from onevalet.testing import MemoryAccounts, make_context
from providers.email.mailbox import open_mailbox
from providers.email.types import MailQuery, MailRef
from tests.agents.services import no_loop
from tests.clocks import StandingClock
from tests.servers.dovecot import PASSWORD, Dovecot, mail_exchange

PAYLOADS = (
    "x\r\nBcc: eve@example.org",
    "bob@example.org>\nRCPT TO:<eve@example.org",
    "x\r\n.\r\nMAIL FROM:<eve@example.org>\r\nRCPT TO:<eve@example.org>\r\nDATA",
    'x" \r\na1 CREATE Evil\r\na2 UID STORE 1:* +FLAGS (\\Deleted)\r\na3 EXPUNGE',
    "{5}\r\nINBOX\x00",
    "=?utf-8?q?x=0D=0ABcc:_eve@example.org=0D=0A=0D=0APay_Eve?=",
)
HEADERS = {"From", "To", "Cc", "Date", "Message-ID", "Subject", "In-Reply-To", "References", "MIME-Version"} | {
    "Content-Type",
    "Content-Transfer-Encoding",
}
FOLDERS = {"INBOX", "Sent", "Drafts", "Trash", "Archive"}
LETTER = (
    "From: {name} <bob@example.org>\r\nReply-To: {name} <bob@example.org>\r\nTo: ann@example.org\r\nSubject: {name}\r\n"
    "Message-ID: <1@{host}>\r\nReferences: <0@{host}> {name}\r\nMIME-Version: 1.0\r\n"
    "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n"
    "--b\r\nContent-Type: application/pdf; name*=utf-8''{quoted}\r\n"
    "Content-Disposition: attachment; filename*=utf-8''{quoted}\r\n\r\npdf\r\n--b--\r\n"
)


@dataclass
class FilesWithNames:
    """A person's files under whatever names others gave them."""

    names: dict[str, str] = field(default_factory=dict)

    async def list(self) -> list[StoredFile]:
        return [await self.find(id) for id in self.names]

    async def find(self, id: str) -> StoredFile:
        if id not in self.names:
            raise ToolRetry("There is no such file.")
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        return StoredFile(id, FileKind.OTHER, "application/pdf", self.names[id], 3, 0, False, "", moment, 3)

    async def keep(self, name: str, data: bytes, content_type: str | None = None) -> StoredFile:
        self.names[f"f{len(self.names):010}"] = name
        return await self.find(f"f{len(self.names) - 1:010}")

    async def fetch(self, id: str) -> SentFile:
        assert id in self.names
        return SentFile("application/pdf\r\nBcc: eve@example.org", b"pdf")


class Writer:
    """A person with a mailbox at a real server, one mail in it, and the tools of mail."""

    def __init__(self, dovecot: Dovecot, port: int) -> None:
        self.dovecot, self.address, self.bob = dovecot, dovecot.new("ann"), dovecot.new("bob")
        imap, smtp = f"imap://127.0.0.1:{dovecot.imap}", f"smtp://127.0.0.1:{port}"
        self.accounts = MemoryAccounts(self.address, PASSWORD, imap=imap, smtp=smtp)
        self.http = dovecot.http(f"127.0.0.1:{port}")
        self.files = FilesWithNames()
        self.calls = 0
        self.ref = ""

    async def has_mail(self, raw: str = "") -> None:
        """Put the one mail into the mailbox."""
        self.dovecot.deliver(self.address, (raw or LETTER.format(name="Bob", host="x.org", quoted="a.pdf")).encode())
        async with open_mailbox(self.accounts.opened, self.http) as box:
            validity = await box.open_folder("INBOX")
            [uid] = await box.search("INBOX", MailQuery())
        self.ref = str(MailRef("email", "primary", "INBOX", validity, uid))

    def context(self) -> Any:
        self.calls += 1
        given = {"accounts": self.accounts, "http": self.http, "files": self.files, "clock": StandingClock()}
        return make_context(idempotency_key=f"turn.{self.calls}.0", **given)

    async def send(self, *, checked: bool = True, **values: Any) -> None:
        """Send an email, its values checked as the framework does, or handed on as they are."""
        mail = {"recipient": [self.bob], "subject": "Hi", "body": "Hello"} | values
        if checked:
            _check(SendEmailAgent, mail)
        agent = SendEmailAgent(self.context(), no_loop, values=mail)
        agent = SendEmailAgent(self.context(), no_loop, values=mail | dict(await agent.fill_in()))
        await agent.on_running("")

    async def sort(self, *, checked: bool = True, **values: Any) -> None:
        given = {"mails": [self.ref], "action": SortAction.MOVE, "folder": "Nowhere"} | values
        if checked:
            _check(SortMailAgent, given)
        await SortMailAgent(self.context(), no_loop, values=given).on_running("")

    async def names_a_file(self, name: str) -> None:
        """Send a file whose name others chose."""
        self.files.names["f0000000001"] = name
        await self.send(files=["f0000000001"])


def _check(agent: type[Any], values: Mapping[str, Any]) -> None:
    for name, value in ((name, value) for name, value in values.items() if value):
        asked = getattr(agent, name)
        assert isinstance(asked, InputField)
        asked.check(value)


type Use = Callable[[Writer, str], Awaitable[object]]
USES: dict[str, Use] = {
    "send.recipient": lambda who, text: who.send(recipient=[text]),
    "send.cc": lambda who, text: who.send(cc=[text]),
    "send.bcc": lambda who, text: who.send(bcc=[text]),
    "send.subject": lambda who, text: who.send(subject=text),
    "send.body": lambda who, text: who.send(body=text),
    "send.account": lambda who, text: who.send(account=text),
    "send.files": lambda who, text: who.send(files=[text]),
    "send.answers": lambda who, text: who.send(answers=text),
    "send.forwards": lambda who, text: who.send(forwards=text),
    "unchecked recipient": lambda who, text: who.send(checked=False, recipient=[text]),
    "unchecked cc": lambda who, text: who.send(checked=False, cc=[text]),
    "unchecked subject": lambda who, text: who.send(checked=False, subject=text),
    "unchecked folder": lambda who, text: who.sort(checked=False, folder=text),
    "a file's name": lambda who, text: who.names_a_file(text),
    "draft.recipient": lambda who, text: draft_email("Hello", who.context(), [text]),
    "draft.cc": lambda who, text: draft_email("Hello", who.context(), cc=[text]),
    "draft.subject": lambda who, text: draft_email("Hello", who.context(), [who.bob], text),
    "draft.body": lambda who, text: draft_email(text, who.context(), [who.bob]),
    "draft.files": lambda who, text: draft_email("Hello", who.context(), files=[text]),
    "draft.answers": lambda who, text: draft_email("Hello", who.context(), answers=text),
    "search.sender": lambda who, text: search_mail(who.context(), SearchFor(sender=text)),
    "search.recipient": lambda who, text: search_mail(who.context(), SearchFor(recipient=text)),
    "search.subject": lambda who, text: search_mail(who.context(), SearchFor(subject=text)),
    "search.text": lambda who, text: search_mail(who.context(), SearchFor(text=text)),
    "search.folder": lambda who, text: search_mail(who.context(), folder=text),
    "read.id": lambda who, text: read_mail(text, who.context()),
    "read.id's folder": lambda who, text: read_mail(str(MailRef("email", "primary", text, 1, 1)), who.context()),
    "save.id": lambda who, text: save_mail_file(text, 1, who.context()),
    "sort.mails": lambda who, text: who.sort(mails=[text]),
    "sort.folder": lambda who, text: who.sort(folder=text),
    "sort.mail's folder": lambda who, text: who.sort(mails=[str(MailRef("email", "primary", text, 1, 1))]),
}


@pytest.mark.parametrize("use", USES)
async def test_no_argument_of_a_mail_tool_ends_its_line(dovecot: Dovecot, use: str) -> None:
    async with mail_exchange(dovecot) as exchange:
        who = Writer(dovecot, exchange.port)
        await who.has_mail()
        for payload in PAYLOADS:
            try:
                await USES[use](who, payload)
            except (ToolFailed, ToolRetry, InvalidValue, ValueError):
                continue
        await _nothing_else_happened(who, [envelope.rcpt_tos for envelope in exchange.taken])
        await who.http.close()


async def test_answers_carry_nothing_that_a_mail_smuggles(dovecot: Dovecot) -> None:
    payload = PAYLOADS[-1]
    quoted = "".join(f"%{byte:02X}" for byte in payload.encode())
    encoded = "=?utf-8?q?" + quoted.replace("%", "=") + "?="
    async with mail_exchange(dovecot) as exchange:
        who = Writer(dovecot, exchange.port)
        await who.has_mail(LETTER.format(name=encoded, host="x.org", quoted=quoted))
        await who.send(answers=who.ref, recipient=[], subject="")
        await who.send(forwards=who.ref, subject="")
        await draft_email("Hello", who.context(), answers=who.ref)
        recipients = [envelope.rcpt_tos for envelope in exchange.taken]
        assert recipients == [["bob@example.org"], [who.bob]]
        await _nothing_else_happened(who, recipients)
        await who.http.close()


async def _nothing_else_happened(who: Writer, recipients: list[list[str]]) -> None:
    """Fail where anybody else got mail, a message has a header too many, or the mailbox was commanded."""
    assert {one for each in recipients for one in each} <= {who.bob, "bob@example.org"}
    async with open_mailbox(who.accounts.opened, who.http) as box:
        assert {folder.name for folder in await box.folders()} == FOLDERS
        [kept] = await box.fetch("INBOX", await box.search("INBOX", MailQuery()))
        assert kept.flags <= {"\\recent"}
    for raw in [*who.dovecot.mails(who.bob), *who.dovecot.mails(who.address, "Drafts")]:
        message = message_from_bytes(raw, _class=EmailMessage, policy=default)
        assert set(message.keys()) <= HEADERS, raw
        for part in message.walk():
            assert not any("Bcc" in name for name in part.keys()), raw  # noqa: SIM118
            assert not any(char in (part.get_filename() or "") for char in "\r\n\x00"), raw
