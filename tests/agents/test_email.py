"""Email, through a real SMTP server that wants TLS and a password."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from fast_mail_parser import parse_email
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.email import SendEmailAgent, _is_one_line, _read_account
from core.agents.fields import InvalidValue
from core.credentials.types import ConnectedAccounts
from core.json_types import JsonObject
from onevalet import ToolFailed
from onevalet.testing import MemoryCredentials
from tests.agents.services import mail_server, no_loop
from tests.clocks import StandingClock
from tests.core.builders import a_context

MAIL = {"recipient": ["sam@example.com"], "subject": "Lunch?", "body": "At noon,\n.\nor later: ¿qué tal?\n"}


class Kept(MemoryCredentials):
    """What a person has connected, by account."""

    def __init__(self, accounts_of: dict[str, JsonObject] | None = None, preferred: str = "") -> None:
        super().__init__()
        self.accounts_of = accounts_of or {}
        self.preferred = preferred

    async def get(self, tenant_id: str, service: str, account_name: str = "primary") -> JsonObject | None:
        """Return one."""
        assert (tenant_id, service) == ("tenant", "email")
        return self.accounts_of.get(account_name)

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        """List them."""
        return ConnectedAccounts(service, tuple(self.accounts_of), self.preferred)


def agent(kept: Kept | JsonObject, key: str = "turn.0.0", **values: Any) -> SendEmailAgent:
    """Make the agent with its fields, as the framework does."""
    kept = kept if isinstance(kept, Kept) else Kept({"primary": kept})
    context = replace(a_context(idempotency_key=key), credentials=kept, clock=StandingClock())
    return SendEmailAgent(context, no_loop, values=MAIL | values)


@pytest.fixture(params=["implicit", "starttls"])
def tls(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def trusting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the test's authority be one that the machine trusts."""
    with monkeypatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
        yield


async def test_it_is_handed_in_over_tls_with_the_persons_own_password(
    tls: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with mail_server(tls, tmp_path) as mails:
        with trusting(tmp_path, monkeypatch):
            copies = ["bo@example.com", "sam@example.com"]
            result = await agent(mails.credentials, cc=copies).on_running("")
        assert result.raw_message == "Sent to sam@example.com, with a copy to bo@example.com, sam@example.com."
        [envelope], [message] = mails.envelopes, mails.taken
        assert (envelope.mail_from, envelope.rcpt_tos) == ("ann@example.org", ["sam@example.com", "bo@example.com"])
        assert str(message["From"]) == "Ann Müller <ann@example.org>"
        assert (message["To"], message["Cc"]) == ("sam@example.com", "bo@example.com, sam@example.com")
        assert (message["Subject"], message.get_content().replace("\r\n", "\n")) == (MAIL["subject"], MAIL["body"])
        assert message["Date"].datetime == StandingClock().at
        assert isinstance(envelope.content, bytes)
        assert max(envelope.content) < 128


async def test_the_message_id_is_the_calls_own_and_the_same_when_it_is_repeated(tmp_path: Path) -> None:
    async with mail_server("none", tmp_path) as mails:
        for key in ("turn.0.0", "turn.0.0", "turn.0.1"):
            await agent(mails.credentials | {"user": "", "password": ""}, key).on_running("")
        first, again, other = (message["Message-ID"] for message in mails.taken)
        assert first == again != other
        assert first.endswith("@example.org>")


async def test_a_domain_in_any_script_is_mailed_as_dns_writes_it(tmp_path: Path) -> None:
    async with mail_server("none", tmp_path) as mails:
        account = mails.credentials | {"user": "", "password": "", "from": "Ann <ann@bücher.example>"}
        asked = agent(account, recipient=["sam@müller.de"], cc=["li@例え.jp"])
        assert asked.approval_request().action_summary == (
            "Send an email to sam@müller.de and 1 more (müller.de is xn--mller-kva.de, 例え.jp is xn--r8jz45g.jp)"
        )
        result = await asked.on_running("")
        assert result.raw_message == "Sent to sam@müller.de, with a copy to li@例え.jp."
        [envelope], [message] = mails.envelopes, mails.taken
        assert envelope.mail_from == "ann@xn--bcher-kva.example"
        assert envelope.rcpt_tos == ["sam@xn--mller-kva.de", "li@xn--r8jz45g.jp"]
        assert (message["To"], message["Cc"]) == ("sam@xn--mller-kva.de", "li@xn--r8jz45g.jp")


async def test_no_certificate_no_tls_or_no_password_sends_nothing(
    tls: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with mail_server(tls, tmp_path) as mails:
        with pytest.raises(ToolFailed, match=r"^Nothing was sent: no safe connection"):
            await agent(mails.credentials).on_running("")
        with trusting(tmp_path, monkeypatch):
            wrongs: list[JsonObject] = [{"host": "127.0.0.1"}]
            if tls == "starttls":  # a server of implicit TLS says nothing before it: a client would wait
                wrongs.append({"tls": "implicit"})
            for wrong in wrongs:
                with pytest.raises(ToolFailed, match=r"^Nothing was sent: no safe connection"):
                    await agent(mails.credentials | wrong).on_running("")
            if tls == "starttls":
                with pytest.raises(ToolFailed, match="does not accept the stored user and password"):
                    await agent(mails.credentials | {"password": "wrong"}).on_running("")
                with pytest.raises(ToolFailed, match="refuses this sender"):
                    await agent(mails.credentials | {"user": "", "password": ""}).on_running("")
        assert mails.taken == []


async def test_all_recipients_or_none_and_a_refusal_is_no_mystery(tmp_path: Path) -> None:
    async with mail_server("none", tmp_path) as mails:
        open_ = mails.credentials | {"user": "", "password": ""}
        with pytest.raises(ToolFailed, match=r"^Nothing was sent: the mail server refuses gone@example.com\.$"):
            await agent(open_, cc=["gone@example.com"]).on_running("")
        mails.fails = "refuse"
        with pytest.raises(ToolFailed, match=r"^Nothing was sent: the mail server refuses the email \(554\)\.$"):
            await agent(open_).on_running("")
        assert mails.taken == []
        mails.fails = "vanish"
        with pytest.raises(Exception) as lost:
            await agent(open_).on_running("")
        assert not isinstance(lost.value, ToolFailed)
        assert len(mails.taken) == 1


@pytest.mark.parametrize(
    ("kept", "account", "asked"),
    [
        (Kept({"home": {}, "work": {}}), "", {"account": "From which account: home or work?"}),
        (Kept({"home": {}, "work": {}, "club": {}}), "x", {"account": "From which account: home, work or club?"}),
        (Kept({"home": {}, "work": {}}), "work", {}),
        (Kept({"home": {}, "work": {}}, "home"), "", {}),
        (Kept({"home": {}}), "", {}),
    ],
)
async def test_the_account_is_asked_for_where_it_is_not_known(kept: Kept, account: str, asked: dict[str, str]) -> None:
    assert await agent(kept, account=account).ask_first() == asked


@pytest.mark.parametrize(
    ("kept", "sentence"),
    [
        (Kept(), "no such email account is connected"),
        (Kept({"home": {}, "work": {}}), r"there are several accounts \(home, work\)"),
        (Kept({"home": {"host": "localhost"}}), "is not complete"),
        (Kept({"home": {"host": "h", "from": "a@example.org", "port": "x"}}), "is not complete"),
        (Kept({"home": {"host": "h", "from": "a\r\nBcc: x <a@example.org>"}}), "is not complete"),
        (Kept({"home": {"host": "h", "from": "a@example.org", "tls": "no"}}), "must be implicit, starttls or none"),
    ],
)
async def test_promise_14_an_account_that_cannot_be_used_is_told_in_a_sentence(kept: Kept, sentence: str) -> None:
    with pytest.raises(ToolFailed, match=sentence):
        await agent(kept).on_running("")


def test_tls_is_on_unless_the_account_says_otherwise() -> None:
    account = {"host": "h", "from": "a@example.org"}
    assert (_read_account(account).port, _read_account(account).tls) == (465, "implicit")
    assert _read_account(account | {"port": 587}).tls == "starttls"
    assert _read_account(account | {"port": 25}).tls == "starttls"
    assert ssl.create_default_context().check_hostname


@pytest.mark.parametrize(
    ("given", "good"),
    [
        ("sam@example.com", True),
        ("sam@example.com, bo.b+x@sub.example.co", True),
        ("Sam <sam@example.com>", False),
        ("sam@example.com\r\nBcc: eve@example.com", False),
        ("sam@example.com\nRCPT TO:<eve@example.com>", False),
        ("sam@localhost", False),
        ("sam@@example.com", False),
        ('"a b"@example.com', False),
        ("sam", False),
        ("", False),
        (", ".join(f"p{number}@example.com" for number in range(51)), False),
    ],
)
def test_only_plain_addresses_are_recipients(given: str, good: bool) -> None:
    if good:
        assert len(SendEmailAgent.recipient.check(given)) == given.count("@")
    else:
        with pytest.raises(InvalidValue):
            SendEmailAgent.recipient.check(given)


@given(subject=st.text(max_size=80), body=st.text(max_size=200), name=st.text(max_size=30))
def test_nothing_that_is_said_becomes_a_header(subject: str, body: str, name: str) -> None:
    try:
        subject = SendEmailAgent.subject.check(subject)
        account = _read_account({"host": "h", "from": f"{name} <ann@example.org>"})
    except (InvalidValue, ToolFailed):
        return
    if account.address != "ann@example.org":
        return
    raw = agent({}, subject=subject, body=body)._message(account)
    head = raw.partition(b"\r\n\r\n")[0].replace(b"\r\n ", b" ").split(b"\r\n")
    known = {b"from", b"to", b"subject", b"date", b"message-id", b"mime-version", b"content-type"}
    assert {line.partition(b":")[0].lower() for line in head} <= known | {b"content-transfer-encoding"}
    assert max(raw) < 128


def test_the_person_is_asked_first_and_shown_every_field() -> None:
    made = agent({}, cc=["bo@example.com"])
    assert made.needs_approval()
    assert made.approval_request().action_summary == "Send an email to sam@example.com and 1 more"
    assert made.approval_request().details == MAIL | {"cc": ["bo@example.com"], "account": ""}
    assert SendEmailAgent.valet.effect == "once"


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


def sent(subject: str) -> bytes:
    account = _read_account({"host": "h", "from": "a@example.org"})
    return bytes(agent({"host": "h"}, subject=subject)._message(account))


@settings(max_examples=300, deadline=None)
@given(_subjects.filter(_is_one_line))
@example("Grüße zum Termin am Freitag für alle in München: Überraschung für dich um zehn Uhr")
@example("=?utf-8?q?hi?= there")
@example("a  b ")
def test_promise_9_a_subject_is_read_as_it_was_approved_by_two_parsers(subject: str) -> None:
    message = sent(subject)
    assert str(message_from_bytes(message, policy=default)["Subject"]) == subject
    assert parse_email(message).subject == subject
    assert max(len(line) for line in message.split(b"\r\n")) <= 78
    assert sum(line.lower().startswith(b"subject:") for line in message.split(b"\r\n\r\n")[0].split(b"\r\n")) == 1
