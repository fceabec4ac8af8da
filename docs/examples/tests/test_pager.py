from datetime import timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from onevalet import (
    Address,
    Ambiguous,
    Channel,
    InboundMessage,
    NotificationChannel,
    Part,
    Press,
    RateLimited,
    Receipt,
    Rejected,
    StoreUnavailable,
    Target,
    Unavailable,
)
from onevalet.testing import MemorySink, make_setup
from pager.channel import PagerIn, PagerOut


class Away(MemorySink):
    async def accept(self, inbound: object) -> object:
        raise StoreUnavailable


async def test_a_page_is_taken_in_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER_SECRET", "s3cret")
    sink, app = MemorySink(), web.Application()
    way_in: Channel = PagerIn(make_setup(), sink)
    app.add_routes(way_in.routes())
    async with TestClient(TestServer(app)) as service:
        proof = {"Authorization": "Bearer s3cret"}
        hello, press = {"id": "1", "from": "ann", "text": "Hello"}, {"id": "2", "from": "ann", "pressed": "t"}
        for said in (hello, hello, press):
            assert (await service.post("/pager", json=said, headers=proof)).status == 204
        assert (await service.post("/pager", json=hello)).status == 401
    ann = Address("pager", "own", "ann")
    assert sink.accepted == [InboundMessage(ann, "ann", ("1",), "Hello"), Press(ann, "ann", ("2",), "t")]
    assert [check.ok for check in await way_in.check()] == [True]
    assert [change.by_hand for change in await way_in.setup()] == [True]


async def test_a_page_that_cannot_be_kept_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER_SECRET", "s3cret")
    app = web.Application()
    app.add_routes(PagerIn(make_setup(), Away()).routes())
    async with TestClient(TestServer(app)) as service:
        said = {"id": "1", "from": "ann", "text": "Hello"}
        assert (await service.post("/pager", json=said, headers={"Authorization": "Bearer s3cret"})).status == 503


async def test_what_the_service_answers_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    way_out: NotificationChannel = PagerOut(make_setup())
    taken: list[dict[str, object]] = []
    answers = [200, 429, 502, 400, 0]

    async def page(request: web.Request) -> web.Response:
        taken.append(await request.json())
        if not (status := answers.pop(0)):
            assert request.transport is not None
            request.transport.abort()  # the page was taken, and the answer is lost
        return web.Response(status=status or 200, headers={"Retry-After": "7"})

    app = web.Application()
    app.add_routes([web.post("/", page)])
    to = Target(Address("pager", "own", "ann"), "ref1")
    async with TestServer(app) as service:
        monkeypatch.setenv("PAGER_URL", str(service.make_url("/")))
        assert await way_out.send(Part("Hello"), to) == Receipt("ref1")
        with pytest.raises(RateLimited) as limited:
            await way_out.send(Part("Hello"), to)
        assert limited.value.retry_after == timedelta(seconds=7)
        for error in (Unavailable, Rejected, Ambiguous):
            with pytest.raises(error):
                await way_out.send(Part("Hello"), to)
    assert len(taken) == 5
    with pytest.raises(Unavailable):  # nobody listens there any more
        await way_out.send(Part("Hello"), to)
