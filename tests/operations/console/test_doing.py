"""The page of a running turn says what is done at the moment, in words, and is told when that changes."""

from tests.core.harness import opened
from tests.operations.console.harness import ANN, open_console


async def test_a_running_turns_page_follows_what_is_done(database_url: str) -> None:
    said = "Checking the weather…"

    async def told(_: str) -> str:
        return said

    async with opened(database_url) as store, open_console(store, doing=told) as console:
        await store.say("Is it raining?", sender=ANN)
        lease, turn = await store.claim_turn()
        page = f"/console/turns/{turn.turn_id}"
        async with console.browser(ANN) as browser:
            await browser.get(page)
            assert "Checking the weather…" in browser.text
            first = browser.version
            assert await browser.told(page) == first
            said = "Two of three days"
            assert await browser.told(page) != first
            await store.finish(lease, turn, "It is.")
            ended = await browser.told(page)
            said = "Late words"
            assert await browser.told(page) == ended
