"""Talks to OAuth servers: OAuth 2.1 by authorization code with PKCE, past the guard. `oauthlib` builds and parses."""

import base64
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import structlog

from core.accounts.types import Endpoints, OAuthClient
from core.clock import Clock
from core.errors import OneValetError, ToolFailed
from core.http.types import HttpClient, HttpResponse
from core.json_types import JsonObject
from core.language.catalogue import gettext

if TYPE_CHECKING:
    from oauthlib.oauth2 import WebApplicationClient

KNOWN_SECONDS = 3600.0
"""How long a server's own description is believed."""
USUAL_LIFE = timedelta(hours=1)
"""Of an access token whose server does not say."""
_FORM = "application/x-www-form-urlencoded"
_log = structlog.get_logger()


class GrantRevoked(OneValetError):
    """The server no longer accepts what the person granted: they have to connect the account again."""


class OAuthRefused(ToolFailed):
    """A server's answer cannot be used; the message is for the person. `error` is the server's own word for it."""

    def __init__(self, message: str, error: str = "") -> None:
        super().__init__(message)
        self.error = error


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a server granted. `refresh` is empty where it gave none; `scopes` are those that it granted."""

    access: str = field(repr=False)
    expires_at: datetime
    refresh: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    id_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Proof:
    """What ties a server's answer to the question: the PKCE verifier and the nonce."""

    verifier: str = field(repr=False)
    nonce: str = field(repr=False)


class OAuthServers:
    """All OAuth servers, by ourselves as their client."""

    def __init__(self, http: HttpClient, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._known: dict[str, tuple[float, Endpoints]] = {}

    async def endpoints(self, client: OAuthClient) -> Endpoints:
        """Return where a server answers. Raises `OAuthRefused`."""
        if client.endpoints is not None:
            return client.endpoints
        until, known = self._known.get(client.issuer, (0.0, None))
        if known is None or until < time.monotonic():
            known = read_description(client.issuer, await self.description(client))
            self._known[client.issuer] = (time.monotonic() + KNOWN_SECONDS, known)
        return known

    async def description(self, client: OAuthClient) -> JsonObject:
        """Return what a server tells of itself (OpenID Connect Discovery 1.0). Raises `OAuthRefused`."""
        return await self._json(f"{client.issuer.rstrip('/')}/.well-known/openid-configuration")

    async def page(
        self, client: OAuthClient, redirect: str, scopes: Sequence[str], state_token: str, proof: Proof
    ) -> str:
        """Return the address of the server's page that asks the person."""
        from oauthlib.oauth2 import OAuth2Error

        endpoints = await self.endpoints(client)
        ours = _client(client)
        challenge = ours.create_code_challenge(proof.verifier, "S256")
        try:
            url = ours.prepare_request_uri(
                endpoints.authorization,
                redirect_uri=redirect,
                scope=[*client.always, *scopes],
                state=state_token,
                code_challenge=challenge,
                code_challenge_method="S256",
                nonce=proof.nonce,
                **client.extra,
            )
        except OAuth2Error as error:  # such as a server without TLS
            _log.error("oauth_server_is_not_usable", issuer=client.issuer, cause=type(error).__name__)
            raise OAuthRefused(gettext("This service cannot be connected at the moment.")) from error
        return str(url)

    async def exchange(self, client: OAuthClient, redirect: str, code: str, proof: Proof) -> Tokens:
        """Return the tokens for a code. Raises `OAuthRefused` and `GrantRevoked`."""
        body = _client(client).prepare_request_body(
            code=code, redirect_uri=redirect, code_verifier=proof.verifier, include_client_id=not client.secret
        )
        return await self._tokens(client, body)

    async def refresh(self, client: OAuthClient, refresh_token: str) -> Tokens:
        """Return new tokens. Raises `GrantRevoked`, and `ToolFailed` for what may pass."""
        extra = {} if client.secret else {"client_id": client.client_id}
        return await self._tokens(client, _client(client).prepare_refresh_body(refresh_token=refresh_token, **extra))

    async def revoke(self, client: OAuthClient, token: str) -> bool:
        """End a grant at its server; False where it has no way for that, or does not answer."""
        try:
            endpoints = await self.endpoints(client)
            if not endpoints.revocation or not token:
                return False
            url, _, body = _client(client).prepare_token_revocation_request(endpoints.revocation, token, None)
            response = await self._post(client, url, body)
        except ToolFailed:
            return False
        if response.status != 200:
            _log.warning("revocation_refused", issuer=client.issuer, status=response.status)
        return response.status == 200

    async def keys(self, client: OAuthClient) -> JsonObject:
        """Return the keys with which a server signs id tokens."""
        return await self._json((await self.endpoints(client)).jwks)

    async def told_of(self, client: OAuthClient, access: str) -> JsonObject:
        """Return what a server tells of the person who granted (OpenID Connect Core 5.3); nothing where it does not."""
        endpoints = await self.endpoints(client)
        if not endpoints.userinfo:
            return {}
        headers = {"Authorization": f"Bearer {access}", "Accept": "application/json"}
        response = await self._http.request("GET", endpoints.userinfo, headers=headers)
        return (_object(response) or {}) if response.status == 200 else {}

    async def _tokens(self, client: OAuthClient, body: str) -> Tokens:
        from oauthlib.oauth2 import OAuth2Error

        endpoints = await self.endpoints(client)
        response = await self._post(client, endpoints.token, body)
        answer = _object(response)
        error = str(answer.get("error") or "") if answer is not None else ""
        if error == "invalid_grant":
            raise GrantRevoked("invalid_grant")
        if response.status != 200 or answer is None:
            _log.warning("token_refused", issuer=client.issuer, status=response.status, error=error[:40])
            refused = gettext("The service did not let us in. Please try again in a while.")
            raise OAuthRefused(refused, error[:40])
        try:
            read = _client(client).parse_request_body_response(response.body.decode())
        except OAuth2Error as error_of_ours:
            raise OAuthRefused(gettext("The service's answer cannot be read.")) from error_of_ours
        return _tokens_of(read, self._clock.now())

    async def _post(self, client: OAuthClient, url: str, body: str) -> HttpResponse:
        headers = {"Content-Type": _FORM, "Accept": "application/json"}
        if client.secret:
            pair = f"{quote(client.client_id, safe='')}:{quote(client.secret, safe='')}"  # RFC 6749 2.3.1
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return await self._http.request("POST", url, headers=headers, body=body.encode())

    async def _json(self, url: str) -> JsonObject:
        response = await self._http.request("GET", url, headers={"Accept": "application/json"})
        read = _object(response)
        if response.status != 200 or read is None:
            raise OAuthRefused(gettext("The service's answer cannot be read."))
        return read


def read_description(issuer: str, told: Mapping[str, object]) -> Endpoints:
    """Return the endpoints that a server tells of itself (OpenID Connect Discovery 1.0). Raises `OAuthRefused`.

    Its issuer must be the one that was asked, and no address weaker protected than it.
    """
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "revocation_endpoint", "userinfo_endpoint")
    urls = {name: str(told.get(name) or "") for name in names}
    safe = all(
        urlsplit(url).scheme == "https" or (url.startswith("http://") and issuer.startswith("http://"))
        for url in urls.values()
        if url
    )
    if told.get("issuer") != issuer or not safe or not all(urls[name] for name in names[:3]):
        _log.error("issuer_is_not_what_it_says", issuer=issuer)
        raise OAuthRefused(gettext("The service's answer cannot be read."))
    names_issuer = told.get("authorization_response_iss_parameter_supported") is True
    authorization, token, jwks, revocation, userinfo = urls.values()
    return Endpoints(issuer, authorization, token, jwks, revocation, userinfo, names_issuer)


def _client(client: OAuthClient) -> "WebApplicationClient":
    from oauthlib.oauth2 import WebApplicationClient

    return WebApplicationClient(client.client_id)


def _tokens_of(read: Mapping[str, object], now: datetime) -> Tokens:
    seconds = read.get("expires_in")
    life = timedelta(seconds=float(seconds)) if isinstance(seconds, int | float | str) and seconds else USUAL_LIFE
    return Tokens(
        str(read.get("access_token") or ""),
        now + life,
        str(read.get("refresh_token") or ""),
        tuple(str(read.get("scope") or "").split())
        if isinstance(read.get("scope"), str)
        else _words(read.get("scope")),
        str(read.get("id_token") or ""),
    )


def _words(scope: object) -> tuple[str, ...]:
    return tuple(str(word) for word in scope) if isinstance(scope, list) else ()


def _object(response: HttpResponse) -> JsonObject | None:
    try:
        read = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
