"""A mail server of the test run's own: Dovecot for reading, aiosmtpd for sending, which delivers into it.

Every address has a mailbox as soon as it logs in or gets mail, and `PASSWORD` opens it; so does an OAuth token that the
test names in `tokens`, by XOAUTH2. Tests keep apart by their addresses: `dovecot.new()`.
"""

import asyncio
import base64
import grp
import json
import logging
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import psutil
import pytest
from aiosmtpd.smtp import MISSING, SMTP, AuthResult, Envelope, LoginPassword, Session, auth_mechanism

from core.credentials.types import Ability, Account, OpenAccount
from core.http.guarded_client import GuardedClient
from tests.agents.services import certified
from tests.eventually import eventually_blocking
from tests.needs import need
from tests.patience import PATIENCE
from tests.ports import free_port

PASSWORD = "dove-s3cret"
BINARY = "/usr/sbin/dovecot"
_ABILITIES = frozenset({Ability.MAIL_READ, Ability.MAIL_CHANGE, Ability.MAIL_SEND})
_CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <{folder}/ca.pem
ssl_key = <{folder}/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login xoauth2 oauthbearer
auth_failure_delay = 0
auth_username_chars =
auth_username_format = %Lu
mail_max_userip_connections = 100
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
mail_location = maildir:{folder}/mail/%u
first_valid_uid = 1
maildir_very_dirty_syncs = no
passdb {{
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = {folder}/oauth2.conf
}}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail/%u allow_all_users=yes
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Sent {{
    special_use = \\Sent
    auto = subscribe
  }}
  mailbox Drafts {{
    special_use = \\Drafts
    auto = subscribe
  }}
  mailbox Trash {{
    special_use = \\Trash
    auto = subscribe
  }}
  mailbox Archive {{
    special_use = \\Archive
    auto = subscribe
  }}
}}
service imap-login {{
  chroot =
  service_count = 0
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
  }}
}}
service imap {{
  service_count = 100
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service auth {{
  client_limit = 2000
}}
service stats {{
  chroot =
}}
"""
_OAUTH2 = """
introspection_mode = post
introspection_url = {url}
username_attribute = username
active_attribute = active
active_value = true
"""
_USERINFO = """
introspection_mode = auth
introspection_url = {url}
username_attribute = email
"""


@dataclass(slots=True)
class Dovecot:
    """A running Dovecot. `tokens`: OAuth tokens and the addresses that they open."""

    folder: Path
    imap: int
    imaps: int
    tokens: dict[str, str] = field(default_factory=dict)
    _count: int = 0
    _process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start the server, and return when it greets."""
        is_root = os.getuid() == 0
        user, group = _owner()
        self._process = subprocess.Popen(
            [BINARY, "-F", "-c", str(self.folder / "dovecot.conf")],
            user=user if is_root else None,
            group=group if is_root else None,
            extra_groups=[] if is_root else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _await_greeting(self, self._process)

    def stop(self) -> None:
        """End the server and the talks that are open.

        By itself it waits half a minute for whoever is in IDLE to leave (MASTER_SERVICE_DIE_TIMEOUT_MSECS).
        """
        if self._process is not None:
            talks = psutil.Process(self._process.pid).children()
            self._process.send_signal(signal.SIGTERM)
            for talk in talks:
                with suppress(psutil.NoSuchProcess):
                    talk.kill()
            self._process.communicate(timeout=PATIENCE)
            self._process = None

    def new(self, name: str = "ann") -> str:
        """Return an address that nobody has yet."""
        self._count += 1
        return f"{name}{os.getpid()}x{self._count}@example.org"

    def deliver(self, address: str, message: bytes, folder: str = "INBOX", flags: str = "") -> None:
        """Put a message into a mailbox, as a delivery agent does. `flags` are Maildir's letters, such as S."""
        box = self.folder / "mail" / address.lower()
        box = box if folder == "INBOX" else box / f".{folder}"
        for name in ("cur", "new", "tmp"):
            self._own(box / name)
        self._count += 1
        name = f"{time.time():.6f}.M{self._count}P{os.getpid()}.test"
        path = box / "tmp" / name
        path.write_bytes(message)
        self._give(path)
        path.rename(box / "cur" / f"{name}:2,{flags}" if flags else box / "new" / name)

    def mails(self, address: str, folder: str = "INBOX") -> list[bytes]:
        """Return the messages of a folder as they lie there, the oldest first."""
        box = self.folder / "mail" / address.lower()
        box = box if folder == "INBOX" else box / f".{folder}"
        found = [path for name in ("new", "cur") for path in (box / name).glob("*") if path.is_file()]
        return [path.read_bytes() for path in sorted(found, key=lambda path: path.name)]

    def account(self, address: str, *, smtp: int = 0, token: str = "", secret: str = PASSWORD) -> OpenAccount:
        """Return what opens a mailbox; with `smtp` the port of `mail_exchange`, and with `token` by OAuth."""
        if token:
            self.tokens[token] = address
        servers = {"imap": f"imap://127.0.0.1:{self.imap}"} | ({"smtp": f"smtp://127.0.0.1:{smtp}"} if smtp else {})
        account = Account("email", "primary", address, _ABILITIES, preferred=True)
        return OpenAccount(account, address, token or secret, bool(token), servers)

    def http(self, *more: str) -> GuardedClient:
        """Return a guarded client that may reach this server, and `more`."""
        hosts = [f"{host}:{port}" for host in ("127.0.0.1", "localhost") for port in (self.imap, self.imaps)]
        return GuardedClient(allowed_hosts=[*hosts, *more])

    def _own(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for one in reversed(missing):
            one.mkdir(exist_ok=True)
            self._give(one)

    def _give(self, path: Path) -> None:
        if os.getuid() == 0:
            shutil.chown(path, *_owner())


@dataclass(slots=True)
class MailExchange:
    """A server that takes mail for sending from whoever logs in, and delivers it. `fails` names what it does wrong."""

    dovecot: Dovecot
    port: int = 0
    taken: list[Envelope] = field(default_factory=list)
    fails: str = ""
    owner: Callable[[str], Awaitable[str]] | None = None
    """Tells whose a token is, where not the Dovecot's `tokens` do."""
    files_sent: bool = False
    """It stores a copy in Sent by itself, as Gmail does."""
    holds: float = 0.0
    """Seconds that it keeps its answer back after it has taken a message."""

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take a recipient from who has logged in, unless it is one who left."""
        if not session.authenticated:
            return "530 5.7.0 Authentication required"
        if address.startswith("gone"):
            return "550 5.1.1 no such user: internal detail"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Take a message, and deliver it to each of its recipients here."""
        assert isinstance(envelope.content, bytes)
        if self.fails == "refuse":
            return "554 5.7.1 spam"
        self.taken.append(envelope)
        for address in envelope.rcpt_tos:
            if address.endswith("@example.org"):
                self.dovecot.deliver(address, envelope.content)
        if self.files_sent and envelope.mail_from:
            self.dovecot.deliver(envelope.mail_from, envelope.content, "Sent", "S")
        await asyncio.sleep(self.holds)
        if self.fails == "vanish":
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
        return "250 OK"

    @auth_mechanism("XOAUTH2")
    async def auth_XOAUTH2(self, server: SMTP, args: list[str]) -> AuthResult:
        """Let a token in that opens a mailbox."""
        said = base64.b64decode(args[1]).decode()
        user, token = (part.partition("=")[2] for part in said.split("\x01")[:2])
        bearer = token.removeprefix("Bearer ")
        opens = (await self.owner(bearer) if self.owner else self.dovecot.tokens.get(bearer)) == user
        return AuthResult(success=opens, handled=False, auth_data=MISSING if not opens else user)


class _Smtp(SMTP):
    """A server that takes tokens as long as providers' are (RFC 4954 4)."""

    line_length_limit = 12_288

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.command_size_limits = defaultdict(lambda: self.line_length_limit)


@asynccontextmanager
async def mail_exchange(dovecot: Dovecot) -> AsyncIterator[MailExchange]:
    """Run a server on 127.0.0.1 that takes mail without TLS from those who log in."""
    exchange = MailExchange(dovecot)
    logging.getLogger("mail.log").setLevel(logging.ERROR)  # it tells who writes to whom

    def check(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: LoginPassword) -> AuthResult:
        good = data.password == PASSWORD.encode()
        return AuthResult(success=good, handled=False, auth_data=data if good else None)

    def protocol() -> SMTP:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it takes passwords in the clear, on this machine
            return _Smtp(exchange, hostname="mx", authenticator=check, auth_required=True, auth_require_tls=False)

    listening = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    exchange.port = listening.sockets[0].getsockname()[1]
    try:
        yield exchange
    finally:
        listening.close()


@pytest.fixture(scope="session")
def dovecot() -> Iterator[Dovecot]:
    """Run one Dovecot for all tests of a worker."""
    need("dovecot")
    with running_dovecot() as server:
        yield server


_ROOM = 1 << 30


@contextmanager
def running_dovecot(userinfo_url: str = "") -> Iterator[Dovecot]:
    """Run a Dovecot as an ordinary user.

    Tokens are looked up at an introspection endpoint of its own (RFC 7662), or at an OpenID server's userinfo endpoint.
    """
    # Its own folder: sockets have short names, and its processes, which are another user's, must reach it.
    folder = Path(tempfile.mkdtemp(prefix="dove-", dir=_in_memory()))
    folder.chmod(0o755)
    imap, imaps = free_port(), free_port()
    server = Dovecot(folder, imap, imaps)
    user, group = _owner()
    for name in ("run", "state", "mail"):
        (folder / name).mkdir()
    server._give(folder / "mail")
    certified(folder)
    with _introspection(server) as url:
        values = {"folder": folder, "imap": server.imap, "imaps": server.imaps, "user": user, "group": group}
        oauth2 = _USERINFO.format(url=userinfo_url) if userinfo_url else _OAUTH2.format(url=url)
        (folder / "oauth2.conf").write_text(oauth2)
        (folder / "dovecot.conf").write_text(_CONFIG.format(password=PASSWORD, **values))
        for path in (folder, *folder.rglob("*")):
            server._give(path)
        try:
            server.start()
            yield server
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)


def _in_memory() -> str | None:
    """Return a folder in memory if there is room: to delete thousands of small files of a disk takes seconds."""
    shared = Path("/dev/shm")  # noqa: S108 - mkdtemp makes the folder
    return str(shared) if shared.is_dir() and shutil.disk_usage(shared).free > _ROOM else None


def _await_greeting(server: Dovecot, process: "subprocess.Popen[bytes]") -> None:
    def greets() -> bool:
        if process.poll() is not None:
            raise RuntimeError(process.stderr.read().decode() if process.stderr else "Dovecot ended")
        with suppress(OSError), socket.create_connection(("127.0.0.1", server.imap), PATIENCE) as talk:
            if talk.recv(100).startswith(b"* OK"):
                return True
        log = server.folder / "log"
        raise AssertionError(log.read_text() if log.exists() else "no log")

    try:
        eventually_blocking(greets, "Dovecot's greeting")
    except AssertionError:
        process.kill()
        raise


def _owner() -> tuple[str, str]:
    """Return the user and group whose processes read the mail: not root, whom Dovecot refuses."""
    if os.getuid() == 0:
        return "nobody", "nogroup"
    me = pwd.getpwuid(os.getuid())
    return me.pw_name, grp.getgrgid(me.pw_gid).gr_name


@contextmanager
def _introspection(server: Dovecot) -> Iterator[str]:
    """Answer which address a token opens, as an authorization server does (RFC 7662)."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            address = server.tokens.get(asked.get("token", [""])[0])
            told = {"active": True, "username": address} if address else {"active": False}
            body = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    answering = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=answering.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{answering.server_port}/introspect"
    finally:
        answering.shutdown()
        answering.server_close()
        thread.join()
