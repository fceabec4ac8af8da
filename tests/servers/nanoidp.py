"""An OpenID server of the test run's own: nanoidp with its `oauth21` profile, which insists on PKCE and rotates tokens.

A person logs in by `log_in`, as a browser would: the page that asks them, then back to the redirect URI.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

import aiohttp
import pytest

from tests.eventually import eventually_blocking
from tests.patience import PATIENCE
from tests.ports import free_port

CLIENT, SECRET = "valet", "idp-s3cret-of-tests"
PASSWORD = "idp-p4ssword"
SCOPES = ("openid", "profile", "email", "offline_access", "mail", "calendar.readonly", "calendar", "contacts")
_ADDRESSES = {"ann": "ann@idp.example", "bob": "bob@idp.example"}


@dataclass(frozen=True, slots=True)
class Nanoidp:
    """The running server. `log`: what it says of each request."""

    url: str
    log: Path

    def refreshes(self) -> tuple[int, int]:
        """Return how often a token was refreshed, and how often a request for tokens was refused."""
        said = self.log.read_text()
        return said.count("via refresh_token grant"), said.count("POST /token - failed")

    @property
    def host(self) -> str:
        """Return what an operator names in ONEVALET_FETCH_HOSTS."""
        return self.url.removeprefix("http://")

    async def log_in(self, page: str, user: str = "ann") -> str:
        """Agree on the server's page as a person; return where the browser is led then."""
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
            async with browser.get(page) as shown:
                text, at = await shown.text(), str(shown.url)
            form = re.search(r"<form[^>]*>(.*?)</form>", text, re.DOTALL)
            assert form is not None, text[:500]
            action = re.search(r'action="([^"]*)"', form[0])
            fields = dict(re.findall(r'<input[^>]*type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"', form[1]))
            values = {name: unescape(value) for name, value in fields.items()}
            values |= {"username": user, "password": PASSWORD}
            target = urljoin(at, unescape(action[1])) if action and action[1] else at
            async with browser.post(target, data=values, allow_redirects=False) as sent:
                assert sent.status in (302, 303), (sent.status, (await sent.text())[:500])
                return sent.headers["Location"]


@contextmanager
def running_nanoidp(redirect: str) -> Iterator[Nanoidp]:
    """Run the server inside the block. `redirect`: the one address to which it leads back, on any port."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        _configure(Path(folder), url, port, redirect)
        log = (Path(folder) / "log").open("wb")
        process = subprocess.Popen(
            [
                str(Path(sys.executable).parent / "nanoidp"),
                "--config",
                folder,
                "--profile",
                "oauth21",
                "--port",
                str(port),
            ],
            stdout=log,
            stderr=log,
            cwd=folder,  # it keeps its keys there
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        try:
            _wait(process, url, Path(folder) / "log")
            yield Nanoidp(url, Path(folder) / "log")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
            log.close()


@pytest.fixture(scope="session")
def nanoidp() -> Iterator[Nanoidp]:
    """Yield a server that leads back to `/connect/callback` of any gateway on loopback."""
    with running_nanoidp("http://127.0.0.1/connect/callback") as running:
        yield running


def _configure(folder: Path, url: str, port: int, redirect: str) -> None:
    client = {"client_id": CLIENT, "client_secret": SECRET, "redirect_uris": [redirect]}
    settings = {
        "config_version": 1,
        "server": {"host": "127.0.0.1", "port": port},
        "oauth": {
            "issuer": url,
            "audience": CLIENT,
            "token_expiry_minutes": 60,
            "clients": [client],
            "scopes_supported": SCOPES,
        },
    }
    users = {
        name: {"password": PASSWORD, "email": address, "roles": ["USER"], "tenant": "default"}
        for name, address in _ADDRESSES.items()
    }
    (folder / "settings.yaml").write_text(json.dumps(settings))
    (folder / "users.yaml").write_text(json.dumps({"config_version": 1, "users": users}))


def _wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    def answers() -> bool:
        if process.poll() is not None:
            raise RuntimeError(log.read_text()[-2000:])
        try:
            urlopen(f"{url}/.well-known/openid-configuration", timeout=PATIENCE).close()  # noqa: S310
        except OSError as error:
            raise AssertionError(log.read_text()[-2000:]) from error
        return True

    eventually_blocking(answers, "nanoidp's answer")
