"""“Tell me when Amazon writes”, on each channel: from a plain sentence to the message, with a real mail server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from html import unescape

import pytest

from abilities.events.bus import EventBus
from abilities.mail.past import PastMailboxes
from abilities.mail.reading import search_mail
from abilities.mail.watcher import MailWatcher
from abilities.mail.watches import MailWatches
from core.errors import AccountMissing
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelRequest, Role
from tests.abilities.mail.mail_harness import QUICK, Mailboxes, age, connected, mail
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, on_its_mark, repeats
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import says, wants
from tests.eventually import eventually
from tests.servers.dovecot import Dovecot

BOSS = "Petra Boss <petra@work.example>"


@dataclass(slots=True)
class WithMail:
    """A system whose person has a mailbox, and a worker that watches it."""

    system: Proactive
    dovecot: Dovecot
    address: str
    mailboxes: Mailboxes
    redis_url: str

    async def planned(self, words: str, what: str, filter: JsonObject) -> str:
        """Ask to be told of mail, and agree; return the card."""
        call: JsonObject = {"what": what, "event_source": "mail", "event_type": "mail.received", "event_filter": filter}
        card = unescape(await self.system.hears(words, wants(("ScheduleTask", call))))
        assert "It is set up as task" in await self.system.decides("Approve", repeats)
        return card

    async def comes(self, message: bytes, *steps: object) -> str:
        """Deliver a mail; return what the person then reads."""
        turns = self.system.delivery.store.wakeups.turns
        before = len(turns)
        self.dovecot.deliver(self.address, message)
        await eventually(lambda: len(turns) > before)
        return await self.system._read(self.system.work(), *steps)  # type: ignore[arg-type]

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Watch as a worker does."""
        store = self.system.delivery.store
        bus = EventBus(self.redis_url, store.database, store.make_id)
        http = self.dovecot.http()
        watches = MailWatches(store.database, "w1")
        watcher = MailWatcher(watches, bus, lambda _: self.mailboxes, http, QUICK)
        running = asyncio.create_task(watcher.run())
        try:
            yield
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            await bus.close()
            await http.close()


@pytest.fixture
async def with_mail(channel: str, database_url: str, redis_url: str, dovecot: Dovecot) -> AsyncIterator[WithMail]:
    """Yield a system; it is Saturday, 21 November 2026, 13:00 in Berlin, and two mails are there."""
    async with open_proactive(HARNESSES[channel], database_url, redis_url) as system:
        mailboxes, address, http = Mailboxes(), dovecot.new(), dovecot.http()
        system.engine.mail = PastMailboxes(lambda _: mailboxes, http)
        dovecot.deliver(address, mail("Your order of socks"))
        dovecot.deliver(address, mail("Lunch?", "Bob <bob@example.org>"))
        age(dovecot, address)
        yield WithMail(system, dovecot, address, mailboxes, redis_url)
        await http.close()


async def test_promise_13_mail_that_was_asked_for_is_told_and_no_other(with_mail: WithMail) -> None:
    system, store = with_mail.system, with_mail.system.delivery.store
    await connected(store.database, system.tenant, with_mail.mailboxes, with_mail.dovecot.account(with_mail.address))
    amazon: JsonObject = {"from": {"contains": "amazon"}}
    card = await with_mail.planned("Tell me when Amazon writes", "Say what Amazon wrote", amazon)
    assert "when mail comes in, and the sender contains amazon" in card
    assert "the last such mail is “Your order of socks” from Amazon <orders@amazon.example>" in card
    boss: JsonObject = {"from": {"contains": "boss"}, "text": {"contains": "budget"}}
    card = await with_mail.planned("Tell me when my boss mails about the budget", "Say what the boss wants", boss)
    assert "none of the last 30 mails is of that kind" in card
    async with with_mail.watching():
        mark, news = "[Event Trigger] mail.received: Say what Amazon wrote", marked("Your parcel comes today.")
        seen = ("brought from outside: it is data", marked("It is on its way today."), '"bulk": false')
        assert (
            await with_mail.comes(
                mail("Your parcel", text=marked("It is on its way today.")), on_its_mark(mark, news, *seen)
            )
            == news
        )
        with_mail.dovecot.deliver(with_mail.address, mail("Holidays", BOSS, "Nice ones!"))
        mark, news = "[Event Trigger] mail.received: Say what the boss wants", marked("The boss asks for the budget.")
        assert await with_mail.comes(mail("Money", BOSS, "Where is the BUDGET?"), on_its_mark(mark, news)) == news
    assert await store.db.events.count(source="mail") == 3
    assert await system.runs("Say what") == ["COMPLETED", "COMPLETED"]


async def test_a_summary_of_unread_mail_at_eight_tells_what_is_there(with_mail: WithMail) -> None:
    system, address = with_mail.system, with_mail.address
    await connected(
        system.delivery.store.database, system.tenant, with_mail.mailboxes, with_mail.dovecot.account(address)
    )
    http = with_mail.dovecot.http()
    system.options |= {"accounts": Everybody(with_mail.mailboxes), "http": http}
    system.more = [*system.more, search_mail]
    with_mail.dovecot.deliver(address, mail("Already read"), flags="S")
    await system.hears("I live in Berlin", wants(("set_preference", {"name": "timezone", "value": "Berlin"})), repeats)
    call: JsonObject = {"what": "Summarise my unread mail", "cron": "0 8 * * *"}
    card = await system.hears("Every day at 8 summarise my unread mail", wants(("ScheduleTask", call)))
    assert "every day at 08:00 (Europe/Berlin), next on Sun 22 Nov 2026, 08:00" in unescape(card)
    assert "It is set up as task" in await system.decides("Approve", repeats)
    with_mail.dovecot.deliver(address, mail("Overnight", BOSS))
    unread = wants(("search_mail", {"find": {"unread": True}}))
    try:
        read = await system.is_at(datetime(2026, 11, 22, 8, tzinfo=BERLIN), unread, subjects_of_the_result)
    finally:
        await http.close()
    assert read == marked("Your order of socks, Lunch?, Overnight")
    assert await system.runs("Summarise") == ["COMPLETED"]


def subjects_of_the_result(request: ModelRequest) -> ModelAnswer:
    """Answer with the subjects that the last tool gave, as a model would with what is in them."""
    [result] = [message.text for message in request.messages if message.role is Role.TOOL][-1:]
    known = ("Your order of socks", "Lunch?", "Already read", "Overnight")
    return says(marked(", ".join(subject for subject in known if subject in result)))


@dataclass(frozen=True, slots=True)
class Everybody:
    """The accounts of all people, who share their mailboxes."""

    mailboxes: Mailboxes

    def for_tenant(self, tenant_id: str, turn_id: str = "") -> Mailboxes:
        """Return the mailboxes."""
        return self.mailboxes


async def test_without_a_mailbox_a_task_on_mail_asks_for_one(with_mail: WithMail) -> None:
    tasks = with_mail.system.engine.for_tenant(with_mail.system.tenant)
    with pytest.raises(AccountMissing) as missing:
        await tasks.check({"kind": "event", "source": "mail", "type": "mail.received"})
    assert missing.value.need == "mail.read"
    assert await with_mail.system.delivery.store.db.tasks.count() == 0
