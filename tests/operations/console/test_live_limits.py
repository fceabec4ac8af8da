"""Pages that are told of changes: one person holds some, and never all."""

from contextlib import AsyncExitStack

import aiohttp
import pytest

from operations.console.live import MAX_OF_ONE, MAX_STREAMS
from tests.eventually import eventually
from tests.operations.console.harness import ANN, BOB, Console


async def test_one_person_holds_no_more_live_pages_than_theirs(console: Console) -> None:
    assert MAX_OF_ONE * 2 <= MAX_STREAMS
    live = f"{console.url}/console/live?page=/console"
    async with console.browser(BOB) as bob, console.browser(ANN) as ann:
        async with AsyncExitStack() as stack:
            for _ in range(MAX_OF_ONE):
                answer = await stack.enter_async_context(bob.session.get(live))
                assert answer.status == 200
            assert await bob.get("/console/live?page=/console") == 429
            assert (await stack.enter_async_context(ann.session.get(live))).status == 200

        async def has_room() -> bool:
            async with bob.session.get(live) as answer:
                return answer.status == 200

        await eventually(has_room, "room for another page once the others are closed")


async def test_all_together_hold_no_more_than_a_process_tells(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.console.live.MAX_STREAMS", MAX_OF_ONE + 1)
    live = f"{console.url}/console/live?page=/console"
    async with console.browser(BOB) as bob, console.browser(ANN) as ann, AsyncExitStack() as stack:
        for browser, number in ((bob, MAX_OF_ONE), (ann, 1)):
            for _ in range(number):
                assert (await stack.enter_async_context(browser.session.get(live))).status == 200
        async with ann.session.get(live) as answer:
            assert answer.status == 429


async def test_who_goes_from_page_to_page_has_one_open(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    # Those that were left are not looked at meanwhile, however slow the machine is.
    monkeypatch.setattr("operations.console.live.EVERY", 3600.0)
    live = f"{console.url}/console/live?page=/console/waiting"
    async with console.browser(BOB) as bob:
        for _ in range(3 * MAX_OF_ONE):
            answer = await bob.session.get(live)
            assert answer.status == 200
            await answer.content.readuntil(b"changed")  # it waits from here on
            answer.close()  # as a browser does that leaves the page

            async def is_closed(left: aiohttp.ClientResponse = answer) -> bool:
                return left.connection is None

            await eventually(is_closed, "the connection's end")
