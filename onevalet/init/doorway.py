"""Listens at the address of `web` while `init` runs and the port is free, so that requests from outside are seen.

Every request is answered with 503, so providers try again and no message is lost.
"""

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from core.json_types import read_json

MAX_BODY = 256 * 1024
_SECONDS = 5.0
"""Time limits of a request, and of a message from its writing to its arrival here."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that came in. Names of `headers` are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Doorway:
    """Receive requests at HOST and PORT. If another program listens there already, `is_open` is False."""

    def __init__(self, host: str, port: int) -> None:
        self.mark = secrets.token_urlsafe(16)
        """The answer to `mark_path`, which identifies this process."""
        self.seen: list[Seen] = []
        self._server: ThreadingHTTPServer | None = None
        handler = type("Handler", (_Handler,), {"doorway": self})
        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError:
            return
        self._server.daemon_threads = True

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @property
    def mark_path(self) -> str:
        return f"/.well-known/onevalet-init/{self.mark}"

    def came_to(self, path: str) -> list[Seen]:
        """Return the requests to a path, the newest first."""
        return [request for request in reversed(self.seen) if request.path == path]

    def wait_for(self, path: str, is_good: Callable[[Seen], bool]) -> bool:
        """Return whether such a request came to a path, or comes within a few seconds."""
        deadline = time.monotonic() + _SECONDS
        while self.is_open:
            if any(map(is_good, self.came_to(path))):
                return True
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        return False

    def __enter__(self) -> Self:
        if self._server is not None:
            threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    doorway: Doorway
    timeout = _SECONDS

    def do_GET(self) -> None:
        is_mark = self.path == self.doorway.mark_path
        self._answer(200 if is_mark else 503, self.doorway.mark if is_mark else "OneValet is being set up.")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self._answer(413, "")
            return
        body = self.rfile.read(int(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.doorway.seen.append(Seen(self.path, headers, body))
        challenge = _challenge(body)
        self._answer(200 if challenge else 503, challenge or "OneValet is being set up: come again.")

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the terminal is for questions."""

    def _answer(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _challenge(body: bytes) -> str:
    """Return Slack's expected reply when it verifies a request URL (docs.slack.dev, events/url_verification)."""
    try:
        told = read_json(body)
    except ValueError:
        return ""
    match told:
        case {"type": "url_verification", "challenge": challenge}:
            return str(challenge)[:200]
    return ""
