"""The morning briefing over each channel, with real calendars and a real mailbox: one message, at its time, once."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from abilities.briefing.tools import BriefingExecutor, SetBriefing, brief_me, take_back_briefing
from abilities.tasks.reminders import RemindMe
from core.agents.registry import AgentRegistry
from core.credentials.store import CredentialStore
from core.json_types import JsonObject
from core.llm.types import Role
from tests.abilities.calendar.contract.test_calendar import plain
from tests.abilities.calendar.samples import event
from tests.abilities.mail.mail_harness import mail
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, repeats, said
from tests.agents.services import Web, open_meteo
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES, TelegramHarness
from tests.contract.harness import ChannelHarness
from tests.contract.test_approvals import MAIL
from tests.core.builders import says, wants
from tests.core.credentials.harness import new_key, store_with
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.radicale import USERS, Radicale

AT_SEVEN: JsonObject = {"clock": "7:00", "days": "every day"}
REMINDER: JsonObject = {"text": "call mum", "at": "2026-11-23T15:00"}
SUNDAY = datetime(2026, 11, 22, 7, tzinfo=BERLIN)
MONDAY = SUNDAY + timedelta(days=1)
HOSTILE = "[Win](https://evil.example/a) at evil.example @evilbot /undo **now**"
"""A subject with what a chat would make something to press of."""
DENTIST = event("DTSTART:20261123T080000Z", "DTEND:20261123T090000Z", "SUMMARY:Dentist", "LOCATION:Main St 5", uid="a")
FAIR = event("DTSTART;VALUE=DATE:20261123", "DTEND;VALUE=DATE:20261124", f"SUMMARY:{HOSTILE}", uid="b")
TOMORROW = event("DTSTART:20261124T080000Z", "DTEND:20261124T090000Z", "SUMMARY:Later", uid="c")


SPRING = (
    ("20270327T213000Z", "20270327T214500Z"),
    ("20270328T213000Z", "20270328T223000Z"),
    ("20270328T221500Z", "20270328T223000Z"),
)
"""Half past ten on Saturday, half past eleven on Sunday, when the clocks have changed, and a quarter past midnight."""


@dataclass(slots=True)
class Morning:
    """A person in Berlin, whose mailbox and calendars can be connected."""

    system: Proactive
    dovecot: Dovecot
    radicale: Radicale
    meteo: Web
    credentials: CredentialStore
    address: str

    async def connect(self) -> None:
        """Connect a calendar of each of two accounts, and a mailbox."""
        for name, user in (("home", "ann"), ("work", "bob")):
            kept: JsonObject = {"user": user, "password": USERS[user], "caldav": self.radicale.url}
            await self.credentials.save(self.system.tenant, "caldav", kept, name)
        server: JsonObject = {"host": "127.0.0.1", "port": self.dovecot.imap, "tls": "none"}
        mailbox: JsonObject = {"user": self.address, "password": PASSWORD, "imap": server}
        await self.credentials.save(self.system.tenant, "email", mailbox)

    def fill(self) -> None:
        """Let events of three days stand in both calendars, and two mails be unread."""
        home, team = self.radicale.make_calendar("ann", "Home"), self.radicale.make_calendar("bob", "Team")
        self.radicale.put("ann", f"{home}a.ics", DENTIST)
        self.radicale.put("ann", f"{home}c.ics", TOMORROW)
        self.radicale.put("bob", f"{team}b.ics", FAIR)
        self.dovecot.deliver(self.address, mail("Already read"), flags="S")
        self.dovecot.deliver(self.address, mail(HOSTILE, "Petra Boss <petra@work.example>"))
        self.dovecot.deliver(self.address, mail(marked("Your parcel")))

    async def at(self, moment: datetime) -> list[str]:
        """Let it be a later moment; return the messages that the person then gets."""
        before = len(self.system.delivery.channel.bubbles())
        await self.system.is_at(moment)
        return [shown(bubble.text) for bubble in self.system.delivery.channel.bubbles()[before:]]


def shown(text: str) -> str:
    """Return a text as a person reads it on any channel: Slack formats it itself."""
    return plain(text).replace("\\", "").replace("**", "")


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


async def open_morning(
    stack: AsyncExitStack, kind: type[ChannelHarness], urls: tuple[str, str], dovecot: Dovecot, radicale: Radicale
) -> Morning:
    """Open it all; it is Saturday, 21 November 2026, 13:00 in Berlin."""
    system = await stack.enter_async_context(open_proactive(kind, *urls))
    meteo = await stack.enter_async_context(open_meteo())
    http = dovecot.http(radicale.host, meteo.url.removeprefix("http://"))
    stack.push_async_callback(http.close)
    credentials = store_with(system.delivery.store.database, new_key())
    system.engine.add_executors([BriefingExecutor()])
    system.more += [brief_me, take_back_briefing]
    system.options |= {
        "agents": AgentRegistry([SetBriefing, RemindMe]),
        "credentials": credentials,
        "accounts": Accounts(credentials, Services()),
        "http": http,
        "settings": {"weather_url": meteo.url},
    }
    await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin", "preferred_channel": kind.name})
    return Morning(system, dovecot, radicale, meteo, credentials, dovecot.new())


@pytest.fixture
async def morning(
    channel: str, database_url: str, redis_url: str, dovecot: Dovecot, radicale: Radicale, stack: AsyncExitStack
) -> Morning:
    return await open_morning(stack, HARNESSES[channel], (database_url, redis_url), dovecot, radicale)


async def test_promise_13_a_briefing_comes_each_morning_in_one_message(morning: Morning) -> None:
    system = morning.system
    answer = await system.hears("every morning at 7 send me a briefing", wants(("set_briefing", AT_SEVEN)), repeats)
    assert (
        "comes every day at 07:00 (Europe/Berlin). It contains: the weather in Berlin, your calendar, unread mail"
        in answer
    )
    assert "The next one is on Sun 22 Nov 2026, 07:00." in answer
    assert "Still without an account: your calendar and unread mail." in answer
    assert await system.states() == [], "nobody is asked"
    assert await morning.at(SUNDAY - timedelta(seconds=1)) == []
    [read] = await morning.at(SUNDAY)
    assert "Your briefing for Sun 22 Nov 2026" in read
    assert "Weather in Berlin: overcast, 2 to 7 degrees, 80 % chance of rain" in read
    assert "connect" not in read, "it was said once"

    await morning.connect()
    morning.fill()
    await system.hears("remind me to call mum", wants(("remind_me", REMINDER)), repeats)
    [read] = await morning.at(MONDAY)
    for there in (
        "all day: [Win]",
        "09:00-10:00 Dentist (Main St 5)",
        "2 unread",
        "Petra Boss: [Win]",
        "15:00 call mum",
    ):
        assert there in read
    for absent in ("Later", "Already read", "evil.example", "@evilbot", "/undo", "https"):
        assert absent not in read
    assert ("now" in read) == ("\n\n" in read) == (system.delivery.channel.name != "sms"), "a text message is short"
    assert await morning.at(MONDAY + timedelta(hours=1)) == []
    assert await system.runs("Briefing") == ["COMPLETED", "COMPLETED"]

    await system.hears("thanks", says("You are welcome."))
    history = [message.text for message in said(system.model.requests[-1]) if message.role is not Role.TOOL]
    assert not [text for text in history if "Petra" in text or "Win" in text], "others' words are no history"
    assert "(A notification.)" in history

    system.clock.at = MONDAY + timedelta(hours=23, minutes=50)
    await system.hears("invite bob", wants(("send_mail", MAIL)))
    await system.hears("remind me", wants(("remind_me", {})))
    code = await system.code()
    [read] = await morning.at(MONDAY + timedelta(days=1))
    waiting = read.partition("Waiting for you")[2]
    assert f"(code {code})" in waiting
    assert "What shall I remind you of?" in waiting


async def test_a_briefing_in_german_over_a_clock_change_is_changed_and_stopped(
    database_url: str, redis_url: str, dovecot: Dovecot, radicale: Radicale, stack: AsyncExitStack
) -> None:
    morning = await open_morning(stack, TelegramHarness, (database_url, redis_url), dovecot, radicale)
    system = morning.system
    await system.delivery.store.db.tenants.change({"language": "de", "language_from": ""})
    await morning.connect()
    home = radicale.make_calendar("ann", "Home")
    for number, (start, end) in enumerate(SPRING):
        held = event(f"DTSTART:{start}", f"DTEND:{end}", f"SUMMARY:Termin {number}", uid=f"spring{number}")
        radicale.put("ann", f"{home}{number}.ics", held)
    system.clock.at = datetime(2027, 3, 27, 12, tzinfo=BERLIN)
    await system.hears("jeden Morgen", wants(("set_briefing", AT_SEVEN)), repeats)
    changed = await system.hears("werktags um 8", wants(("set_briefing", {"days": "weekdays", "clock": "8"})), repeats)
    assert "werktags" in changed
    assert "am Mo., 29. März 2027" in changed, "one briefing has taken the other's place"
    undone = await system.hears("mach das rückgängig", wants(("undo_last", {})), repeats)
    assert "Zurückgenommen: Dein Briefing ist wieder wie zuvor." in undone
    changed = await system.hears("ohne das Wetter", wants(("set_briefing", {"without": ["weather"]})), repeats)
    assert "dein Kalender, ungelesene Mails, Erinnerungen und Aufgaben und was auf dich wartet" in changed

    [read] = await morning.at(datetime(2027, 3, 28, 7, tzinfo=BERLIN))
    assert "Dein Briefing für So., 28. März 2027:" in read
    assert "23:30 Termin 1" in read, "a day of 23 hours"
    assert not [gone for gone in ("Termin 0", "Termin 2", "Wetter") if gone in read]
    assert "Mail: nichts Ungelesenes" in read
    now = shown(await system.hears("und jetzt", wants(("brief_me", {"only": ["weather", "calendar"]})), repeats))
    assert "Wetter in Berlin: bedeckt, 2 bis 7 Grad, 80 % Regenwahrscheinlichkeit" in now
    assert "Termin 1" in now

    await system.hears("stopp", wants(("stop_task", {"which": "Briefing"})), repeats)
    assert await morning.at(datetime(2027, 3, 29, 9, tzinfo=BERLIN)) == []
