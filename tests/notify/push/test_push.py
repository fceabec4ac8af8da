"""Push over ntfy and an Apprise API, emulated over HTTP: what arrives, and what each failure means."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.errors import (
    Ambiguous,
    CredentialsRejected,
    DeliveryError,
    RateLimited,
    Rejected,
    Unavailable,
    Unreachable,
)
from core.json_types import JsonObject
from core.messaging.channels import Part, Target
from core.messaging.messages import Action, Address, Media, OutboundKind, OutboundMessage
from notify.push.render import MAX_ENCODED, encoded
from notify.push.send import PushNotification

TOPIC = Target(Address("push", "ntfy", "anns-topic"), "part_1")
KEY = Target(Address("push", "apprise", "ann"), "part_2")


@dataclass(slots=True)
class Providers:
    """An ntfy server and an Apprise API in one, as strict as they are about what matters here."""

    held: list[JsonObject] = field(default_factory=list)
    apprised: list[tuple[str, JsonObject]] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    lose_answer: bool = False
    url: str = ""

    async def publish(self, request: web.Request) -> web.StreamResponse:
        """Take a message as ntfy does."""
        if request.headers.get("Authorization") != "Bearer tk_secret":
            return web.json_response({"code": 40301, "error": "forbidden"}, status=403)
        if self.status != 200:
            return web.Response(status=self.status, headers=self.headers)
        if len(await request.read()) > 2 * 4096:
            return web.json_response({"code": 41302, "http": 413, "error": "JSON body too large"}, status=413)
        body = await request.json()
        assert set(body) <= {"topic", "message", "title", "markdown"}
        assert len(body["message"].encode()) <= 4096
        self.held.append({"id": f"m{len(self.held)}", "event": "message", **body})
        if self.lose_answer:
            assert request.transport is not None
            request.transport.close()
        return web.json_response(self.held[-1])

    async def poll(self, request: web.Request) -> web.Response:
        """Return what a topic holds, as JSON lines."""
        topic = request.match_info["topic"]
        lines = [json.dumps(message) for message in self.held if message["topic"] == topic]
        return web.Response(text="\n".join(lines), status=self.status)

    async def apprise(self, request: web.Request) -> web.Response:
        """Take a message as the Apprise API does."""
        self.apprised.append((request.match_info["key"], await request.json()))
        return web.Response(status=self.status, headers=self.headers)


@pytest.fixture
async def providers() -> AsyncIterator[Providers]:
    there = Providers()
    app = web.Application()
    app.add_routes([web.post("/", there.publish), web.get("/{topic}/json", there.poll)])
    app.add_routes([web.post("/notify/{key}", there.apprise)])
    async with TestServer(app) as server:
        there.url = str(server.make_url("")).rstrip("/")
        yield there


@pytest.fixture
async def push(providers: Providers) -> AsyncIterator[PushNotification]:
    push = PushNotification(ntfy_url=providers.url, ntfy_token="tk_secret", apprise_url=providers.url)
    yield push
    await push.close()


def message(text: str, **more: object) -> OutboundMessage:
    return OutboundMessage("out_1", OutboundKind.NOTIFICATION, text, **more)  # type: ignore[arg-type]


async def test_a_title_and_a_text_arrive_at_the_topic_and_at_the_key(
    push: PushNotification, providers: Providers
) -> None:
    picture = Media("https://example.org/a.png", "image/png")
    (part,) = push.render(message("# Price\n\nUnder **300**", actions=(Action("Buy", "t"),), media=(picture,)))
    receipt = await push.send(part, TOPIC)
    assert receipt.provider_id == "m0"
    assert providers.held[0] | {"id": ""} == {
        "id": "",
        "event": "message",
        "topic": "anns-topic",
        "title": "Price",
        "markdown": True,
        "message": "Under **300**\n\nhttps://example.org/a.png",
    }
    await push.send(part, KEY)
    assert providers.apprised[0][0] == "ann"
    assert providers.apprised[0][1]["title"] == "Price"


def test_a_long_text_is_cut_between_lines_and_loses_no_word() -> None:
    words = [f"wörd{number:04d}" for number in range(3000)]
    lines = "\n".join(" ".join(words[start : start + 12]) for start in range(0, 3000, 12))
    parts = PushNotification().render(message(lines))
    assert len(parts) > 5
    assert all(0 < encoded(part.text) <= MAX_ENCODED for part in parts)
    assert " ".join(part.text for part in parts).split() == words
    assert [part.text for part in PushNotification().render(message(""))] == ["(no text)"]
    assert len(PushNotification().render(message("x" * 10_000))) == 3


@pytest.mark.parametrize(
    "text", ["Ж" * 1950, "日本語" * 5000, '"' * 9000, "\n".join("ab" * 9000), "👍🏽" * 3000, "\ud800x"]
)
async def test_a_text_of_any_alphabet_is_taken_whole(push: PushNotification, providers: Providers, text: str) -> None:
    title = "# Ж" + "é" * 500
    parts = push.render(message(f"{title}\n\n{text}"))
    for part in parts:
        await push.send(part, TOPIC)
    taken = "".join(str(held["message"]) for held in providers.held)
    assert "".join(taken.split()) == "".join(f"{title}\n\n{text}".replace("\ud800", "?").split())
    assert all(len(str(held.get("title", ""))) <= 200 for held in providers.held)


@pytest.mark.parametrize("where", [TOPIC, KEY])
async def test_a_redirect_is_not_followed_and_is_a_passing_error(
    push: PushNotification, providers: Providers, where: Target
) -> None:
    providers.status, providers.headers = 302, {"Location": f"{providers.url}/notify/elsewhere"}
    with pytest.raises(Unavailable):
        await push.send(Part("Hello"), where)
    assert [key for key, _ in providers.apprised] in ([], ["ann"])


async def test_a_page_is_no_acceptance() -> None:
    app = web.Application()
    app.add_routes([web.post("/{path:.*}", _page)])
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        push = PushNotification(ntfy_url=url, ntfy_token="tk_secret", apprise_url=url)
        for where in (TOPIC, KEY):
            with pytest.raises(Unavailable):
                await push.send(Part("Hello"), where)
        await push.close()


async def test_an_answer_that_nests_too_deeply_leaves_the_outcome_unknown() -> None:
    app = web.Application()
    app.add_routes([web.post("/", _nested), web.get("/{topic}/json", _nested)])
    async with TestServer(app) as server:
        push = PushNotification(ntfy_url=str(server.make_url("")).rstrip("/"), ntfy_token="tk_secret", apprise_url="")
        with pytest.raises(Ambiguous):
            await push.send(Part("Hello"), TOPIC)
        with pytest.raises(Unavailable):
            await push.find(Part("Hello"), TOPIC, datetime.now(UTC))
        await push.close()


async def _nested(_: web.Request) -> web.Response:
    return web.Response(body=b"[" * 100_000, content_type="application/json")


async def _page(_: web.Request) -> web.Response:
    return web.Response(text="<html>Log in to this network</html>", content_type="text/html")


async def test_promise_7_a_lost_answer_is_ambiguous_and_found_in_the_topic(
    push: PushNotification, providers: Providers
) -> None:
    since = datetime.now(UTC)
    providers.lose_answer = True
    with pytest.raises(Ambiguous):
        await push.send(Part("Are you there?"), TOPIC)
    receipt = await push.find(Part("Are you there?"), TOPIC, since)
    assert receipt is not None
    assert receipt.provider_id == "m0"
    assert await push.find(Part("Never sent"), TOPIC, since) is None
    providers.status = 500
    with pytest.raises(Unavailable):
        await push.find(Part("Are you there?"), TOPIC, since)
    with pytest.raises(Unavailable):
        await push.find(Part("Are you there?"), KEY, since)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(429, RateLimited), (401, CredentialsRejected), (413, Rejected), (400, Rejected), (502, Ambiguous)],
)
async def test_each_refusal_means_what_it_says(
    push: PushNotification, providers: Providers, status: int, kind: type[DeliveryError]
) -> None:
    providers.status, providers.headers = status, {"Retry-After": "7"}
    with pytest.raises(kind) as caught:
        await push.send(Part("x"), TOPIC)
    if isinstance(caught.value, RateLimited):
        assert caught.value.retry_after == timedelta(seconds=7)
    assert "tk_secret" not in str(caught.value)


async def test_without_a_target_a_server_or_a_setting_it_says_so(push: PushNotification, providers: Providers) -> None:
    providers.status = 204
    with pytest.raises(Unreachable):
        await push.send(Part("x"), KEY)
    with pytest.raises(Rejected):
        await PushNotification().send(Part("x"), KEY)
    away = PushNotification(ntfy_url="http://127.0.0.1:1")
    with pytest.raises(Unavailable):
        await away.send(Part("x"), TOPIC)
    await away.close()
