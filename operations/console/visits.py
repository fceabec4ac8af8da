"""Visitors of the console: the session's cookie, and the proof that a form comes from our own page."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from aiohttp import web

from channels.http.hosts import is_local_request
from channels.http.middleware import read_form
from core.clock import Clock
from core.db.database import Database
from core.errors import RequestRefused
from operations.console.access import Scope, Viewer
from operations.console.proof import cookie_name
from operations.console.sign_in import LASTS, PATH, ConsoleSignIn

_LOCAL = "local"


class SignInNeeded(Exception):
    """The browser has no session that holds."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of a viewer. `proof` is the token that their forms send back; `counts` has each page's open entries.

    `live`: only the version of an open page is wanted, of which nothing is shown.
    """

    scope: Scope
    session: str = field(repr=False)
    proof: str = field(repr=False)
    counts: Mapping[str, str] = field(default_factory=dict)
    live: bool = False

    @property
    def viewer(self) -> Viewer:
        return self.scope.viewer

    @property
    def is_local(self) -> bool:
        """Return whether the visit needs no session, because `dev` runs on this machine."""
        return self.session == _LOCAL


class ConsoleVisits:
    """Find the viewer of a request.

    `local`: a browser on this machine needs no session and sees the owner's view, which only `dev` allows.
    """

    def __init__(self, sign_in: ConsoleSignIn, database: Database, clock: Clock, *, local: bool = False) -> None:
        self.sign_in = sign_in
        self.clock = clock
        self._database = database
        self._local = local
        origin = urlsplit(sign_in.public_url)
        self._origin = f"{origin.scheme}://{origin.netloc}" if origin.netloc else ""
        self._secure = origin.scheme == "https"
        self._cookie = cookie_name(sign_in.public_url)
        self._local_secret = secrets.token_hex(32)

    async def visit(self, request: web.Request) -> Visit:
        """Return the visit; raises `SignInNeeded`, and `RequestRefused` for a form that is not ours."""
        session = request.cookies.get(self._cookie, "")
        viewer = await self.sign_in.viewer(session, self.clock.now()) if session else None
        if viewer is None and self._local and is_local_request(request):
            session, viewer = _LOCAL, await self._owner()
        if viewer is None:
            raise SignInNeeded
        visit = Visit(Scope(viewer, self._database), session, self._proof(session))
        if request.method not in ("GET", "HEAD"):
            await self._check_form(request, visit)
        return visit

    def check_origin(self, request: web.Request) -> None:
        """Raise `RequestRefused` for a form that another site sends."""
        here = f"{request.scheme}://{request.host}"
        if request.headers.get("Origin", here) not in {here, self._origin}:
            raise RequestRefused("form of another page", status=403)
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise RequestRefused("form of another page", status=403)

    def keep(self, response: web.StreamResponse, session: str) -> None:
        """Set the session's cookie in the browser."""
        seconds = int(LASTS.total_seconds())
        response.set_cookie(
            self._cookie, session, max_age=seconds, path="/", secure=self._secure, httponly=True, samesite="Lax"
        )

    def drop(self, response: web.StreamResponse) -> None:
        response.del_cookie(self._cookie, path="/", secure=self._secure, httponly=True, samesite="Lax")

    async def _check_form(self, request: web.Request, visit: Visit) -> None:
        self.check_origin(request)
        given = (await read_form(request)).get("proof", "")
        if not hmac.compare_digest(given.encode(), visit.proof.encode()):
            raise RequestRefused("form without its proof", status=403)

    async def _owner(self) -> Viewer | None:
        row = await self._database.call("select tenant_id from console_owner()")
        if row is None:
            return None
        person = await self._database.tenant_row(
            row["tenant_id"], "select name, timezone from tenants where tenant_id = $1"
        )
        return Viewer(row["tenant_id"], True, person["name"], person["timezone"] or None) if person else None

    def _proof(self, session: str) -> str:
        key = self._local_secret if session == _LOCAL else session
        return hmac.new(key.encode(), b"onevalet console form", hashlib.sha256).hexdigest()


__all__ = ["PATH", "ConsoleVisits", "SignInNeeded", "Visit"]
