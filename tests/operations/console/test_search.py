"""Finding messages in the console: whose are shown to whom, safely, and each look of an operator is recorded."""

from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console


async def test_a_person_finds_their_own_words_only(console: Console) -> None:
    async with console.browser(BOB) as browser:
        await browser.get("/console/search?q=secret")
        assert "My <mark>secret</mark> is tea." in browser.page
        [turn] = browser.links("/console/turns/")
        assert await browser.get(turn) == 200
        await browser.get("/console/search?q=dentist")
        assert "No message contains all of these words." in browser.text
        await browser.get("/console/search")
        assert "Write one or more words." in browser.text


async def test_an_operator_finds_nothing_of_others_by_default(console: Console) -> None:
    async with console.browser(ANN) as browser:
        await browser.get("/console/search?q=secret")
        assert "No message contains all of these words." in browser.text
        assert "Only your own messages are searched." in browser.text
        await browser.get("/console/search?q=dentist")
        assert "The <mark>dentist</mark>." in browser.page
    assert await console.store.db.console_looks.count() == 0


async def test_an_operators_look_at_what_was_found_is_recorded(database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, texts=True) as console:
        async with console.browser(ANN) as browser:
            await browser.get("/console/search?q=secret")
            assert "My <mark>secret</mark> is tea." in browser.page
            await browser.get("/console/search?q=dentist")
            assert "The <mark>dentist</mark>." in browser.page
        looks = await store.admin.fetch("select tenant_id, viewer, what from console_looks")
        assert [tuple(look) for look in looks] == [(await console.tenant(BOB), await console.tenant(ANN), "search")]


async def test_what_is_searched_and_found_is_escaped(console: Console) -> None:
    attack = "<script>alert(1)</script> boiler"
    await console.store.say(attack, sender=BOB)
    lease, turn = await console.store.claim_turn()
    await console.store.finish(lease, turn)
    async with console.browser(BOB) as browser:
        assert await browser.get('/console/search?q=boiler+"%3Cscript%3Ealert(1)"') == 200
        assert "<script>alert" not in browser.page
        await browser.get("/console/search?q=boiler")
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in browser.page
        assert await browser.get("/console/search?q=%ff&after=nonsense~x") == 200
        assert await browser.get("/console/search?q=%00") == 400


async def test_nobody_searches_without_a_session(console: Console) -> None:
    async with console.browser() as browser:
        for path in ("/console/search?q=secret", "/console/cost"):
            assert await browser.get(path) == 401
            assert "My secret" not in browser.page
