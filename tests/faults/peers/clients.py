"""Every client of a server that others run: how its server is named, and how the product is made to speak to it."""

import asyncio
import base64
import json
import re
import sys
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from io import BytesIO

import aiohttp
import psutil
from PIL import Image

from abilities.accounts.links import ConnectLinkStore
from abilities.mcp.types import Definition
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys, read_secret_key
from core.ids import make_id
from core.json_types import JsonObject
from core.tools.accepted import Accepted, AcceptedDefinitions
from notify.addresses import AddressBook
from tests.abilities.accounts.connect.harness import Browser
from tests.abilities.documents.sounds import ogg
from tests.faults.database import execute, read_rows
from tests.faults.harness import PUBLIC_URL, SECRET_KEY
from tests.faults.peers.speech import GOOD, TOOL
from tests.faults.peers.stage import Cell, Stage
from tests.forker import ROOT
from tests.servers.hostile_peers import GOOD as CONTROL

PLUGINS = ",".join(
    (
        "tests.plugins.faults",
        "abilities.mail.tools",
        "abilities.calendar.tools",
        "abilities.web.reading",
        "abilities.contacts.tools",
        "abilities.tasks.reminders",
        "abilities.speech.tools",
    )
)
MCP_SECONDS = 2
_WATCH = "select problem, read_at is not null as was_read from mail_watches where tenant_id = $1"
_UNWATCH = "delete from tasks where tenant_id = '{tenant}'; delete from credentials where tenant_id = '{tenant}'"
_PUSHED = """
select o.state, o.attempts from outbound o
join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
where o.tenant_id = $1 and c.channel = 'push' order by o.id desc limit 1
"""
_VOICED = "select state, reason from spoken_answers where tenant_id = $1 order by created_at desc limit 1"
_GIVEN_UP = """
update outbound o set state = 'failed', reason = 'given up' from conversations c
where c.tenant_id = o.tenant_id and c.id = o.conversation_id and c.channel = 'push' and o.state in ('ready', 'checking')
"""
_PREFERS_PUSH = "update tenants set preferred_channel = 'push' where tenant_id = $1"
_LISTENS = 3.0
"""Seconds for which a mailbox is watched that gives no reason to end that: IDLE begins anew meanwhile."""
_KEEPS_TO_IT = frozenset(
    {
        "drips",
        "never an answer",
        "answers to what was not asked",
        "does not close",
        "lists in place of each value",
        "nothing in place of each value",
        "1e400 in place of each value",
        "-1 in place of each value",
        "lone surrogates and NUL",
        "2^63 in place of each value",
        "deep nesting",
        "garbage",
    }
)
"""Manners that a mailbox may have which is only listened to: it said little, or nothing that means anything."""
_NO_LINKS = "delete from connect_links where tenant_id = '{tenant}'"
_AT_ONCE = 7
"""How often a form is sent at once: a link allows eight tries."""
_SEEN = re.compile(r"<[^>]+>")

type Act = Callable[[Stage, Cell], Awaitable[None]]
type Look = Callable[[Stage, Cell], Awaitable[str | None]]
type Beside = Callable[[Stage, float], Awaitable[float]]
"""Let somebody else use the product, and return how many seconds that took; the given ones where it took longer."""
type SettingsOf = Callable[[Stage, Sequence[Cell]], dict[str, str]]


async def _nothing(stage: Stage, cell: Cell) -> None:
    return


def _no_settings(stage: Stage, cells: Sequence[Cell]) -> dict[str, str]:
    return {}


async def _answered(stage: Stage, cell: Cell) -> str | None:
    """Return what the person was sent about their text."""
    texts = await stage.texts_to(cell.person, cell.since)
    return next((text.partition("heard:")[2].strip() or text for text in texts if cell.token in text), None)


@dataclass(frozen=True, slots=True)
class PeerClient:
    """A client. `named`: how a person or operator names its server; `spoken`: how the product is made to speak to it.

    `without`: manners that make no sense for it, and why. `good`: words by which the person is told that all went well.
    `beside`: what somebody else does meanwhile, as a rule write a text. `alone`: a setting names its one server, so
    that its peers come to the same address, one after another.
    """

    name: str
    named: str
    spoken: str
    speech: str
    ask: Act
    told: Look = _answered
    prepare: Act = _nothing
    settings: SettingsOf = _no_settings
    good: str = GOOD
    without: Mapping[str, str] = field(default_factory=dict)
    plugin: str = ""
    """A plugin that brings it; the product's own need none."""
    alone: bool = False
    beside: Beside = Stage.talk
    clear: Act = _nothing


# --- Mail


async def _mailbox(stage: Stage, cell: Cell) -> None:
    stored: JsonObject = {"user": "ann", "password": "pass", "imap": cell.address, "from": "ann@example.org"}
    nowhere: JsonObject = {"host": cell.plan.elsewhere, "port": cell.plan.port, "tls": "none"}
    await stage.store.save(cell.tenant, "email", nowhere | stored)


async def _search(stage: Stage, cell: Cell) -> None:
    await stage.asks(cell, "search_mail", {})


async def _watched(stage: Stage, cell: Cell) -> None:
    """Let a task wait for mail: the worker that looks for mailboxes next watches this one."""
    await _mailbox(stage, cell)
    cell.since = stage.now
    await stage.engine.create_task(
        tenant_id=cell.tenant, trigger=EventTrigger("mail", "mail.received"), action={"instruction": "Say what came"}
    )


async def _watch_noted(stage: Stage, cell: Cell) -> str | None:
    """Return what is noted of the mailbox, by which its person and the operator are told."""
    connection = await stage.harness.connect()
    try:
        row = await connection.fetchrow(_WATCH, cell.tenant)
    finally:
        await connection.close()
    if row is None or row["problem"] or not stage.met(cell.plan):
        return str(row["problem"]) if row else None
    if cell.plan.manner == CONTROL.name:
        return f"{GOOD}: read" if row["was_read"] else None
    may_go_on = cell.plan.manner in _KEEPS_TO_IT and stage.now - cell.since > _LISTENS
    return "nothing: it keeps to what a peer may do" if may_go_on else None


async def _unwatched(stage: Stage, cell: Cell) -> None:
    await execute(stage.harness, _UNWATCH.format(tenant=cell.tenant))


async def _sender(stage: Stage, cell: Cell) -> None:
    stored: JsonObject = {"user": "ann", "password": "pass", "from": "ann@example.org"}
    await stage.store.save(cell.tenant, "email", {**cell.address, **stored})


async def _agrees(stage: Stage, cell: Cell) -> None:
    """Ask for a mail, and agree to the card: only then its server is spoken to."""
    body: JsonObject = {"recipient": ["bob@example.org"], "subject": "At noon", "body": "At noon?"}
    await stage.asks(cell, "SendEmailAgent", body)
    await stage.until_told(cell.person, "OK", cell.since)
    cell.since = stage.now
    await stage.harness.act(cell.person.key, "twilio", "say", text="OK", wait=True)


async def _sent(stage: Stage, cell: Cell) -> str | None:
    texts = await stage.texts_to(cell.person, cell.since)
    return next((text for text in texts if not text.startswith("Approved")), None)


def _tries(kind: str) -> Act:
    """Return what types a password on the page where accounts are connected, as often at once as a link allows."""

    async def ask(stage: Stage, cell: Cell) -> None:
        cell.notes.clear()
        link = await _link(stage, cell.tenant)
        pages = await _types(link, kind, cell.address, _AT_ONCE)
        # A link is used up by the first that opens something; the others are told that.
        opened = [page for page in pages if GOOD in page]
        cell.notes["page"] = opened[0] if opened else pages[0] if all(pages) else ""

    return ask


def _tries_beside(kind: str) -> Beside:
    """Return what lets somebody else try a password, at a server that is as it should be."""

    async def other(stage: Stage, within: float) -> float:
        tenant = await stage.tenant_of(stage.other)
        await execute(stage.harness, _NO_LINKS.format(tenant=tenant))
        link = await _link(stage, tenant)
        began = time.monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                [page] = await _types(link, kind, stage.calm_address, 1)
                if GOOD not in page:  # a server that is as it should be was not reached: no other try helps
                    return within
        return time.monotonic() - began

    return other


async def _link(stage: Stage, tenant: str) -> str:
    links = ConnectLinkStore(stage.database, PUBLIC_URL, SecretKeys([read_secret_key(SECRET_KEY)]))
    made = await links.make(tenant, None, Clock(stage.harness.clock).now(), service="email")
    assert made is not None
    return made.replace(PUBLIC_URL, stage.harness.webs[0].url)


async def _types(link: str, kind: str, server: JsonObject, times: int) -> list[str]:
    """Open a link, send its form so often at once, and return each sentence that is shown; empty for errors of ours."""
    typed = {"address": "ann@example.org", "password": "pass", "imap_host": "", "imap_port": ""}
    typed |= {f"{kind}_{name}": str(value) for name, value in server.items()}
    headers = {"Host": PUBLIC_URL.removeprefix("https://")}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), headers=headers) as session:
        first = Browser(session)
        await first.get(link)
        # A jar would keep the cookie of an https address from http, by which the test reaches it.
        session.headers["Cookie"] = first.headers["Set-Cookie"].partition(";")[0]
        browsers = [Browser(session, first.page) for _ in range(times)]
        await asyncio.gather(*(browser.submit(link, typed) for browser in browsers))
    return [_read(browser) for browser in browsers]


def _read(browser: Browser) -> str:
    if problem := re.search(r'role="alert">([^<]+)<', browser.page):
        return unescape(problem[1])
    words = " ".join(_SEEN.sub(" ", browser.page).split())[-200:]
    return f"{GOOD} {words}" if browser.status == 200 else words if browser.status < 500 else ""


async def _shown(stage: Stage, cell: Cell) -> str | None:
    return cell.notes.get("page") or None


# --- Calendars and address books


def _dav(kind: str) -> Act:
    async def prepare(stage: Stage, cell: Cell) -> None:
        stored: JsonObject = {"user": "ann", "password": "pass", "from": "ann@example.org"}
        await stage.store.save(cell.tenant, "caldav", stored | {kind: f"{cell.plan.base}/dav/"})

    return prepare


async def _events(stage: Stage, cell: Cell) -> None:
    await stage.asks(cell, "list_events", {})


async def _contacts(stage: Stage, cell: Cell) -> None:
    await stage.asks(cell, "find_contacts", {"name": "Sam"})


# --- OAuth


def _service(cell: Cell) -> str:
    return "o" + cell.name.replace("-", "")


def _issuers(stage: Stage, cells: Sequence[Cell]) -> dict[str, str]:
    settings = {"OAUTHLIB_INSECURE_TRANSPORT": "1"}  # the test's servers speak plain HTTP
    for cell in cells:
        given = {
            "ISSUER": cell.plan.base,
            "CLIENT_ID": "valet",
            "IMAP": f"imap://{cell.plan.elsewhere}:{cell.plan.port}",
        }
        settings |= {f"ONEVALET_OIDC_{_service(cell).upper()}_{name}": value for name, value in given.items()}
    return settings


async def _granted(stage: Stage, cell: Cell) -> None:
    over = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    granted: JsonObject = {"access_token": "over", "refresh_token": "first", "expires_at": over, "scopes": []}
    await stage.store.save(cell.tenant, _service(cell), granted | {"address": "ann@example.org"})


# --- MCP


def _mcp_name(cell: Cell) -> str:
    return "m" + cell.name.replace("-", "")


def _mcp_file(stage: Stage, cells: Sequence[Cell]) -> dict[str, str]:
    path, lines = stage.harness.folder / f"mcp-{cells[0].name}.toml", list[str]()
    for cell in cells:
        if cell.plan.speech == "mcp":
            where = f'url = "{cell.plan.base}/mcp"'
        else:
            command = [sys.executable, "-m", "tests.faults.peers.serving", "pipes"]
            where = f'command = {json.dumps([*command, str(cell.plan.write(stage.harness.folder))])}\nfolder = "{ROOT}"'
        lines.append(f'[servers.{_mcp_name(cell)}]\n{where}\ntimeout = {MCP_SECONDS}\nread_only = ["*"]\n')
    path.write_text("\n".join(lines))
    return {"ONEVALET_MCP": str(path)}


async def accept(stage: Stage, cells: Sequence[Cell]) -> None:
    """Let the operator have accepted the tool of each MCP server."""
    schema = TOOL["inputSchema"]
    assert isinstance(schema, dict)
    tool = Definition(str(TOOL["name"]), str(TOOL["description"]), schema, reads=True)
    for cell in cells:
        accepted = Accepted(_mcp_name(cell), tool.name, tool.hash, tool.to_json())
        await AcceptedDefinitions(stage.database, "mcp").accept(accepted)


async def _light(stage: Stage, cell: Cell) -> None:
    await stage.asks(cell, f"{_mcp_name(cell)}__light", {})


async def _ended(stage: Stage, cell: Cell) -> None:
    """End the process that is kept between two calls: the next peer is judged for itself."""
    path = f"peer-{cell.name}.json"
    for worker in stage.harness.workers:
        for pid in worker.processes:
            for child in psutil.Process(pid).children(recursive=True):
                with suppress(psutil.Error):
                    if any(word.endswith(path) for word in child.cmdline()):
                        child.kill()


# --- The rest


async def _page(stage: Stage, cell: Cell) -> None:
    await stage.asks(cell, "read_page", {"url": f"{cell.plan.base}/"})


def _ntfy(stage: Stage, cells: Sequence[Cell]) -> dict[str, str]:
    return {"NTFY_URL": cells[0].plan.base, "NTFY_TOKEN": "zqcanary-ntfy"}


async def _pushes(stage: Stage, cell: Cell) -> None:
    await AddressBook(stage.database, make_id).add(cell.tenant, "push", f"topic-{cell.name}")
    await execute(stage.harness, _PREFERS_PUSH, cell.tenant)


async def _reminded(stage: Stage, cell: Cell) -> None:
    at = ScheduleTrigger(at=Clock(stage.harness.clock).now() + timedelta(seconds=0.5))
    words: JsonObject = {"text": "call mum"}
    await stage.engine.create_task(tenant_id=cell.tenant, trigger=at, action=words, executor="tell", title="call mum")


async def _gives_up(stage: Stage, cell: Cell) -> None:
    """Give up what ntfy did not take: it would be tried again for a day, and the installation is never quiet."""
    await execute(stage.harness, _GIVEN_UP)


async def _pushed(stage: Stage, cell: Cell) -> str | None:
    rows = await read_rows(stage.harness, _PUSHED, cell.tenant)
    if not rows:
        return None
    state, attempts = rows[0]["state"], rows[0]["attempts"]
    # What waits for another try stands in the outbox with its reason, where `doctor` and the console find it.
    is_noted = state != "sending" and (attempts or state != "ready")
    return (
        f"{GOOD}: sent" if state == "sent" else f"the notification is {state}, tried {attempts}" if is_noted else None
    )


def _transcriber(stage: Stage, cells: Sequence[Cell]) -> dict[str, str]:
    return {
        "ONEVALET_TRANSCRIPTION_URL": cells[0].plan.base.replace("://", "://:sk-zqcanary-ear@"),
        "ONEVALET_TRANSCRIPTION_MODEL": "openai/whisper-1",
    }


def _speaker(stage: Stage, cells: Sequence[Cell]) -> dict[str, str]:
    return {
        "ONEVALET_SPEECH_MODEL": "hosted_vllm/peer",
        "HOSTED_VLLM_API_BASE": f"{cells[0].plan.base}/v1",
        "HOSTED_VLLM_API_KEY": "sk-zqcanary-mouth",
    }


async def _listens(stage: Stage, cell: Cell) -> None:
    await stage.asks(cell, "say_aloud", {})


async def _voiced(stage: Stage, cell: Cell) -> str | None:
    """Return what is noted of the voice, by which the operator is told: the person has the text."""
    rows = await read_rows(stage.harness, _VOICED, cell.tenant)
    if not rows or rows[0]["state"] == "waiting" or await _answered(stage, cell) is None:
        return None
    return f"{rows[0]['state']} {rows[0]['reason']}"


async def _speaks(stage: Stage, cell: Cell) -> None:
    await _sends(stage, cell, "audio/ogg", ogg(words=cell.name.encode()))


async def _sends(stage: Stage, cell: Cell, kind: str, data: bytes) -> None:
    """Let a cell's person send a file."""
    cell.token = stage.harness.token(cell.person.key)
    cell.since = stage.now
    media = [{"content_type": kind, "data": base64.b64encode(data).decode(), "name": f"sent.{kind.partition('/')[2]}"}]
    await stage.harness.act(cell.person.key, "twilio", "say", text=cell.token, media=media, wait=True)


def _seeing(provider: str) -> SettingsOf:
    """Return settings by which pictures alone are shown to a model of this provider."""

    def settings(stage: Stage, cells: Sequence[Cell]) -> dict[str, str]:
        variable = provider.upper()
        return {
            "ONEVALET_VISION_MODEL": f"{provider}/peer",
            f"{variable}_API_BASE": f"{cells[0].plan.base}/v1",
            f"{variable}_API_KEY": "sk-zqcanary-eye",
        }

    return settings


async def _shows(stage: Stage, cell: Cell) -> None:
    # No two are alike: what was seen once is not asked again.
    shade = zlib.crc32(f"{cell.name} {stage.now}".encode()) % 0xFFFFFF
    picture = BytesIO()
    Image.new("RGB", (64, 64), (shade >> 16, shade >> 8 & 255, shade & 255)).save(picture, "PNG")
    await _sends(stage, cell, "image/png", picture.getvalue())


CLIENTS: tuple[PeerClient, ...] = (
    PeerClient(
        "IMAP, read",
        "a person, on the page where accounts are connected",
        "a text that asks for mail",
        "imap",
        _search,
        prepare=_mailbox,
        good="0 found",
    ),
    PeerClient(
        "IMAP, watched",
        "a person, on that page",
        "a task that waits for mail",
        "imap idle",
        _watched,
        _watch_noted,
        clear=_unwatched,
    ),
    PeerClient(
        "IMAP, tried",
        "a guest, on that page",
        "the form of a password",
        "imap greeting",
        _tries("imap"),
        _shown,
        beside=_tries_beside("imap"),
    ),
    PeerClient(
        "SMTP, tried",
        "a guest, on that page",
        "the form of a password",
        "smtp greeting",
        _tries("smtp"),
        _shown,
        beside=_tries_beside("smtp"),
    ),
    PeerClient(
        "SMTP, sent",
        "a person, on that page",
        "a text that sends mail, and its consent",
        "smtp",
        _agrees,
        _sent,
        prepare=_sender,
        good="bob@example.org",
    ),
    PeerClient(
        "CalDAV",
        "a person, on that page",
        "a text that asks for their day",
        "caldav",
        _events,
        prepare=_dav("caldav"),
        good="othing",
    ),
    PeerClient(
        "CardDAV",
        "a person, on that page",
        "a text that asks for somebody",
        "carddav",
        _contacts,
        prepare=_dav("carddav"),
        good="o",
    ),
    PeerClient(
        "OAuth, described",
        "an operator, by ONEVALET_OIDC_…_ISSUER",
        "a text that needs a fresh token",
        "oauth discovery",
        _search,
        prepare=_granted,
        settings=_issuers,
        good="cannot be reached",
    ),
    PeerClient(
        "OAuth, refreshed",
        "an operator, by ONEVALET_OIDC_…_ISSUER",
        "a text that needs a fresh token",
        "oauth token",
        _search,
        prepare=_granted,
        settings=_issuers,
        good="cannot be reached",
    ),
    PeerClient(
        "MCP over HTTP",
        "an operator, in ONEVALET_MCP",
        "a text upon which its tool is called",
        "mcp",
        _light,
        settings=_mcp_file,
    ),
    PeerClient(
        "MCP over pipes",
        "an operator, in ONEVALET_MCP",
        "a text upon which its tool is called",
        "mcp pipes",
        _light,
        settings=_mcp_file,
        clear=_ended,
    ),
    PeerClient(
        "ntfy",
        "an operator, by NTFY_URL",
        "a reminder of who has its notifications there",
        "ntfy",
        _reminded,
        _pushed,
        prepare=_pushes,
        settings=_ntfy,
        clear=_gives_up,
        alone=True,
    ),
    PeerClient(
        "transcription",
        "an operator, by ONEVALET_TRANSCRIPTION_URL",
        "a voice note",
        "transcription",
        _speaks,
        settings=_transcriber,
        good="",
        alone=True,
    ),
    PeerClient(
        "speech",
        "an operator, by HOSTED_VLLM_API_BASE",
        "a text whose answer is to be heard",
        "speech",
        _listens,
        _voiced,
        settings=_speaker,
        good="spoken",
        alone=True,
    ),
    PeerClient(
        "model",
        "an operator, by HOSTED_VLLM_API_BASE",
        "a picture",
        "model",
        _shows,
        settings=_seeing("hosted_vllm"),
        good="",
        alone=True,
    ),
    PeerClient(
        "model by litellm",
        "an operator, by LM_STUDIO_API_BASE",
        "a picture",
        "model",
        _shows,
        settings=_seeing("lm_studio"),
        good="",
        alone=True,
    ),
    PeerClient("web fetch", "a person, in a text", "a text that asks for a page", "page", _page),
)
BY_NAME = {client.name: client for client in CLIENTS}
