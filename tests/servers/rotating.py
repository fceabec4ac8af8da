"""An OAuth server of the test run's own that changes a refresh token each time it is used.

People agree by `agree`, without a page. A strict server takes a token that comes a second time for stolen, and ends the
whole grant (RFC 9700 4.14.2). The other accepts the one of before again, as Google and Microsoft do.
"""

import base64
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

from core.json_types import Json, JsonObject

STRICT, LENIENT = "strict", "lenient"


@dataclass(frozen=True, slots=True)
class Agreed:
    """What a person has agreed to, until its code is exchanged."""

    person: str
    issuer: str
    nonce: str
    client: str
    challenge: str


@dataclass(slots=True)
class RotatingServer:
    """The running server. `issued` are access tokens and whose they are; `holds` are seconds that an answer is kept."""

    url: str
    issued: dict[str, str]
    holds: float = 0.0
    ended: set[str] = field(default_factory=set)
    key: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256"), repr=False)
    _codes: dict[str, Agreed] = field(default_factory=dict)
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
            return self._fresh(person)

    def agree(self, page: str, person: str) -> str:
        """Agree on the page to which a browser was led; return where it is led back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
        issuer = page.partition("/authorization_endpoint")[0]
        code = hashlib.sha256(asked["state"].encode()).hexdigest()
        self._codes[code] = Agreed(person, issuer, asked["nonce"], asked["client_id"], asked["code_challenge"])
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': issuer})}"

    def exchange(self, code: str, verifier: str) -> JsonObject | None:
        """Return tokens for a code, once; None for one that is not accepted."""
        agreed = self._codes.pop(code, None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        if agreed is None or agreed.challenge != challenge:
            return None
        claims: dict[str, object] = {"iss": agreed.issuer, "aud": agreed.client, "sub": agreed.person}
        claims |= {"email": agreed.person, "nonce": agreed.nonce, "exp": int(time.time()) + 600}
        with self._lock:
            fresh = self._fresh(agreed.person)
        return fresh | {"id_token": jwt.encode({"alg": "ES256"}, claims, self.key)}

    def _fresh(self, person: str) -> JsonObject:
        self._last[person] += 1
        number = self._last[person]
        access = f"access {person} {number}"
        self.issued[access] = person
        refresh = f"{person} {number}"
        return {"access_token": access, "refresh_token": refresh, "expires_in": 3600, "token_type": "Bearer"}


@contextmanager
def running_rotating(issued: dict[str, str]) -> Iterator[RotatingServer]:
    """Run the server inside the block; what it issues is entered in `issued`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith("/jwks_uri"):
                keys = [server.key.as_dict(private=False)]
                self._answer(200, {"keys": cast(Json, keys)})
                return
            issuer = f"{server.url}/{self.path.split('/')[1]}"
            names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
            told: JsonObject = {name: f"{issuer}/{name}" for name in names}
            self._answer(200, {"issuer": issuer, **told})

        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            if "code" in asked:
                fresh = server.exchange(asked["code"][0], asked["code_verifier"][0])
            else:
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
