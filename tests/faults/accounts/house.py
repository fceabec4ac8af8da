"""The servers of people's accounts, the settings by which our processes know them, and accounts to connect."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from abilities.mcp.connections import Connections
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.reminders import TellExecutor
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys, read_secret_key
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.http.guarded_client import GuardedClient
from core.ids import make_id
from core.json_types import JsonObject
from core.queue.wakeups import NoWakeups
from core.tools.accepted import Accepted, AcceptedDefinitions
from tests.faults.accounts.asking import NEWS, guest_of, reminder_of
from tests.faults.accounts.hooks import FILES_SENT
from tests.faults.accounts.points import Kind
from tests.faults.database import execute, read_text
from tests.faults.harness import SECRET_KEY, Harness
from tests.servers.dovecot import PASSWORD, Dovecot, MailExchange, mail_exchange, running_dovecot
from tests.servers.mcp import ROOT, ScriptedMcp
from tests.servers.radicale import USERS, Radicale, run_radicale
from tests.servers.rotating import LENIENT, STRICT, RotatingServer, running_rotating

BINARY = Path("/usr/sbin/dovecot")
AUTHSERV = "mx.example.org"
PLUGINS = ",".join(
    (
        "tests.plugins.faults",
        *(
            "abilities.mail.tools",
            "abilities.calendar.tools",
            "abilities.contacts.tools",
            "abilities.outreach.tools",
            "agents.person",
            "abilities.tasks.looking_after",
            "abilities.tasks.reminders",
        ),
        "abilities.skills.tools",
    )
)
MAILED = frozenset({Kind.INVITE, Kind.UNINVITE})
"""What needs a mailbox besides the calendar."""
_MOVES = (Kind.MOVE, Kind.UNDO_MOVE)
CALENDARS = MAILED | {Kind.CREATE, *_MOVES, Kind.PART, Kind.CANCEL, Kind.ACCEPT, Kind.IMPORT, Kind.UNDO}
_REMINDED = (Kind.STOP, Kind.CHANGE, Kind.UNDO_STOP, Kind.UNDO_CHANGE)
OWNER = "ann"
"""Whose calendar all of them keep."""
_EVENT = """BEGIN:VEVENT\r
UID:{uid}\r
DTSTAMP:20261101T000000Z\r
DTSTART;TZID=Europe/Berlin:{day}T100000\r
DTEND;TZID=Europe/Berlin:{day}T110000\r
SUMMARY:meeting {token}\r
{more}END:VEVENT\r
"""
_CALENDAR = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n{events}END:VCALENDAR\r\n"
_MORE = {
    Kind.PART: "RRULE:FREQ=WEEKLY;COUNT=6\r\n",
    Kind.ACCEPT: "ORGANIZER:mailto:bob@example.org\r\nATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org\r\n",
    Kind.UNINVITE: "ORGANIZER:mailto:ann@example.org\r\nATTENDEE:mailto:{guest}\r\n",
}
_AT = datetime(2031, 5, 5, 10, tzinfo=ZoneInfo("Europe/Berlin"))
"""When the reminder comes that some have."""
_KNOWN = "update tenants set timezone = 'Europe/Berlin', name = 'Ann' where tenant_id = $1"
_TENANT = "select tenant_id from identities where user_key = $1"


@dataclass(frozen=True, slots=True)
class House:
    """All servers. `exchange` stores no copy of what it sends; `filing` does."""

    harness: Harness
    dovecot: Dovecot
    exchange: MailExchange
    filing: MailExchange
    radicale: Radicale
    calendar: str
    book: str
    issuer: RotatingServer
    mcp: ScriptedMcp

    @property
    def assistant(self) -> str:
        """Return the address of the assistant's own mailbox."""
        return "valet@example.org"

    @property
    def settings(self) -> dict[str, str]:
        """Return what our processes are told."""
        servers = (f"127.0.0.1:{self.dovecot.imap}", f"127.0.0.1:{self.exchange.port}")
        imap = f"imap://127.0.0.1:{self.dovecot.imap}"
        openid = {
            f"ONEVALET_OIDC_{name.upper()}_{key}": value
            for name in (STRICT, LENIENT)
            for key, value in {"ISSUER": self.issuer.issuer(name), "CLIENT_ID": "valet", "IMAP": imap}.items()
        }
        return openid | {
            "FAULTS_ACCOUNTS": "on",
            "ONEVALET_MCP": str(self.mcp.path.with_suffix(".toml")),
            "OAUTHLIB_INSECURE_TRANSPORT": "1",  # the test's server speaks plain HTTP
            "ONEVALET_PLUGINS": PLUGINS,
            "ONEVALET_FETCH_HOSTS": ",".join((*servers, f"{FILES_SENT}:{self.filing.port}", self.radicale.host)),
            "ONEVALET_MAIL_ADDRESS": self.assistant,
            "ONEVALET_MAIL_IMAP_URL": imap,
            "ONEVALET_MAIL_AUTHSERV_ID": AUTHSERV,
            "SMTP_HOST": "127.0.0.1",
            "SMTP_PORT": str(self.filing.port),
            "SMTP_USER": self.assistant,
            "SMTP_PASSWORD": PASSWORD,
            "SMTP_FROM": self.assistant,
            "SMTP_SECURITY": "none",
        }

    def hold(self, seconds: float) -> None:
        """Let servers keep their answers back for so long."""
        self.exchange.holds = self.filing.holds = self.issuer.holds = seconds

    async def connect(self, kind: Kind, person: str) -> None:
        """Store a person's account, as they would have connected it."""
        harness, address = self.harness, f"{person}@example.org"
        tenant = await read_text(harness, _TENANT, _phone(harness, person))
        await execute(harness, _KNOWN, tenant)
        database = Database(harness.url)
        try:
            keys = SecretKeys([read_secret_key(SECRET_KEY)])
            for service, stored in self._accounts(kind, address):
                await CredentialStore(database, keys).save(tenant, service, stored)
            engine = TriggerEngine(database, make_id, Clock(), NoWakeups(), executors=[TellExecutor()])
            if kind in _REMINDED:
                words: JsonObject = {"text": reminder_of(person)}
                at = ScheduleTrigger(at=_AT)
                await engine.create_task(
                    tenant_id=tenant, trigger=at, action=words, executor="tell", title=reminder_of(person)
                )
            if kind is Kind.WATCH:
                await engine.create_task(
                    tenant_id=tenant,
                    trigger=EventTrigger("mail", "mail.received"),
                    action={"instruction": "Say what came"},
                )
        finally:
            await database.close()

    def seed(self, kind: Kind, token: str) -> None:
        """Put into the calendar what was there before."""
        if kind in (Kind.REPLY, Kind.FORWARD):
            self.dovecot.deliver(f"{token.partition('-')[2]}@example.org", question(guest_of(token), token))
        if kind in (*_MOVES, Kind.PART, Kind.CANCEL, Kind.ACCEPT, Kind.UNINVITE):
            more = _MORE.get(kind, "").format(guest=guest_of(token))
            text = _CALENDAR.format(events=_event(token, f"before-{token}", "20310505", more))
            self.radicale.put(OWNER, f"{self.calendar}{token}.ics", text)

    def _accounts(self, kind: Kind, address: str) -> Sequence[tuple[str, JsonObject]]:
        mailbox = [self._account(Kind.POST, address)] if kind in MAILED else []
        return [self._account(kind, address), *mailbox]

    def _account(self, kind: Kind, address: str) -> tuple[str, JsonObject]:
        if kind in CALENDARS:
            own: JsonObject = {"user": OWNER, "password": USERS[OWNER], "from": f"{OWNER}@example.org"}
            return "caldav", own | {"caldav": self.radicale.url}
        if kind in (Kind.CARD, Kind.UNDO_CARD, Kind.MESSAGE):
            login: JsonObject = {"user": OWNER, "password": USERS[OWNER]}
            return "caldav", login | {"carddav": self.radicale.url}
        if kind in (Kind.STRICT, Kind.LENIENT):
            over = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
            token = self.issuer.grant(address)
            granted: JsonObject = {"access_token": "over", "refresh_token": token, "expires_at": over, "scopes": []}
            return kind.value, granted | {"address": address}
        host, port = ("127.0.0.1", self.exchange.port)
        if kind is Kind.POST_FILED:
            host, port = FILES_SENT, self.filing.port
        imap: JsonObject = {"host": "127.0.0.1", "port": self.dovecot.imap, "tls": "none"}
        smtp: JsonObject = {"host": host, "port": port, "tls": "none", "from": address}
        return "email", smtp | {"user": address, "password": PASSWORD, "imap": imap}


@asynccontextmanager
async def open_house(harness: Harness) -> AsyncIterator[House]:
    """Run all servers inside the block."""
    folder = harness.folder / "radicale"
    folder.mkdir(exist_ok=True)
    async with AsyncExitStack() as stack:
        dovecot = stack.enter_context(running_dovecot())
        exchange = await stack.enter_async_context(mail_exchange(dovecot))
        filing = await stack.enter_async_context(mail_exchange(dovecot))
        filing.files_sent = True
        radicale = stack.enter_context(run_radicale(folder))
        issuer = stack.enter_context(running_rotating(dovecot.tokens))
        calendar, book = radicale.make_calendar(OWNER, "Home"), radicale.make_address_book(OWNER, "People")
        mcp = await _light(harness)
        yield House(harness, dovecot, exchange, filing, radicale, calendar, book, issuer, mcp)


async def _light(harness: Harness) -> ScriptedMcp:
    """Return an MCP server that has a light to switch, whose tool the operator has accepted."""
    mcp = ScriptedMcp(harness.folder / "mcp.json")
    mcp.offers({"name": "light", "description": "Switch the light.", "says": "The light is on."})
    command = json.dumps(list(mcp.command))
    mcp.path.with_suffix(".toml").write_text(f'[servers.home]\ncommand = {command}\nfolder = "{ROOT}"\ntimeout = 60\n')
    http, database = GuardedClient(), Database(harness.url)
    connections = Connections([mcp.over_pipes()], http)
    try:
        for tool in await connections.tools("home"):
            accepted = Accepted("home", tool.name, tool.hash, tool.to_json())
            await AcceptedDefinitions(database, "mcp").accept(accepted)
    finally:
        await connections.close()
        await http.close()
        await database.close()
    return mcp


def calendar_file(token: str) -> str:
    """Return a calendar file with two events, as somebody sends it."""
    events = [_event(token, f"{number}-{token}", f"203105{day}", "") for number, day in enumerate(("05", "12"))]
    return _CALENDAR.format(events="".join(events))


def letter(sender: str, token: str) -> bytes:
    """Return a mail to the assistant, as its receiving server stores it."""
    headers: Mapping[str, str] = {
        "Authentication-Results": f"{AUTHSERV}; dmarc=pass header.from=example.org",
        "From": sender,
        "To": "valet@example.org",
        "Message-ID": f"<{sender}>",
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{head}\r\n{token}\r\n".encode()


def question(sender: str, token: str) -> bytes:
    """Return a mail to a person, to be answered or passed on."""
    head = f"From: {sender}\r\nTo: me@example.org\r\nSubject: When, {token}?\r\nMessage-ID: <{token}@example.org>\r\n"
    return f"{head}\r\nWhen do we meet?\r\n".encode()


def new_mail(person: str) -> bytes:
    """Return a mail to a person."""
    subject = f"{NEWS} {person}"
    head = "From: Amazon <orders@amazon.example>\r\nTo: me@example.org\r\n"
    return f"{head}Subject: {subject}\r\nMessage-ID: <{person}@amazon.example>\r\n\r\nOn its way.\r\n".encode()


def _event(token: str, uid: str, day: str, more: str) -> str:
    return _EVENT.format(token=token, uid=uid, day=day, more=more)


def _phone(harness: Harness, person: str) -> str:
    return next(one.phone for one in harness.people if one.key == person)
