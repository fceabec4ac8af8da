"""Promise 7: an email whose sending is cut off at any step is sent once, or it is said that nobody knows."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from abilities.mail import delivery
from core.credentials.types import OpenAccount
from onevalet import MailAddress, Mailbox, OutgoingMail, ToolExecutionContext, ToolFailed, message_id_of
from onevalet.testing import MemoryStorage, make_context
from providers.email.smtp import Submission
from tests.clocks import StandingClock
from tests.servers.dovecot import Dovecot, MailExchange, mail_exchange

KEY = "turn.0.0"


class Died(BaseException):
    """The process is gone, and runs no `except` of ours."""


class Sending:
    """One email of one call, as often as it is begun."""

    def __init__(self, dovecot: Dovecot, exchange: MailExchange) -> None:
        self.dovecot, self.exchange = dovecot, exchange
        self.ann, self.bob = dovecot.new("ann"), dovecot.new("bob")
        self.http = dovecot.http(f"127.0.0.1:{exchange.port}")
        self.storage = MemoryStorage()

    @property
    def account(self) -> OpenAccount:
        return self.dovecot.account(self.ann, smtp=self.exchange.port)

    def context(self) -> ToolExecutionContext:
        return make_context(idempotency_key=KEY, storage=self.storage, http=self.http, clock=StandingClock())

    async def once(self) -> None:
        """Send it, as a run of the call does."""
        clock = StandingClock()
        mail = OutgoingMail(
            sender=MailAddress("Ann", self.ann),
            to=[self.bob],
            cc=[],
            subject="Lunch",
            body="At noon?",
            date=clock.now(),
            message_id=message_id_of(KEY, self.ann),
        )
        await delivery.send_once(self.context(), self.account, mail, [self.bob])

    @property
    def arrived(self) -> int:
        return len(self.dovecot.mails(self.bob))

    @property
    def filed(self) -> int:
        return len(self.dovecot.mails(self.ann, "Sent"))


@pytest.fixture
async def sending(dovecot: Dovecot) -> AsyncIterator[Sending]:
    async with mail_exchange(dovecot) as exchange:
        made = Sending(dovecot, exchange)
        yield made
        await made.http.close()


def dies(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, *, after: bool, call: int = 1) -> None:
    """Let the process die before or after a call of a method."""
    real: Callable[..., Awaitable[Any]] = getattr(owner, name)
    calls = 0

    async def dying(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call and not after:
            raise Died
        made = await real(*arguments, **named)
        if calls == call:
            raise Died
        return made

    monkeypatch.setattr(owner, name, dying)


POINTS: dict[str, tuple[Any, str, bool, int]] = {
    "connected": (Submission, "address", True, 1),
    "leaving": (MemoryStorage, "put", True, 1),
    "accepted": (Submission, "send", True, 1),
    "noted": (MemoryStorage, "put", True, 2),
    "filing": (Mailbox, "append", False, 1),
    "filed": (Mailbox, "append", True, 1),
    "done": (MemoryStorage, "put", True, 3),
}
UNKNOWN = {"leaving", "accepted"}
"""Where nobody can know, unless the provider stores what it sends."""


@pytest.mark.parametrize("point", POINTS)
async def test_promise_7_an_email_is_sent_once_wherever_its_process_dies(sending: Sending, point: str) -> None:
    owner, name, after, call = POINTS[point]
    with pytest.MonkeyPatch.context() as patch:
        dies(patch, owner, name, after=after, call=call)
        with pytest.raises(Died):
            await sending.once()
    for _ in range(2):
        if point in UNKNOWN:
            with pytest.raises(ToolFailed, match="It is unknown whether the email was sent"):
                await sending.once()
        else:
            await sending.once()
    assert sending.arrived == len(sending.exchange.taken) == (0 if point == "leaving" else 1)
    assert sending.filed == (0 if point in UNKNOWN else 1)


@pytest.mark.parametrize("point", [name for name in POINTS if name not in ("filing", "filed")])
async def test_promise_7_what_the_provider_stores_is_looked_up(
    sending: Sending, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "FILES_SENT", ("127.0.0.1",))
    monkeypatch.setattr(delivery, "_LOOKS", (0.0,))
    sending.exchange.files_sent = True
    owner, name, after, call = POINTS[point]
    with pytest.MonkeyPatch.context() as patch:
        dies(patch, owner, name, after=after, call=call)
        with pytest.raises(Died):
            await sending.once()
    for _ in range(2):
        await sending.once()
    assert (sending.arrived, sending.filed) == (1, 1)


@pytest.mark.parametrize("stores", [True, False])
async def test_promise_7_a_lost_answer_is_looked_up(
    sending: Sending, stores: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stores:
        monkeypatch.setattr(delivery, "FILES_SENT", ("127.0.0.1",))
        monkeypatch.setattr(delivery, "_LOOKS", (0.0,))
    sending.exchange.files_sent = stores
    sending.exchange.fails = "vanish"
    if stores:
        await sending.once()
    else:
        with pytest.raises(ToolFailed, match="It is unknown"):
            await sending.once()
    assert (sending.arrived, len(sending.exchange.taken)) == (1, 1)


async def test_a_refused_email_may_be_sent_later(sending: Sending) -> None:
    sending.exchange.fails = "refuse"
    with pytest.raises(ToolFailed, match=r"127\.0\.0\.1 refuses the email"):
        await sending.once()
    sending.exchange.fails = ""
    await sending.once()
    assert (sending.arrived, sending.filed) == (1, 1)
