"""Answers of an OAuth server in which a field is not what the standard says."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from abilities.accounts.oauth import (
    MOST_LIFE,
    USUAL_LIFE,
    OAuthRefused,
    OAuthServers,
    Tokens,
    read_description,
    read_tokens,
)
from abilities.accounts.types import Endpoints, OAuthClient
from core.http.types import HttpResponse
from core.json_types import JsonObject

NOW = datetime(2026, 11, 29, tzinfo=UTC)
GOOD: JsonObject = {
    "access_token": "at",
    "token_type": "Bearer",
    "expires_in": 3600,
    "refresh_token": "rt",
    "scope": "a b",
}
ISSUER = "https://id.example.org"
DESCRIPTION = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/a",
    "token_endpoint": f"{ISSUER}/t",
    "jwks_uri": f"{ISSUER}/k",
    "revocation_endpoint": f"{ISSUER}/r",
    "userinfo_endpoint": f"{ISSUER}/u",
}
ODD = ["a\nb", "a\x00b", "é", "\ud800", "x" * 20_000, ["a"] * 10_000, {"a": 1}, True, 7.5]


class Clock:
    def now(self) -> datetime:
        return NOW


class Answering:
    """A server's one answer, whatever it is asked."""

    def __init__(self, body: bytes, status: int = 200) -> None:
        self._answer = HttpResponse(status, {}, body)
        self.most: list[int] = []

    async def request(self, *_: object, max_bytes: int, **__: object) -> HttpResponse:
        self.most.append(max_bytes)
        return self._answer


async def told(body: bytes, status: int = 200) -> Tokens:
    endpoints = Endpoints(ISSUER, f"{ISSUER}/a", f"{ISSUER}/t", f"{ISSUER}/k", "", "", False)
    client = OAuthClient("id", "secret", ISSUER, endpoints=endpoints)
    return await OAuthServers(Answering(body, status), Clock()).refresh(client, "old")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["access_token", "token_type", "refresh_token", "id_token"])
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:12])
async def test_a_text_that_no_header_can_hold_is_refused_in_a_sentence(name: str, odd: object) -> None:
    with pytest.raises(OAuthRefused, match="cannot be read"):
        await told(json.dumps(GOOD | {name: odd}).encode())


@pytest.mark.parametrize("odd", ["-1", '"soon"', '"nan"', '"inf"', "1e400", "NaN", "true", "[]", "{}", "-5"])
async def test_a_life_that_is_none_is_refused_in_a_sentence(odd: str) -> None:
    body = json.dumps(GOOD | {"expires_in": "HERE"}).replace('"HERE"', odd)
    with pytest.raises(OAuthRefused):
        await told(body.encode())


@pytest.mark.parametrize(
    ("seconds", "life"),
    [
        ("60", timedelta(minutes=1)),
        ('"60"', timedelta(minutes=1)),
        ("0", USUAL_LIFE),
        ("null", USUAL_LIFE),
        ("1e300", MOST_LIFE),
        ("9" * 300, MOST_LIFE),
        ("1" * 11, MOST_LIFE),
    ],
)
async def test_a_life_is_at_most_a_year(seconds: str, life: timedelta) -> None:
    body = json.dumps(GOOD | {"expires_in": "HERE"}).replace('"HERE"', seconds)
    assert (await told(body.encode())).expires_at == NOW + life


@pytest.mark.parametrize("scope", [["a"] * 10_000, ["a", 1], [["a"]], 7, {"a": 1}, "a\x00b", "é", True])
async def test_scopes_that_are_none_are_refused_in_a_sentence(scope: object) -> None:
    with pytest.raises(OAuthRefused):
        await told(json.dumps(GOOD | {"scope": scope}).encode())


def test_a_type_that_is_left_out_is_the_only_one() -> None:
    assert read_tokens({"access_token": "at"}, NOW).access == "at"


def test_a_token_may_hold_what_the_standard_allows() -> None:
    every = "".join(map(chr, range(0x20, 0x7F)))
    tokens = read_tokens(GOOD | {"access_token": every, "refresh_token": every}, NOW)
    assert (tokens.access, tokens.refresh) == (every, every)


@pytest.mark.parametrize("scope", ["a b", ["a", "b"], " a  b "])
async def test_scopes_are_words_or_a_list_of_them(scope: object) -> None:
    assert (await told(json.dumps(GOOD | {"scope": scope}).encode())).scopes == ("a", "b")


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"[" * 100_000, b"\xff\xfe", b'{"a":' * 50_000, b'{"access_token":"a","access_token":"b"}'],
    ids=["empty", "list", "depth", "charset", "deep", "twice"],
)
async def test_what_is_no_answer_is_refused_in_a_sentence(body: bytes) -> None:
    with pytest.raises(OAuthRefused):
        await told(body)


async def test_an_answer_is_short_enough_to_be_read_on_the_loop() -> None:
    """Each object in it costs a call in Python: a flood of small ones stood still for 158 ms in a megabyte."""
    endpoints = Endpoints(ISSUER, f"{ISSUER}/a", f"{ISSUER}/t", f"{ISSUER}/k", "", "", False)
    for answer, client in (
        (GOOD, OAuthClient("id", "secret", ISSUER, endpoints=endpoints)),
        (DESCRIPTION, OAuthClient("id", "secret", ISSUER)),
    ):
        server = Answering(json.dumps(answer).encode())
        with suppress(OAuthRefused):  # a description is no token
            await OAuthServers(server, Clock()).refresh(client, "old")  # type: ignore[arg-type]
        assert server.most
        assert max(server.most) <= 128 * 1024


@pytest.mark.parametrize("error", ["Call +15550001 now", ["x"], {"a": 1}, 7, "x" * 50, "a\nb"])
async def test_a_servers_words_are_no_code(error: object) -> None:
    with pytest.raises(OAuthRefused) as caught:
        await told(json.dumps({"error": error}).encode(), 400)
    assert caught.value.error == ""


@pytest.mark.parametrize("name", [name for name in DESCRIPTION if name != "issuer"])
@pytest.mark.parametrize(
    "odd",
    [
        "http://id.example.org/a",
        "https://bank@evil.example/",
        "https://id.example.org/#a",
        "javascript:x",
        "https://[",
        "https://a\nb/",
        ["https://id.example.org/a"],
        {"a": 1},
        True,
        7,
    ],
    ids=str,
)
def test_an_address_that_is_none_is_refused_in_a_sentence(name: str, odd: object) -> None:
    described: Mapping[str, object] = DESCRIPTION
    assert read_description(ISSUER, described).token == f"{ISSUER}/t"
    with pytest.raises(OAuthRefused):
        read_description(ISSUER, {**described, name: odd})
