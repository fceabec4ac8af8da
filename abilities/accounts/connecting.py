"""Connecting an account: from the page that a person opened to the account that is stored, and to the chat's notice."""

import json
import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import timedelta

import structlog

from abilities.accounts.accounts import Accounts
from abilities.accounts.granted import open_granted
from abilities.accounts.id_tokens import Identity, address_in, read_id_token
from abilities.accounts.links import Begun, ConnectLink, ConnectLinkStore
from abilities.accounts.oauth import GrantRevoked, OAuthRefused, OAuthServers, Proof, SignIn, Tokens
from abilities.accounts.offers import told
from abilities.accounts.passwords import open_password
from abilities.accounts.token_refresh import attend_in, stored_form
from abilities.accounts.types import Opened, Service
from abilities.accounts.waiting import WaitingForAccounts
from core.clock import Clock
from core.credentials.store import MAX_NAME
from core.credentials.types import Ability, Account
from core.errors import OneValetError, StoreUnavailable
from core.ids import IdMaker
from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop
from core.queue.wakeups import Wakeups

WORD = "connect"
"""The word that people write for a new link; it is the same in every language's sentences."""
OVER = gettext_noop("This link was used already, or is too old. For a new one, write “{word}” in the chat.")
_FOREIGN = gettext_noop(
    "This page belongs to none of your links, or its link is too old. For a new one, write “{word}” in the chat."
)
_ELSEWHERE = gettext_noop(
    "This link was opened in another browser before. Go on there, or write “{word}” in the chat for a new one."
)
_log = structlog.get_logger()


class ConnectRefused(OneValetError):
    """Nothing was connected; the message tells the person why. `fatal`: this link can do no more."""

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal


class LinkOver(ConnectRefused):
    """The link can do nothing more; an account that it connected before stays as it is."""

    def __init__(self, message: str) -> None:
        super().__init__(message, fatal=True)


@dataclass(frozen=True, slots=True)
class Connected:
    """An account that was just stored."""

    link: ConnectLink
    service: Service
    account: Account


@dataclass(frozen=True, slots=True)
class AuthorizationResponse:
    """The authorization response of OAuth, with which a server sends the browser back."""

    state_token: str = field(repr=False)
    code: str = field(default="", repr=False)
    error: str = ""
    issuer: str = ""


@dataclass(frozen=True, slots=True)
class Connecting:
    """Lead a person through connecting an account. Raises `ConnectRefused` and `ToolFailed`, both for the person."""

    links: ConnectLinkStore
    accounts: Accounts
    servers: OAuthServers
    clock: Clock
    make_id: IdMaker
    wakeups: Wakeups

    async def lead_away(self, link: ConnectLink, browser: str, service: Service, abilities: frozenset[Ability]) -> str:
        """Return the address of the service's page, which asks the person; this browser only may come back."""
        assert service.client is not None  # noqa: S101
        wanted = (abilities | await self.allowed_before(link, service)) & service.offers
        proof = Proof(secrets.token_urlsafe(48), secrets.token_urlsafe(16))
        state = self.links.states.make(link.tenant_id)
        scopes = service.scopes_for(wanted)
        url = await self.servers.page(service.client, self.links.callback, scopes, state, proof)
        kept = {"service": service.name, "verifier": proof.verifier, "nonce": proof.nonce, "scopes": list(scopes)}
        version, sealed = await self.accounts.credentials.seal_for(
            link.tenant_id, json.dumps(kept).encode(), "connect", link.token_hash.hex()
        )
        _may_go_on(await self.links.begin(link, browser, state, version, sealed, self.clock.now()))
        return url

    async def come_back(self, answer: AuthorizationResponse, browser: str) -> Connected:
        """Store the account that a server's answer is about."""
        now = self.clock.now()
        link = await self.links.read_state(answer.state_token, now) if answer.state_token else None
        taken = await self.links.take_answer(link, answer.state_token, browser, now) if link and browser else None
        if link is None or taken is None:
            raise LinkOver(gettext(_FOREIGN, word=WORD))
        place = ("connect", link.token_hash.hex())
        kept = json.loads(await self.accounts.credentials.open_for(link.tenant_id, *taken, *place))
        service = self.accounts.services.get(kept["service"])
        if service is None or service.client is None:
            raise ConnectRefused(gettext("This service can no longer be connected here."), fatal=True)
        heard = self.servers.begin(service.client)
        await self._check_issuer(service, answer, heard)
        if answer.error or not answer.code:
            _log.info("connect_not_allowed", tenant=link.tenant_id, service=service.name, error=answer.error[:40])
            raise ConnectRefused(gettext("Nothing was connected, because access was not allowed."))
        proof = Proof(kept["verifier"], kept["nonce"])
        try:
            tokens = await self.servers.exchange(service.client, self.links.callback, answer.code, proof, heard)
        except GrantRevoked as error:
            raise ConnectRefused(gettext("Nothing was connected: the service no longer knows this request.")) from error
        identity = await self._identity(service, tokens, proof.nonce, heard)
        scopes = tokens.scopes or tuple(kept["scopes"])
        credentials = stored_form(tokens) | {
            "scopes": list(scopes),
            "address": identity.address,
            "subject": identity.subject,
            "issuer": service.client.issuer,
        }
        opened = open_granted(service, credentials)
        if service.offers and not opened.abilities:
            raise ConnectRefused(gettext("Nothing was connected, because access was not allowed."))
        return await self._store(link, service, credentials, opened, attend_in(tokens.expires_at, self.clock.now()))

    async def go_on(self, link: ConnectLink, browser: str) -> None:
        """Bind a link to the browser that sends a password, and count the try."""
        _may_go_on(await self.links.begin(link, browser, "", None, None, self.clock.now()))
        if not await self.links.count_try(link):
            tried = gettext("Too many passwords were tried. For a new link, write “{word}” in the chat.", word=WORD)
            raise ConnectRefused(tried, fatal=True)

    async def with_password(self, link: ConnectLink, service: Service, credentials: JsonObject) -> Connected:
        """Store an account whose password was tried."""
        return await self._store(link, service, credentials, open_password(service, credentials))

    async def _check_issuer(self, service: Service, answer: AuthorizationResponse, heard: SignIn) -> None:
        """Refuse an answer of another server than the expected server (RFC 9207)."""
        assert service.client is not None  # noqa: S101
        endpoints = await self.servers.endpoints(service.client, heard)
        pattern = re.escape(endpoints.issuer).replace(re.escape("{tid}"), "[0-9a-f-]{36}")
        known = re.fullmatch(pattern, answer.issuer) is not None
        if (answer.issuer or endpoints.names_issuer) and not known:
            _log.warning("connect_answered_by_another", service=service.name)
            raise ConnectRefused(gettext("The service's answer cannot be trusted: nothing was connected."))

    async def _identity(self, service: Service, tokens: Tokens, nonce: str, heard: SignIn) -> Identity:
        assert service.client is not None  # noqa: S101
        if not tokens.id_token:
            raise OAuthRefused(gettext("The service's answer cannot be trusted: nothing was connected."))
        endpoints = await self.servers.endpoints(service.client, heard)
        identity = read_id_token(
            tokens.id_token,
            await self.servers.keys(service.client, heard),
            issuer=endpoints.issuer,
            client_id=service.client.client_id,
            nonce=nonce,
            now=self.clock.now().timestamp(),
        )
        if identity.address:
            return identity
        told_of = await self.servers.told_of(service.client, tokens.access, heard)
        same = told_of.get("sub") == identity.subject  # OpenID Connect Core 5.3.2: else it is another's
        return replace(identity, address=(address_in(told_of) if same else "") or identity.subject)

    async def _store(
        self,
        link: ConnectLink,
        service: Service,
        credentials: JsonObject,
        opened: Opened,
        again_in: timedelta | None = None,
    ) -> Connected:
        name = await self._name(link, service, opened.address)
        version, sealed = await self.accounts.credentials.seal_for(
            link.tenant_id, json.dumps(credentials).encode(), service.name, name
        )
        account = Account(service.name, name, opened.address, opened.abilities)
        stored: JsonObject = {
            "service": service.name,
            "name": name,
            "key_version": version,
            "sealed": sealed.hex(),
            "attend_in": f"{again_in.total_seconds()} seconds" if again_in else None,
        }
        message: JsonObject = {"id": self.make_id("out"), "kind": "receipt", "text": told(service, account)}
        if not await self.links.finish(link, stored, message, self.clock.now()):
            raise LinkOver(gettext(OVER, word=WORD))
        _log.info("account_connected", tenant=link.tenant_id, service=service.name)
        if link.conversation_id:
            self.wakeups.wake_delivery(link.conversation_id)
        await self._hurry(link.tenant_id)
        return Connected(link, service, account)

    async def _hurry(self, tenant_id: str) -> None:
        """Wake workers for turns that waited for the account; by themselves they would find them seconds later."""
        try:
            await WaitingForAccounts(self.links.database, self.wakeups).connected(tenant_id)
        except StoreUnavailable:  # the account is stored, and the message to its person says so
            _log.warning("connect_hurried_nothing", tenant=tenant_id)

    async def allowed_before(self, link: ConnectLink, service: Service) -> frozenset[Ability]:
        """Return the abilities of the accounts that a link may be about; a new grant has to allow them as well.

        A service's answer replaces the stored grant: adding to an account would otherwise lose its earlier abilities.
        """
        known = [account for account in await self.accounts.list(link.tenant_id) if account.service == service.name]
        meant = [account for account in known if account.name == link.account_name]
        if not link.account_name and link.abilities:  # nobody knows yet which account they will choose there
            meant = known
        return frozenset().union(*(account.abilities for account in meant))

    async def _name(self, link: ConnectLink, service: Service, address: str) -> str:
        """Return the name under which an account is stored: a known account keeps its own, and loses it to no other."""
        known = [account for account in await self.accounts.list(link.tenant_id) if account.service == service.name]
        for account in known:
            if account.address.casefold() == address.casefold():
                return account.name
        taken = next((account for account in known if account.name == link.account_name), None)
        if taken is not None:
            there = taken.address or taken.name
            raise ConnectRefused(
                gettext(
                    "“{account}” is already the name of {there}, and you chose {address}. Choose the same one again, "
                    "or ask me for a link with another name.",
                    account=taken.name,
                    there=there,
                    address=address,
                )
            )
        return (link.account_name or address)[:MAX_NAME]


def _may_go_on(begun: Begun) -> None:
    if begun is Begun.TAKEN:
        raise LinkOver(gettext(_ELSEWHERE, word=WORD))
    if begun is Begun.OVER:
        raise LinkOver(gettext(OVER, word=WORD))
