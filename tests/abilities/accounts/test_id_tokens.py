"""Id tokens and keys in which a value is not what the standard says: each ends in a sentence of ours."""

import json
from typing import Any, cast

import pytest
from joserfc import jws
from joserfc.jwk import KeySet, RSAKey

from abilities.accounts.id_tokens import Identity, address_in, read_id_token
from abilities.accounts.oauth import OAuthRefused
from core.json_types import JsonObject

ISSUER, NOW = "https://id.example.org", 2_000_000_000
KEY = RSAKey.generate_key(2048, {"kid": "k"}, private=True)
KEYS = cast(JsonObject, KeySet([KEY]).as_dict(private=False))
PUBLIC = cast(JsonObject, KEY.as_dict(private=False))
CLAIMS = {"iss": ISSUER, "aud": "id", "sub": "s", "nonce": "n", "exp": NOW + 100, "email": "ann@example.org"}


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def signed(**changed: object) -> str:
    """Return a token whose signature is good."""
    return jws.serialize_compact({"alg": "RS256", "kid": "k"}, json.dumps(CLAIMS | changed), KEY)


def read(token: str, keys: Any = KEYS) -> Identity:
    return read_id_token(token, keys, issuer=ISSUER, client_id="id", nonce="n", now=NOW)


ODD: list[Any] = [
    7,
    -1,
    2**63,
    10**400,
    1e300,
    float("nan"),
    float("inf"),
    True,
    None,
    [],
    ["s"],
    {},
    {"a": 1},
    "\ud800",
    "a\nb",
]


def test_a_token_as_it_should_be_tells_who_granted() -> None:
    assert read(signed()) == Identity("s", "ann@example.org")


@pytest.mark.parametrize("odd", [*ODD, "", "x" * 1000, deep(200)], ids=lambda odd: repr(odd)[:12])
@pytest.mark.parametrize("name", ["sub", "iss", "aud", "nonce"])
def test_a_claim_that_is_none_is_refused_in_a_sentence(name: str, odd: object) -> None:
    with pytest.raises(OAuthRefused, match="cannot be trusted"):
        read(signed(**{name: odd}))


@pytest.mark.parametrize("odd", [-1, float("nan"), float("-inf"), None, "soon", [], {}, deep(200)], ids=str)
@pytest.mark.parametrize("name", ["exp"])
def test_a_time_that_is_none_is_refused_in_a_sentence(name: str, odd: object) -> None:
    with pytest.raises(OAuthRefused, match="cannot be trusted"):
        read(signed(**{name: odd}))


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:12])
@pytest.mark.parametrize("name", ["iat", "nbf", "azp", "tid", "email", "preferred_username"])
def test_other_claims_are_refused_or_passed_over(name: str, odd: object) -> None:
    try:
        told = read(signed(**{name: odd}))
    except OAuthRefused:
        return
    assert told in (Identity("s", "ann@example.org"), Identity("s", ""))


@pytest.mark.parametrize("odd", [*ODD, "x" * 1000], ids=lambda odd: repr(odd)[:12])
def test_an_address_that_is_none_is_no_address(odd: object) -> None:
    assert address_in({"email": odd}) == ""
    assert address_in({"email": odd, "preferred_username": "ann@example.org"}) == "ann@example.org"


def each(*odd: Any) -> tuple[Any, ...]:
    return odd


KEY_LISTS: list[Any] = [
    {},
    [],
    None,
    {"keys": None},
    {"keys": {"a": 1}},
    {"keys": "keys"},
    {"keys": []},
    {"keys": [None]},
    {"keys": [["kty", "RSA"]]},
    {"keys": [{}]},
    {"keys": [deep(300)]},
    {"keys": [PUBLIC] * 10_000},
    *({"keys": [PUBLIC | {"n": odd}]} for odd in each("", "é", "AQ", 7, [], None, "A" * 100_000)),
    *({"keys": [PUBLIC | {"e": odd}]} for odd in each("", "AA", "AQ", "_" * 5_000, {}, True)),
    *({"keys": [PUBLIC | {"kty": odd}]} for odd in each(None, 7, [], {}, "EC", "OKP", "oct", "none")),
    *({"keys": [PUBLIC | {"kid": odd}]} for odd in each([], {}, 7, "other")),
    *({"keys": [{"kty": "EC", "kid": "k", "crv": odd, "x": "AA", "y": "AA"}]} for odd in each("P-256", "x", 7, [], {})),
    *({"keys": [{"kty": "OKP", "kid": "k", "crv": odd, "x": "AA"}]} for odd in each("Ed25519", "X448", 7, [], {})),
]


@pytest.mark.parametrize(
    "keys",
    KEY_LISTS,
    ids=map(
        str, range(len(KEY_LISTS))
    ),  # PUBLIC is made by chance, and each process of the tests must find the same names
)
def test_keys_that_are_none_are_refused_in_a_sentence(keys: object) -> None:
    with pytest.raises(OAuthRefused, match="cannot be trusted"):
        read(signed(), keys)


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "é.é.é", "\ud800", "x" * 10**6, "." * 1000, "eyJ9.e30.AA"])
def test_a_token_that_is_none_is_refused_in_a_sentence(token: str) -> None:
    with pytest.raises(OAuthRefused, match="cannot be trusted"):
        read(token)
