"""An OAuth server of the test run's own that changes a refresh token each time it is used.

A strict one takes a token that comes a second time for stolen, and ends the whole grant (RFC 9700 4.14.2). The other
accepts the one of before again, as Google and Microsoft do.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from core.json_types import JsonObject

STRICT, LENIENT = "strict", "lenient"


@dataclass(slots=True)
class RotatingServer:
    """The running server. `issued` are access tokens and whose they are; `holds` are seconds that an answer is kept."""

    url: str
    issued: dict[str, str]
    holds: float = 0.0
    refreshed: Counter[str] = field(default_factory=Counter)
    ended: set[str] = field(default_factory=set)
    _last: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def issuer(self, name: str) -> str:
        """Return the issuer that is strict, or the lenient one."""
        return f"{self.url}/{name}"

    def grant(self, person: str) -> str:
        """Return a first refresh token, as if a person had just agreed."""
        with self._lock:
            self.ended.discard(person)
            self._last[person] += 10
            return f"{person} {self._last[person]}"

    def refresh(self, issuer: str, token: str) -> JsonObject | None:
        """Return new tokens; None for one that is not accepted."""
        person, _, number = token.rpartition(" ")
        with self._lock:
            now = self._last[person]
            if person in self.ended or not number.isdecimal() or int(number) > now:
                return None
            if int(number) < (now if issuer == STRICT else now - 1):
                self.ended.add(person)
                return None
            self._last[person] += 1
            self.refreshed[person] += 1
            self.issued[f"access {person} {now + 1}"] = person
            fresh: JsonObject = {
                "access_token": f"access {person} {now + 1}",
                "refresh_token": f"{person} {now + 1}",
                "expires_in": 3600,
                "token_type": "Bearer",
            }
            return fresh


@contextmanager
def running_rotating(issued: dict[str, str]) -> Iterator[RotatingServer]:
    """Run the server inside the block; what it issues is entered in `issued`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer = f"{server.url}/{self.path.split('/')[1]}"
            names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
            told: JsonObject = {name: f"{issuer}/{name}" for name in names}
            self._answer(200, {"issuer": issuer, **told})

        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            fresh = server.refresh(self.path.split("/")[1], asked["refresh_token"][0])
            time.sleep(server.holds)
            self._answer(200 if fresh else 400, fresh or {"error": "invalid_grant"})

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

        def _answer(self, status: int, told: JsonObject) -> None:
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            with suppress(OSError):  # who asked may have died meanwhile
                self.end_headers()
                self.wfile.write(body)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server = RotatingServer(f"http://127.0.0.1:{listening.server_port}", issued)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
