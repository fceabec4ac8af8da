"""Radicale, a CalDAV and CardDAV server, as a process of its own on loopback, with users."""

import base64
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from core.credentials.types import Ability, Account, OpenAccount
from tests.eventually import eventually_blocking
from tests.forker import plain_environment
from tests.ports import free_port
from workbench.scenarios.calendar_server import CALENDAR, CONFIG

USERS = {"ann": "s3cret", "bob": "b0b-secret"}
ABILITIES = frozenset({Ability.CALENDAR_READ, Ability.CALENDAR_CHANGE, Ability.CONTACTS_READ, Ability.CONTACTS_CHANGE})
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Radicale:
    """A server that runs. Each user has a folder of their own under its name, and nobody else's."""

    url: str
    folder: Path

    @property
    def host(self) -> str:
        """Return host and port, as the guarded client's `allowed_hosts` take them."""
        return urlsplit(self.url).netloc

    def account(self, user: str = "ann", name: str = "primary", *, preferred: bool = True) -> OpenAccount:
        """Return a user's account, opened."""
        account = Account("caldav", name, f"{user}@example.org", ABILITIES, preferred)
        return OpenAccount(account, user, USERS[user], servers={"caldav": self.url, "carddav": self.url})

    def make_calendar(self, user: str, name: str) -> str:
        """Make a calendar that was there before; return its address."""
        return self._make(user, name, "MKCALENDAR", CALENDAR.format(name=name))

    def make_address_book(self, user: str, name: str) -> str:
        """Make an address book that was there before; return its address."""
        return self._make(user, name, "MKCOL", _ADDRESS_BOOK.format(name=name))

    def put(self, user: str, url: str, text: str, content_type: str = "text/calendar") -> None:
        """Write a resource as another program of the user's would."""
        self.send(user, "PUT", url, text.encode(), {"Content-Type": content_type})

    def texts(self, url: str) -> list[str]:
        """Return what a collection holds, as it lies on the disk, in the order of the names."""
        folder = self.folder / "collections" / "collection-root" / urlsplit(url).path.strip("/")
        files = (path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith("."))
        return [path.read_bytes().decode() for path in files]

    def send(
        self, user: str, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> str:
        """Send a request as a user's other program; return the body of the answer."""
        login = base64.b64encode(f"{user}:{USERS[user]}".encode()).decode()
        request = Request(url, data=body, method=method, headers={"Authorization": f"Basic {login}", **(headers or {})})  # noqa: S310
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - on loopback
            return str(answer.read().decode())

    def _make(self, user: str, name: str, method: str, body: str) -> str:
        url = f"{self.url}{user}/{name.lower().replace(' ', '-')}/"
        self.send(user, method, url, body.encode(), {"Content-Type": "application/xml"})
        return url

    def empty(self) -> None:
        """Delete everything that users have, for the next test."""
        root = self.folder / "collections" / "collection-root"
        for user in USERS:
            shutil.rmtree(root / user, ignore_errors=True)


@contextmanager
def run_radicale(folder: Path) -> Iterator[Radicale]:
    """Run a server whose data lie in a folder."""
    users = folder / "users"
    users.write_text("".join(f"{user}:{password}\n" for user, password in USERS.items()))
    config = folder / "config"
    port = free_port()
    config.write_text(CONFIG.format(port=port, users=users, data=folder / "collections"))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "radicale", "--config", str(config)],
            stdout=log,
            stderr=log,
            env=plain_environment(),
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/", folder / "log")
        yield Radicale(f"http://127.0.0.1:{port}/", folder)
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    def answers() -> bool:
        if process.poll() is not None:
            raise RuntimeError(f"Radicale ended: {log.read_text()[-2000:]}")
        try:
            urlopen(url, timeout=_SECONDS).close()  # noqa: S310 - on loopback
        except HTTPError:
            return True
        except OSError as error:
            raise AssertionError(log.read_text()[-2000:]) from error
        return True

    eventually_blocking(answers, "Radicale's answer")


_ADDRESS_BOOK = """\
<?xml version="1.0" encoding="utf-8"?>
<D:mkcol xmlns:D="DAV:" xmlns:CR="urn:ietf:params:xml:ns:carddav"><D:set><D:prop>
<D:resourcetype><D:collection/><CR:addressbook/></D:resourcetype><D:displayname>{name}</D:displayname>
</D:prop></D:set></D:mkcol>
"""
