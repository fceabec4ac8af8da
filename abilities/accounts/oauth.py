"""Talks to OAuth servers: OAuth 2.1 by authorization code with PKCE, past the guard. `oauthlib` builds and parses."""

import base64
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

import structlog

from abilities.accounts.types import Endpoints, OAuthClient
from core.clock import Clock
from core.errors import OneValetError, ToolFailed
from core.http.address_guard import Barred, read_target
from core.http.operation import Operation
from core.http.peer import Allowance, Pauses
from core.http.types import HttpClient, HttpResponse
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext

if TYPE_CHECKING:
    from oauthlib.oauth2 import WebApplicationClient

KNOWN_SECONDS = 3600.0
"""How long a server's own description is believed."""
USUAL_LIFE = timedelta(hours=1)
"""The life of an access token whose server does not say it."""
MOST_LIFE = timedelta(days=366)
"""The longest life of any access token: a token with a longer life is refreshed then."""
SIGN_IN = Allowance(size=4 * 1024 * 1024, pieces=20, seconds=30.0)
"""A server's allowance for its answers to all requests of a sign-in, or of a refresh."""
_MOST_ANSWER = 128 * 1024
"""Bytes. Descriptions and tokens have a few thousand, and each object in them costs a call in Python."""
_MOST_SCOPES = 500
_VISIBLE = re.compile(r"[\x20-\x7e]{0,16384}")  # VSCHAR of RFC 6749, which has the space
_CODE = re.compile(r"[a-z_]{1,40}")
_FORM = "application/x-www-form-urlencoded"
_pauses = Pauses("oauth")

type SignIn = Operation
"""The requests of a sign-in, or of a refresh."""
_log = structlog.get_logger()


class GrantRevoked(OneValetError):
    """The server no longer accepts the person's grant: they have to connect the account again."""


class OAuthRefused(ToolFailed):
    """A server's answer cannot be used; the message is for the person. `error` is the server's own word for it."""

    def __init__(self, message: str, error: str = "") -> None:
        super().__init__(message)
        self.error = error


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a server. `refresh` is empty if it gave none; `scopes` are the granted scopes."""

    access: str = field(repr=False)
    expires_at: datetime
    refresh: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    id_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Proof:
    """The proof that ties a server's answer to the question: the PKCE verifier and the nonce."""

    verifier: str = field(repr=False)
    nonce: str = field(repr=False)


class OAuthServers:
    """All OAuth servers, by ourselves as their client."""

    def __init__(self, http: HttpClient, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._known: dict[str, tuple[float, Endpoints]] = {}

    def begin(self, client: OAuthClient) -> SignIn:
        """Return the allowance that the requests of a sign-in share; a method that is given none makes its own."""
        return Operation(self._http, SIGN_IN, _pauses, client.issuer)

    async def endpoints(self, client: OAuthClient, heard: SignIn | None = None) -> Endpoints:
        """Return a server's endpoints. Raises `OAuthRefused`."""
        if client.endpoints is not None:
            return client.endpoints
        until, known = self._known.get(client.issuer, (0.0, None))
        if known is None or until < time.monotonic():
            known = read_description(client.issuer, await self.description(client, heard))
            self._known[client.issuer] = (time.monotonic() + KNOWN_SECONDS, known)
        return known

    async def description(self, client: OAuthClient, heard: SignIn | None = None) -> JsonObject:
        """Return a server's description of itself (OpenID Connect Discovery 1.0). Raises `OAuthRefused`."""
        url = f"{client.issuer.rstrip('/')}/.well-known/openid-configuration"
        return await _json(heard or self.begin(client), url)

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

    async def exchange(
        self, client: OAuthClient, redirect: str, code: str, proof: Proof, heard: SignIn | None = None
    ) -> Tokens:
        """Return the tokens for a code. Raises `OAuthRefused` and `GrantRevoked`."""
        body = _client(client).prepare_request_body(
            code=code, redirect_uri=redirect, code_verifier=proof.verifier, include_client_id=not client.secret
        )
        return await self._tokens(client, body, heard or self.begin(client))

    async def refresh(self, client: OAuthClient, refresh_token: str) -> Tokens:
        """Return new tokens. Raises `GrantRevoked`, and `ToolFailed` for errors that may pass."""
        extra = {} if client.secret else {"client_id": client.client_id}
        body = _client(client).prepare_refresh_body(refresh_token=refresh_token, **extra)
        return await self._tokens(client, body, self.begin(client))

    async def revoke(self, client: OAuthClient, token: str) -> bool:
        """End a grant at its server; return False if it has no way for that, or does not answer."""
        heard = self.begin(client)
        try:
            endpoints = await self.endpoints(client, heard)
            if not endpoints.revocation or not token:
                return False
            url, _, body = _client(client).prepare_token_revocation_request(endpoints.revocation, token, None)
            response = await _post(heard, client, url, body)
        except ToolFailed:
            return False
        if response.status != 200:
            _log.warning("revocation_refused", issuer=client.issuer, status=response.status)
        return response.status == 200

    async def keys(self, client: OAuthClient, heard: SignIn) -> JsonObject:
        """Return the keys with which a server signs id tokens."""
        return await _json(heard, (await self.endpoints(client, heard)).jwks)

    async def told_of(self, client: OAuthClient, access: str, heard: SignIn) -> JsonObject:
        """Return a server's claims about the person who granted (OpenID Connect Core 5.3); empty if it has none."""
        endpoints = await self.endpoints(client, heard)
        if not endpoints.userinfo:
            return {}
        headers = {"Authorization": f"Bearer {access}", "Accept": "application/json"}
        response = await heard.request("GET", endpoints.userinfo, headers=headers, max_bytes=_MOST_ANSWER)
        return (_object(response) or {}) if response.status == 200 else {}

    async def _tokens(self, client: OAuthClient, body: str, heard: SignIn) -> Tokens:
        endpoints = await self.endpoints(client, heard)
        response = await _post(heard, client, endpoints.token, body)
        answer = _object(response)
        error = _code(answer.get("error")) if answer is not None else ""
        if error == "invalid_grant":
            raise GrantRevoked("invalid_grant")
        if response.status != 200 or answer is None:
            _log.warning("token_refused", issuer=client.issuer, status=response.status, error=error)
            refused = gettext("The service did not let us in. Please try again in a while.")
            raise OAuthRefused(refused, error)
        return read_tokens(answer, self._clock.now())


async def _post(heard: SignIn, client: OAuthClient, url: str, body: str) -> HttpResponse:
    headers = {"Content-Type": _FORM, "Accept": "application/json"}
    if client.secret:
        pair = f"{quote(client.client_id, safe='')}:{quote(client.secret, safe='')}"  # RFC 6749 2.3.1
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return await heard.request("POST", url, headers=headers, body=body.encode(), max_bytes=_MOST_ANSWER)


async def _json(heard: SignIn, url: str) -> JsonObject:
    response = await heard.request("GET", url, headers={"Accept": "application/json"}, max_bytes=_MOST_ANSWER)
    read = _object(response)
    if response.status != 200 or read is None:
        raise OAuthRefused(gettext("The service's answer cannot be read."))
    return read


def read_description(issuer: str, told: Mapping[str, object]) -> Endpoints:
    """Return the endpoints that a server tells of itself (OpenID Connect Discovery 1.0). Raises `OAuthRefused`.

    Its issuer must be the expected issuer, and no address less protected than the issuer's.
    """
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "revocation_endpoint", "userinfo_endpoint")
    urls = {name: url if isinstance(url := told.get(name) or "", str) else " " for name in names}
    safe = all(_is_safe(url, issuer) for url in urls.values() if url)
    if told.get("issuer") != issuer or not safe or not all(urls[name] for name in names[:3]):
        _log.error("issuer_is_not_what_it_says", issuer=issuer)
        raise OAuthRefused(gettext("The service's answer cannot be read."))
    names_issuer = told.get("authorization_response_iss_parameter_supported") is True
    authorization, token, jwks, revocation, userinfo = urls.values()
    return Endpoints(issuer, authorization, token, jwks, revocation, userinfo, names_issuer)


def _is_safe(url: str, issuer: str) -> bool:
    try:
        scheme = read_target(url).scheme
    except Barred:
        return False
    return "#" not in url and (scheme == "https" or issuer.startswith("http://"))


def _client(client: OAuthClient) -> "WebApplicationClient":
    from oauthlib.oauth2 import WebApplicationClient

    return WebApplicationClient(client.client_id)


def read_tokens(answer: JsonObject, now: datetime) -> Tokens:
    """Return the tokens of a server's answer (RFC 6749 5.1), each field checked. Raises `OAuthRefused`."""
    access, kind = _text(answer, "access_token"), _text(answer, "token_type")
    if not access or (kind or "bearer").lower() != "bearer":  # some leave it out, though RFC 6749 requires it
        raise _unreadable()
    refresh, id_token = _text(answer, "refresh_token"), _text(answer, "id_token")
    return Tokens(access, now + _life(answer.get("expires_in")), refresh, _scopes(answer.get("scope")), id_token)


def _text(answer: JsonObject, name: str) -> str:
    """Return a field that can be put into a header; empty if there is none."""
    value = answer.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or not _VISIBLE.fullmatch(value):
        raise _unreadable()
    return value


def _life(seconds: object) -> timedelta:
    if seconds is None:
        return USUAL_LIFE
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | str):
        raise _unreadable()
    try:
        number = float(seconds)
    except (ValueError, OverflowError) as error:
        raise _unreadable() from error
    if not math.isfinite(number) or number < 0:
        raise _unreadable()
    # Some servers say 0 if they do not know it.
    return timedelta(seconds=min(number, MOST_LIFE.total_seconds())) or USUAL_LIFE


def _scopes(scope: object) -> tuple[str, ...]:
    words = [] if scope is None else scope.split(" ") if isinstance(scope, str) else scope
    if not isinstance(words, list) or len(words) > _MOST_SCOPES:
        raise _unreadable()
    found = tuple(word for word in words if isinstance(word, str) and _VISIBLE.fullmatch(word))
    if len(found) != len(words):
        raise _unreadable()
    return tuple(filter(None, found))


def _code(error: object) -> str:
    """Return a server's word for an error if it is a code, as the standard has it: nothing else is logged."""
    return error if isinstance(error, str) and _CODE.fullmatch(error) else ""


def _unreadable() -> OAuthRefused:
    return OAuthRefused(gettext("The service's answer cannot be read."))


def _object(response: HttpResponse) -> JsonObject | None:
    try:
        read = json.loads(response.body, parse_constant=_no_number, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _unique(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found
