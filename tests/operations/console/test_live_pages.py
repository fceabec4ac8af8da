"""An open page is told by its own version, whichever page it is, and a look at it leaves no trace."""

from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console
from tests.operations.console.test_deliveries import fail
from tests.operations.console.test_hostile_people import addresses

LIVE = {
    "conversations", "deliveries", "feedback", "followups", "health", "people", "places", "receipts",
    "spared", "tasks", "turns", "waiting", "webhooks",
}  # fmt: skip


async def test_every_open_page_is_told_by_the_version_that_it_was_opened_with(console: Console) -> None:
    await fail(console, "Your cab is here.", BOB)
    pages = [*await addresses(console), "/console/conversations?channel=sms", "/console/deliveries?state=failed"]
    seen = set()
    async with console.browser(ANN) as browser:
        for page in pages:
            await browser.get(page)
            if version := browser.version:
                seen.add(page.split("/")[2].partition("?")[0])
                assert await browser.told(page) == version, page
    assert seen == LIVE


async def test_an_operators_look_is_recorded_when_a_page_is_opened_only(database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, texts=True) as console:
        turn = await store.one(
            "select t.id from turns t join conversations c on c.id = t.conversation_id where peer = $1", BOB
        )
        async with console.browser(ANN) as browser:
            await browser.get(f"/console/turns/{turn}")
            assert "My secret is tea." in browser.text
            assert await browser.told(f"/console/turns/{turn}") == browser.version
        assert await store.db.console_looks.count() == 1


async def test_what_is_no_page_is_not_read_as_one(console: Console) -> None:
    async with console.browser(ANN) as browser:
        for address in ("/console/turns/%2500", "http://[/console", "/console?channel=%2500"):
            assert await browser.get(f"/console/live?page={address}") == 400, address
        for address in ("/console/live", "/console/sign-out", "", "/healthz"):
            async with browser.session.get(f"{console.url}/console/live?page={address}&version=known") as stream:
                assert b"changed\ndata: \n" in await stream.content.readuntil(b"data: \n"), address
