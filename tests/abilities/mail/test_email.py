"""Email, through a real SMTP server that wants TLS and a password."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from abilities.accounts.choice import choose
from abilities.accounts.passwords import open_password
from abilities.accounts.services import EMAIL
from abilities.mail.tools import SendEmailAgent
from core.agents.fields import InvalidValue
from core.credentials.types import Ability, Account, OpenAccount
from core.http.guarded_client import GuardedClient
from core.json_types import JsonObject
from onevalet import ToolFailed
from onevalet.testing import make_context
from tests.agents.services import mail_server, no_loop
from tests.clocks import StandingClock

MAIL = {"recipient": ["sam@example.com"], "subject": "Lunch?", "body": "At noon,\n.\nor later: ¿qué tal?\n"}


@dataclass
class Connected:
    """What a person has connected, by the account's name."""

    stored: dict[str, JsonObject]
    preferred: str = ""

    async def list(self, need: str = "") -> Sequence[Account]:
        """Return the accounts."""
        return [self._opened(name).account for name in self.stored]

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        """Return one."""
        return self._opened(choose(await self.list(), Ability.MAIL_SEND, need, account_name).name)

    def _opened(self, name: str) -> OpenAccount:
        opened = open_password(EMAIL, self.stored[name])
        account = Account("email", name, opened.address, frozenset(Ability), name == self.preferred)
        return OpenAccount(account, opened.login, opened.secret, False, opened.servers, opened.sender)


def agent(kept: Connected | JsonObject, key: str = "turn.0.0", **values: Any) -> SendEmailAgent:
    """Make the agent with its fields, as the framework does."""
    kept = kept if isinstance(kept, Connected) else Connected({"primary": kept})
    ports = [f"{host}:{stored.get('port')}" for stored in kept.stored.values() for host in ("localhost", "127.0.0.1")]
    http = GuardedClient(allowed_hosts=[port for port in ports if port.rpartition(":")[2].isdigit()])
    context = make_context(idempotency_key=key, accounts=kept, http=http, clock=StandingClock())
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
            sending = agent(mails.credentials, cc=copies)
            result = await sending.on_running("")
        [done] = sending.context.undo.offered
        assert (done.title, done.tool) == ("Email to sam@example.com", ""), "it is beyond recall, which undo says"
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
        with pytest.raises(ToolFailed, match=r"^Nothing was sent: no secure connection"):
            await agent(mails.credentials).on_running("")
        with trusting(tmp_path, monkeypatch):
            wrongs: list[JsonObject] = [{"host": "127.0.0.1"}]
            if tls == "starttls":  # a server of implicit TLS says nothing before it: a client would wait
                wrongs.append({"tls": "implicit"})
            for wrong in wrongs:
                with pytest.raises(ToolFailed, match=r"^Nothing was sent: no secure connection"):
                    await agent(mails.credentials | wrong).on_running("")
            if tls == "starttls":
                with pytest.raises(ToolFailed, match="does not accept the stored user and password") as refused:
                    await agent(mails.credentials | {"password": "wrong"}).on_running("")
                login = refused.value.refused
                assert login is not None, "its person is asked to renew it"
                assert (login.need, login.secret) == ("email:mail.send", "wrong")
                with pytest.raises(ToolFailed, match="refuses this sender"):
                    await agent(mails.credentials | {"user": "", "password": ""}).on_running("")
        assert mails.taken == []


async def test_all_recipients_or_none_and_a_refusal_is_no_mystery(tmp_path: Path) -> None:
    async with mail_server("none", tmp_path) as mails:
        open_ = mails.credentials | {"user": "", "password": ""}
        with pytest.raises(ToolFailed, match=r"^Nothing was sent: localhost refuses gone@example.com\.$"):
            await agent(open_, cc=["gone@example.com"]).on_running("")
        mails.fails = "refuse"
        with pytest.raises(ToolFailed, match=r"^Nothing was sent: localhost refuses the email \(554\)\.$"):
            await agent(open_).on_running("")
        assert mails.taken == []
        mails.fails = "vanish"
        lost = agent(open_)
        for _ in range(2):  # a repeat of the same call sends no second one
            with pytest.raises(ToolFailed, match="It is unknown whether the email was sent"):
                await lost.on_running("")
        assert len(mails.taken) == 1


@pytest.mark.parametrize(
    ("kept", "account", "asked"),
    [
        (Connected({"home": {}, "work": {}}), "", {"account": "From which account: home or work?"}),
        (Connected({"home": {}, "work": {}, "club": {}}), "x", {"account": "From which account: home, work or club?"}),
        (Connected({"home": {}, "work": {}}), "work", {}),
        (Connected({"home": {}, "work": {}}, "home"), "", {}),
        (Connected({"home": {}}), "", {}),
    ],
)
async def test_the_account_is_asked_for_where_it_is_not_known(
    kept: Connected, account: str, asked: dict[str, str]
) -> None:
    assert await agent(kept, account=account).ask_first() == asked


@pytest.mark.parametrize(
    ("kept", "sentence"),
    [
        (Connected({}), "No account is connected"),
        (Connected({"home": {"host": "localhost"}}), "is incomplete"),
        (Connected({"home": {"host": "h", "from": "a@example.org", "port": "x"}}), "is incomplete"),
        (Connected({"home": {"host": "h", "from": "a\r\nBcc: x <a@example.org>"}}), "is incomplete"),
        (
            Connected({"home": {"host": "h", "from": "a@example.org", "tls": "no"}}),
            "is incomplete",
        ),
    ],
)
async def test_promise_14_an_account_that_cannot_be_used_is_told_of(kept: Connected, sentence: str) -> None:
    with pytest.raises(ToolFailed, match=sentence):
        await agent(kept).on_running("")


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


def test_the_person_is_asked_first_and_shown_every_field() -> None:
    made = agent({}, cc=["bo@example.com"])
    assert made.needs_approval()
    assert made.approval_request().action_summary == "Send an email to sam@example.com and 1 more"
    assert made.approval_request().details == MAIL | {
        "cc": ["bo@example.com"],
        "bcc": [],
        "files": [],
        "answers": "",
        "forwards": "",
        "account": "",
    }
    assert SendEmailAgent.valet.effect == "idempotent"
