"""What stands between us and a provider and answers for it: redirects, pages, junk, silence, absurd waits."""

import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.errors import Ambiguous, DeliveryError, RateLimited, Unavailable
from jobs.delivery.backoff import MAX_WAIT
from tests.contract.canaries import marked
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.harness import ANSWER_SECONDS, NOWHERE, ChannelHarness, exempt, reply
from workbench.simulator.faults import FaultKind
from workbench.simulator.misbehaving import HUGE

ROUNDS = 8

FAULTS: dict[str, tuple[FaultKind, dict[str, Any]]] = {
    "500": (FaultKind.SERVER_ERROR, {"status": 500}),
    "a page with 200": (FaultKind.PAGE, {"status": 200}),
    "a page with 403": (FaultKind.PAGE, {"status": 403}),
    "a page with 502": (FaultKind.PAGE, {"status": 502}),
    "{} with 200": (FaultKind.EMPTY, {}),
    "20 MB of junk": (FaultKind.HUGE, {}),
    "302": (FaultKind.REDIRECT, {"location": f"{NOWHERE}/"}),
    "429 of a day": (FaultKind.RATE_LIMIT, {"seconds": 86_400.0}),
    "silence": (FaultKind.TIMEOUT_BEFORE, {"seconds": ANSWER_SECONDS + 0.2}),
    "a byte now and then": (FaultKind.DRIP, {"seconds": ANSWER_SECONDS + 1.0}),
}


@dataclass(slots=True)
class Elsewhere:
    """A server to which a redirect leads: nothing may ever come here."""

    url: str = ""
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        """Keep what was asked."""
        self.asked.append(f"{request.method} {request.path}")
        return web.json_response({"ok": True, "result": {"message_id": 1}, "ts": "1.2", "sid": "SM1"})


@asynccontextmanager
async def elsewhere() -> AsyncIterator[Elsewhere]:
    """Serve one."""
    place, app = Elsewhere(), web.Application()
    app.router.add_route("*", "/{path:.*}", place.answer)
    server = TestServer(app)
    await server.start_server()
    place.url = str(server.make_url("/latest/meta-data/"))
    try:
        yield place
    finally:
        await server.close()


@pytest.mark.parametrize("fault", FAULTS)
async def test_after_any_fault_of_a_provider_all_is_told_once_and_in_order(
    delivery: DeliveryHarness, fault: str
) -> None:
    await delivery.meet()
    kind, how = FAULTS[fault]
    delivery.channel.misbehave(kind, **how)
    texts = [marked("one"), marked("two")]
    queued = [await delivery.enqueue(text) for text in texts]
    await delivery.deliver_hurried()
    assert [(await delivery.row(outbound_id))["state"] in ("ready", "checking") for outbound_id in queued] == [
        True,
        True,
    ]
    for _ in range(3):
        await delivery.deliver_later()
    assert [(await delivery.row(outbound_id))["state"] for outbound_id in queued] == ["sent", "sent"]
    assert [bubble.text for bubble in delivery.channel.bubbles()] == texts


@pytest.mark.parametrize("fault", ["a page with 200", "a page with 502", "{} with 200", "20 MB of junk", "302"])
async def test_an_outage_that_outlasts_every_resend_loses_no_answer(delivery: DeliveryHarness, fault: str) -> None:
    await delivery.meet()
    kind, how = FAULTS[fault]
    delivery.channel.misbehave(kind, times=0, endpoint=f"{delivery.channel.provider}.*", **how)
    queued = await delivery.enqueue(marked("the answer"))
    for _ in range(ROUNDS):
        await delivery.deliver_later()
    delivery.channel.simulator.wire.faults.clear()
    for _ in range(2):
        await delivery.deliver_later()
    assert (await delivery.row(queued))["state"] == "sent"
    assert [bubble.text for bubble in delivery.channel.bubbles()] == [marked("the answer")]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_never_followed_and_is_a_passing_error(harness: ChannelHarness, status: int) -> None:
    await harness.meet()
    async with elsewhere() as place:
        harness.misbehave(FaultKind.REDIRECT, status=status, location=place.url)
        (part,) = harness.sender.render(reply(marked("hello")))
        with pytest.raises(DeliveryError) as failure:
            await harness.sender.send(part, harness.target())
        assert place.asked == []
    assert type(failure.value) is Unavailable


async def test_the_way_in_follows_no_redirect_either(harness: ChannelHarness) -> None:
    async with elsewhere() as place:
        harness.misbehave(FaultKind.REDIRECT, times=0, endpoint=f"{harness.provider}.*", location=place.url)
        checks = await harness.channel.check()
        assert not all(check.ok for check in checks)
        assert place.asked == []


async def test_each_strange_answer_has_one_meaning(harness: ChannelHarness) -> None:
    await harness.meet()
    (part,) = harness.sender.render(reply(marked("hello")))
    errors: dict[str, type[Exception]] = {}
    async with harness.hurried() as hurried:
        for fault, (kind, how) in FAULTS.items():
            harness.misbehave(kind, **how)
            sender = hurried if kind in (FaultKind.TIMEOUT_BEFORE, FaultKind.DRIP) else harness.sender
            with pytest.raises(DeliveryError) as failure:
                await sender.send(part, harness.target())
            errors[fault] = failure.type
    # Where what was sent can be looked up, a proxy's 5xx is looked up too: the call may have passed it.
    page = Unavailable if harness.name == "telegram" else Ambiguous
    assert errors == {
        "500": Ambiguous,
        "a page with 200": Unavailable,
        "a page with 403": Unavailable,
        "a page with 502": page,
        "{} with 200": Unavailable,
        "20 MB of junk": Unavailable,
        "302": Unavailable,
        "429 of a day": RateLimited,
        "silence": Ambiguous,
        "a byte now and then": Ambiguous,
    }


async def test_20_mb_of_junk_are_never_in_memory_as_a_whole(harness: ChannelHarness) -> None:
    await harness.meet()
    (part,) = harness.sender.render(reply(marked("hello")))
    harness.misbehave(FaultKind.HUGE)
    tracemalloc.start()
    try:
        with pytest.raises(Unavailable):
            await harness.sender.send(part, harness.target())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < HUGE / 2  # of both sides: the emulated provider runs in this process


@exempt(telegram="bots cannot read what they sent")
async def test_promise_7_what_a_proxy_passed_on_before_it_failed_is_found(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    if delivery.channel.name == "sms":
        await delivery.channel.act("callbacks", order="none")
    delivery.channel.misbehave(FaultKind.PAGE_AFTER, status=502)
    queued = await delivery.enqueue(marked("only once"))
    await delivery.deliver()
    await delivery.deliver_later()
    assert (await delivery.row(queued))["state"] == "sent"
    assert await delivery.outcomes(queued) == ["found"]
    assert [bubble.text for bubble in delivery.channel.bubbles()] == [marked("only once")]


async def test_a_retry_after_of_a_day_is_asked_about_within_the_hour(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    delivery.channel.misbehave(FaultKind.RATE_LIMIT, seconds=86_400.0)
    queued = await delivery.enqueue(marked("one"))
    await delivery.deliver()
    row = await delivery.row(queued)
    assert row["state"] == "ready"
    waits = await delivery.store.one("select extract(epoch from next_attempt_at - clock_timestamp()) from outbound")
    assert 0.9 * MAX_WAIT.total_seconds() < float(str(waits)) <= MAX_WAIT.total_seconds() + 1
