"""The pages on which people connect accounts: `/connect/TOKEN`, and `/connect/callback`, to which services lead back.

Opening a link uses nothing up, as chats open links to preview them; its button does, for the browser that pressed it.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import structlog
from aiohttp import web

from abilities.accounts.connect import pages
from abilities.accounts.connect.forms import FormProblem, abilities_in, dav_in, mailbox_in, typed_again
from abilities.accounts.connecting import OVER, WORD, AuthorizationResponse, Connecting, ConnectRefused, LinkOver
from abilities.accounts.links import CALLBACK, PATH, ConnectLink
from abilities.accounts.passwords import open_password
from abilities.accounts.trials import Trials
from abilities.accounts.types import Service
from channels.http.connections import proven
from channels.http.middleware import FORM_TYPE, read_form
from channels.http.pages.languages import speaking_to
from channels.http.pages.templates import page_headers
from core.credentials.types import Account, OpenAccount
from core.errors import RequestRefused, ToolFailed
from core.http.types import HttpClient
from core.ids import PARTITION
from core.json_types import JsonObject
from core.language.catalogue import gettext

_TOKEN = re.compile(rf"{PARTITION}[0-9a-f]{{32}}")
_COOKIE_SECONDS = 3600
MAX_FIELDS = 40
_FIELDS = {"login": "password", "imap": "imap_host", "smtp": "smtp_host", "url": "url"}
"""The field at which a fault of the trial is said (`abilities.accounts.trials.Fault`)."""
_log = structlog.get_logger()


class ConnectRoutes:
    """Serve the pages. `http` reaches the servers at which `trials` try passwords."""

    def __init__(self, connecting: Connecting, http: HttpClient, trials: Trials) -> None:
        self._connecting = connecting
        self._http = http
        self._trials = trials
        origin = urlsplit(connecting.links.public_url)
        self._origin = f"{origin.scheme}://{origin.netloc}"
        self._secure = origin.scheme == "https"
        self._cookie = "__Host-onevalet-connect" if self._secure else "onevalet-connect"

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            proven(web.get(CALLBACK, self._come_back), self._state_shown),
            proven(web.get(f"{PATH}/{{token}}", self._show), self._link_shown),
            proven(web.post(f"{PATH}/{{token}}", self._go), self._link_shown),
        ]

    def _link_shown(self, request: web.Request) -> str | None:
        token = request.match_info["token"]
        return f"connect {token}" if self._connecting.links.tokens.is_ours(token) else None

    def _state_shown(self, request: web.Request) -> str | None:
        state = request.query.get("state", "")
        return f"connect state {state}" if self._connecting.links.states.is_ours(state) else None

    async def _show(self, request: web.Request) -> web.StreamResponse:
        link = await self._link(request)
        if link is None:
            return await self._over(request)
        with speaking_to(request, link.language):
            browser = request.cookies.get(self._cookie, "")
            if not re.fullmatch(r"[A-Za-z0-9_-]{43}", browser):
                browser = secrets.token_urlsafe(32)
            shown = pages.Shown(link, request.match_info["token"], _proof(browser, link))
            response = await self._entry(shown, self._service(link.service))
        self._keep_browser(response, browser)
        return response

    async def _go(self, request: web.Request) -> web.StreamResponse:
        link = await self._link(request)
        if link is None:
            return await self._over(request)
        form = await _form(request)
        browser = request.cookies.get(self._cookie, "")
        if not self._is_ours(request, form, browser, link):
            raise RequestRefused("form of another page", status=403)
        with speaking_to(request, link.language):
            token = request.match_info["token"]
            service = self._service(link.service or form.get("choose") or form.get("service", ""))
            shown = pages.Shown(link, token, _proof(browser, link), pages.Typed(typed_again(form)))
            if service is None or form.get("go") != "on":
                return await self._entry(shown, service)
            try:
                return await self._connect(link, browser, service, form)
            except ConnectRefused as error:
                return _refused(error, token)
            except (FormProblem, ToolFailed) as error:
                again = replace(shown, typed=pages.Typed(shown.typed.values, str(error), _wrong(error)))
                return await self._entry(again, service, status=422)

    async def _connect(
        self, link: ConnectLink, browser: str, service: Service, form: Mapping[str, str]
    ) -> web.StreamResponse:
        if service.client is not None:
            url = await self._connecting.lead_away(link, browser, service, abilities_in(form, service))
            return web.Response(status=303, headers={**page_headers(), "Location": url})
        credentials = mailbox_in(form) if service.name == "email" else dav_in(form)
        await self._connecting.go_on(link, browser)
        tried = await self._tried(link, service, credentials)
        connected = await self._connecting.with_password(link, service, tried)
        return pages.done_page(connected)

    async def _tried(self, link: ConnectLink, service: Service, credentials: JsonObject) -> JsonObject:
        """Return credentials that their servers accepted, without the servers that have nothing."""
        opened = open_password(service, credentials)
        account = OpenAccount(
            Account(service.name, "new"), opened.login, opened.secret, servers=opened.servers, person=link.tenant_id
        )
        there = await self._trials.run(account, self._http)
        return {name: value for name, value in credentials.items() if name not in opened.servers or name in there}

    async def _come_back(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        if len(query) != len(set(query)):
            raise RequestRefused("a parameter comes twice")
        answer = AuthorizationResponse(
            query.get("state", ""), query.get("code", ""), query.get("error", ""), query.get("iss", "")
        )
        link = await self._connecting.links.read_state(answer.state_token, self._connecting.clock.now())
        known = link.language if link else await self._connecting.links.language(state_token=answer.state_token)
        with speaking_to(request, known):
            try:
                connected = await self._connecting.come_back(answer, request.cookies.get(self._cookie, ""))
                return pages.done_page(connected)
            except (ConnectRefused, ToolFailed) as error:
                return _refused(error)

    async def _over(self, request: web.Request) -> web.Response:
        """Return the page for a link that has ended or never existed."""
        token = request.match_info["token"]
        known = await self._connecting.links.language(token=token) if _TOKEN.fullmatch(token) else ""
        with speaking_to(request, known):
            return pages.over_page(gettext(OVER, word=WORD), status=404)

    async def _entry(self, shown: pages.Shown, service: Service | None, status: int = 200) -> web.Response:
        """Return the page on which a service is chosen, allowed, or given a password."""
        if service is None:
            return pages.choice_page(shown, self._choices(shown.link), status=status)
        if service.client is None:
            return pages.password_page(shown, service, status=status)
        shown = replace(shown, has=await self._connecting.allowed_before(shown.link, service))
        endpoints = await self._connecting.servers.endpoints(service.client)
        target = urlsplit(endpoints.authorization)
        return pages.consent_page(shown, service, f"{target.scheme}://{target.netloc}", status=status)

    def _choices(self, link: ConnectLink) -> Sequence[Service]:
        services = self._connecting.accounts.services
        return [service for service in services if not link.abilities or link.abilities & service.offers]

    def _service(self, name: str) -> Service | None:
        return self._connecting.accounts.services.get(name)

    async def _link(self, request: web.Request) -> ConnectLink | None:
        token = request.match_info["token"]
        if not _TOKEN.fullmatch(token):
            return None
        return await self._connecting.links.read(token, self._connecting.clock.now())

    def _is_ours(self, request: web.Request, form: Mapping[str, str], browser: str, link: ConnectLink) -> bool:
        """Return whether a form comes from our own page, shown to this very browser."""
        if request.headers.get("Origin", self._origin) != self._origin:
            return False
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            return False
        return bool(browser) and hmac.compare_digest(form.get("proof", "").encode(), _proof(browser, link).encode())

    def _keep_browser(self, response: web.StreamResponse, browser: str) -> None:
        response.set_cookie(
            self._cookie, browser, max_age=_COOKIE_SECONDS, path="/", secure=self._secure, httponly=True, samesite="Lax"
        )


def _proof(browser: str, link: ConnectLink) -> str:
    return hmac.new(browser.encode(), b"onevalet connect form " + link.token_hash, hashlib.sha256).hexdigest()


async def _form(request: web.Request) -> Mapping[str, str]:
    if request.content_type != FORM_TYPE:
        raise RequestRefused("content type is not a form's", status=415)
    posted = await read_form(request)
    if len(posted) > MAX_FIELDS:
        raise RequestRefused("too many fields")
    return dict(posted)


def _wrong(error: Exception) -> str:
    """Return the name of the wrong field; empty if no single field is wrong."""
    if isinstance(error, FormProblem):
        return error.wrong
    return _FIELDS.get(str(getattr(error, "fault", "")), "")


def _refused(error: Exception, token: str = "") -> web.Response:
    """Return the page of a refused connection, or of a link that is over."""
    if isinstance(error, LinkOver):
        return pages.over_page(str(error), status=409)
    again = "" if isinstance(error, ConnectRefused) and error.fatal else token
    return pages.problem_page(str(error), token=again)
