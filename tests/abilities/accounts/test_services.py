"""Google and Microsoft as they document themselves: what is asked for, and whose answers count."""

import asyncio
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from abilities.accounts.id_tokens import read_id_token
from abilities.accounts.oauth import OAuthRefused, OAuthServers, Proof
from abilities.accounts.services import google, microsoft
from abilities.accounts.types import Service
from core.clock import Clock
from core.credentials.types import Ability
from core.tools.context import NO_WEB

READ, CHANGE = Ability.CALENDAR_READ, Ability.CALENDAR_CHANGE
HOME, ORGANISATION = "9188040d-6c67-4c5b-b112-36a304b66dad", "11111111-2222-3333-4444-555555555555"
_AUTH = "https://www.googleapis.com/auth"


def page_of(service: Service, *abilities: Ability) -> tuple[str, dict[str, str]]:
    """Return the address of a service's page, and what it is asked."""
    assert service.client is not None
    scopes = service.scopes_for(frozenset(abilities))
    page = OAuthServers(NO_WEB, Clock()).page(
        service.client, "https://v.example/connect/callback", scopes, "s", Proof("v" * 50, "n")
    )
    url = urlsplit(asyncio.run(page))
    return f"{url.scheme}://{url.netloc}{url.path}", {name: found[0] for name, found in parse_qs(url.query).items()}


def test_google_is_asked_offline_and_with_consent_for_the_narrowest_scope() -> None:
    address, asked = page_of(google("id", "secret"), READ)
    assert address == "https://accounts.google.com/o/oauth2/v2/auth"
    assert (asked["access_type"], asked["prompt"], asked["include_granted_scopes"]) == ("offline", "consent", "true")
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert asked["scope"] == f"openid email {_AUTH}/calendar.readonly"
    for abilities, scopes in (
        ((READ, CHANGE), f"{_AUTH}/calendar"),
        ((Ability.MAIL_SEND,), "https://mail.google.com/"),
        ((Ability.CONTACTS_READ, Ability.MAIL_READ), f"{_AUTH}/carddav https://mail.google.com/"),
    ):
        assert page_of(google("id", "secret"), *abilities)[1]["scope"] == f"openid email {scopes}"
    service = google("id", "secret")
    assert service.granted_for(frozenset({Ability.MAIL_READ})) >= {Ability.MAIL_SEND}  # it has no narrower scope
    assert service.client is not None
    assert service.client.endpoints is not None
    assert service.client.endpoints.revocation == "https://oauth2.googleapis.com/revoke"


@pytest.mark.parametrize("directory", ["common", ORGANISATION])
def test_microsoft_is_asked_in_its_directory_for_mail_and_offline_access(directory: str) -> None:
    address, asked = page_of(microsoft("id", "secret", directory), Ability.MAIL_READ)
    assert address == f"https://login.microsoftonline.com/{directory}/oauth2/v2.0/authorize"
    scope = "https://outlook.office.com/IMAP.AccessAsUser.All"
    assert asked["scope"] == f"openid email profile offline_access {scope}"
    service = microsoft("id", "secret", directory)
    assert service.allowed_by([scope.lower()]) == {Ability.MAIL_READ, Ability.MAIL_CHANGE}
    assert not service.offers & {READ, CHANGE}


def test_microsoft_signs_for_each_directory_in_its_own_name() -> None:
    key = RSAKey.generate_key(2048, {"kid": "k"}, private=True)
    keys = cast(Any, KeySet([key]).as_dict(private=False))

    def token(issuer: str, directory: str) -> str:
        claims = {"iss": issuer, "aud": "id", "sub": "s", "nonce": "n", "exp": 2_000_000_100, "tid": directory}
        return jwt.encode({"alg": "RS256", "kid": "k"}, claims | {"preferred_username": "ann@example.org"}, key)

    def read(service: Service, signed: str) -> str:
        assert service.client is not None
        issuer = service.client.issuer
        return read_id_token(signed, keys, issuer=issuer, client_id="id", nonce="n", now=2_000_000_000).address

    issuers = {one: f"https://login.microsoftonline.com/{one}/v2.0" for one in (HOME, ORGANISATION)}
    for directory, issuer in issuers.items():
        assert read(microsoft("id", "secret"), token(issuer, directory)) == "ann@example.org"
    with pytest.raises(OAuthRefused, match="cannot be trusted"):
        read(microsoft("id", "secret"), token(issuers[HOME], ORGANISATION))
    assert read(microsoft("id", "secret", ORGANISATION), token(issuers[ORGANISATION], ORGANISATION))
    with pytest.raises(OAuthRefused, match="cannot be trusted"):
        read(microsoft("id", "secret", ORGANISATION), token(issuers[HOME], HOME))
