"""What is remembered: seen, corrected and forgotten by the person, and hidden from operators."""

import pytest

from tests.core.harness import opened
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, BOB, Console, open_console
from tests.operations.console.test_people import press


async def remember(console: Console, sender: str, text: str) -> str:
    """Have a person's memory keep a sentence; return the address of its page."""
    assert console.memory is not None
    tenant = await console.tenant(sender)
    assert await console.memory(tenant).remember(text, f"key {text}")
    return f"/console/people/{tenant}/memory"


async def forget(browser: Browser, page: str, number: str = "1") -> None:
    """Press Forget, and then Forget on the page that shows what would go."""
    assert await press(browser, page, f"{page}/forget", {"number": number}) == 200
    assert "Forget this?" in browser.text
    [line] = browser.inputs("line")
    assert await browser.post(f"{page}/forgotten", {"line": line, "proof": browser.proof}) == 303
    await browser.get(browser.location)


async def test_a_memory_is_forgotten_after_it_was_shown(console: Console) -> None:
    page = await remember(console, BOB, "I am allergic to peanuts.")
    async with console.browser(BOB) as browser:
        await browser.get(page)
        assert "allergic to peanuts" in browser.text
        await forget(browser, page)
        assert "Forgotten." in browser.text
        assert "allergic" not in browser.text
    assert await console.store.db.memories.count() == 0
    assert await console.store.column("select what || ' ' || subject from console_actions") == ["forget 1"]


async def test_a_memory_is_corrected_and_the_old_one_ends(console: Console) -> None:
    page = await remember(console, BOB, "My dentist is Dr. Brown.")
    async with console.browser(BOB) as browser:
        fields = {"number": "1", "text": "My dentist is Dr. Green."}
        assert await press(browser, page, f"{page}/correct", fields) == 303
        assert "Corrected" in browser.text
        for text in ("My password is hunter2!x9", "What is my name?", " "):
            assert await press(browser, page, f"{page}/correct", {"number": "1", "text": text}) == 303
            assert "Only a sentence that tells something can be remembered" in browser.text
    rows = await console.store.column("select text from memories where valid_to is null")
    assert rows == ["My dentist is Dr. Green."]


async def test_a_correction_that_is_sent_twice_is_kept_once(console: Console) -> None:
    page = await remember(console, BOB, "My dentist is Dr. Brown.")
    async with console.browser(BOB) as browser:
        await browser.get(page)
        form = {"proof": browser.proof, "key": browser.inputs("key")[0], "number": "1"}
        for said in ("Corrected", "That is remembered already."):  # as by a double click
            assert await browser.post(f"{page}/correct", {**form, "text": "My dentist is Dr. Green."}) == 303
            await browser.get(browser.location)
            assert said in browser.text
    assert await console.store.db.memories.column("text", order="number") == [
        "My dentist is Dr. Brown.",
        "My dentist is Dr. Green.",
    ]


async def test_what_was_not_shown_is_not_forgotten(console: Console) -> None:
    page = await remember(console, BOB, "I am allergic to peanuts.")
    async with console.browser(BOB) as browser:
        assert await press(browser, page, f"{page}/forgotten", {"line": "1. I like cats."}) == 303
        assert "nothing was forgotten" in browser.text
        assert await press(browser, page, f"{page}/forget", {"number": "77"}) == 303
        assert "That is not remembered any more." in browser.text
    assert await console.store.db.memories.count() == 1


@pytest.mark.parametrize("shown", [False, True], ids=["off", "on"])
async def test_an_operator_reads_by_setting_and_changes_nothing(database_url: str, shown: bool) -> None:
    async with opened(database_url) as store, open_console(store, texts=shown) as console:
        page = await remember(console, BOB, "I am allergic to peanuts.")
        async with console.browser(ANN) as browser:
            await browser.get(page)
            assert ("allergic to peanuts" in browser.text) is shown
            assert await press(browser, page, f"{page}/forget", {"number": "1"}) == 404
            assert await press(browser, page, f"{page}/correct", {"number": "1", "text": "I like tea."}) == 404
        looks = await store.column("select distinct what from console_looks")
        assert looks == (["memory"] if shown else [])
        assert await store.one("select count(*) from memories where valid_to is null") == 1
