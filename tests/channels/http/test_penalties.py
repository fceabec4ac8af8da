"""Bad requests have a budget of their own, and cost next to nothing (promise 12)."""

import asyncio
from collections import Counter

import aiohttp
from aiohttp import web

from channels.http.app import build_app, serve
from channels.http.penalties import SOURCES, BadRequests
from core.errors import StoreUnavailable
from tests.channels.memory_sink import MemorySink
from tests.channels.sms.builders import Gateway, make_channel, webhook


class Time:
    at = 0.0

    def __call__(self) -> float:
        return self.at


def test_nothing_is_refused_within_the_limit_and_a_minute_resets_the_count() -> None:
    time = Time()
    bad = BadRequests(3, time)
    assert [bad.count("a") for _ in range(5)] == [0, 0, 0, 1, 2]
    assert bad.count("b") == 0
    time.at = 60
    assert bad.count("a") == 0


async def test_as_shipped_a_source_gets_300_bad_requests_a_minute() -> None:
    app = build_app([], ready=_ready)
    async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:

        async def knock() -> int:
            async with session.get(f"http://127.0.0.1:{port}/nowhere") as answer:
                return answer.status

        assert Counter([await knock() for _ in range(305)]) == {404: 300, 429: 5}


def test_what_is_remembered_has_a_bound() -> None:
    bad = BadRequests(3, Time())
    for number in range(SOURCES + 10):
        bad.count(str(number))
    assert bad.count("one more") == 11 - 3


async def test_promise_12_forged_requests_get_4xx_then_429_and_never_the_store() -> None:
    sink = MemorySink()
    channel = make_channel(sink)
    app = build_app([channel], ready=_ready, bad_requests=BadRequests(20))
    async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        gateway = Gateway(port, sink, session)
        statuses = [(await gateway.post(webhook(), signed="forged")).status for _ in range(30)]
        assert statuses == [403] * 20 + [429] * 10
        assert sink.calls == 0
        # From the same source, as behind a proxy: what is good is not made to pay for it.
        good = await asyncio.gather(*(gateway.post(webhook(MessageSid=s, SmsMessageSid=s)) for s in _sids(40)))
        assert {answer.status for answer in good} == {200}
        limited = await gateway.post(webhook(), signed="forged")
        assert limited.headers["Retry-After"] == "60"
        async with session.get(f"http://127.0.0.1:{port}/nowhere") as answer:
            assert answer.status == 429
        async with session.get(f"http://127.0.0.1:{port}/healthz") as answer:
            assert answer.status == 200
    assert len(sink.accepted) == 40


def _sids(count: int) -> list[str]:
    return [f"SM{number:032x}" for number in range(count)]


async def _ready() -> bool:
    return True


async def test_our_failures_count_for_a_source_and_outages_do_not() -> None:
    async def fail(_: web.Request) -> web.Response:
        raise ZeroDivisionError

    async def be_away(_: web.Request) -> web.Response:
        raise StoreUnavailable("away")

    for handler, expected in ((fail, {500: 20, 429: 10}), (be_away, {503: 30})):
        routes = [web.get("/page", handler)]
        app = build_app([], ready=_ready, bad_requests=BadRequests(20), extra_routes=routes)
        async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
            statuses = Counter[int]()
            for _ in range(30):
                async with session.get(f"http://127.0.0.1:{port}/page") as answer:
                    statuses[answer.status] += 1
            assert statuses == expected
