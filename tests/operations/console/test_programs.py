"""Programs that ask by a token, in the console: made once, shown once, revoked."""

import re

from core.ids import make_id
from operations.console.pages.people import PLACE
from operations.programs.tokens import ClientTokens
from tests.operations.console.harness import ANN, BOB, TOKEN_KEY, Console

_TOKEN = re.compile(r"ovt_[\w-]{43}")


def _tokens(console: Console) -> ClientTokens:
    return ClientTokens(console.store.database, make_id, [TOKEN_KEY])


async def test_a_token_is_shown_once_and_lets_a_program_in_until_it_is_revoked(console: Console) -> None:
    bob, tokens = await console.tenant(BOB), _tokens(console)
    async with console.browser(BOB) as browser:
        await browser.get(f"{PLACE}/{bob}")
        form = {"name": "laptop <b>", **browser.form}
        assert await browser.post(f"{PLACE}/{bob}/programs", form) == 200
        (secret,) = set(_TOKEN.findall(browser.page))
        assert "laptop &lt;b&gt;" in browser.page
        await browser.post(f"{PLACE}/{bob}/programs", form)
        assert not _TOKEN.search(browser.page), "sent twice, it is made once"
        client = await tokens.client(secret, console.clock.now())
        assert client is not None
        assert (client.tenant_id, client.name) == (bob, "laptop <b>")
        await browser.get(f"{PLACE}/{bob}")
        assert "1. laptop <b>" in browser.text
        assert "MCP, laptop <b>" in browser.text
        assert secret not in browser.page
        await browser.post(f"{PLACE}/{bob}/programs/revoke", {"number": "1", "proof": browser.proof})
    assert await tokens.client(secret, console.clock.now()) is None
    assert await tokens.list(bob, console.clock.now()) == []


async def test_a_key_that_another_person_used_makes_a_token_all_the_same(console: Console) -> None:
    for sender in (ANN, BOB):
        place = f"{PLACE}/{await console.tenant(sender)}"
        async with console.browser(sender) as browser:
            await browser.get(place)
            form = {"name": "laptop", "proof": browser.proof, "key": "con_of_both"}
            assert await browser.post(f"{place}/programs", form) == 200
            assert _TOKEN.search(browser.page)


async def test_an_operator_makes_no_token_for_another_person_but_revokes_one(console: Console) -> None:
    bob, tokens, now = await console.tenant(BOB), _tokens(console), console.clock.now()
    await tokens.make(bob, "laptop", now, None)
    async with console.browser(ANN) as browser:
        await browser.get(f"{PLACE}/{bob}")
        assert await browser.post(f"{PLACE}/{bob}/programs", {"name": "spy", "proof": browser.proof}) == 404
        await browser.get(f"{PLACE}/{bob}")
        assert [token.name for token in await tokens.list(bob, now)] == ["laptop"]
        await browser.post(f"{PLACE}/{bob}/programs/revoke", {"number": "1", "proof": browser.proof})
    assert await tokens.list(bob, now) == []


async def test_a_link_of_the_chat_leads_to_the_programs_and_nowhere_else(console: Console) -> None:
    bob = await console.tenant(BOB)
    async with console.browser() as browser:
        assert await browser.sign_in(f"{await console.link(BOB)}?to=programs&name=lap%20top&x=1") == 303
        assert browser.location == f"{PLACE}/{bob}?to=programs&name=lap+top#programs"
        await browser.get(browser.location)
        assert 'name="name" required maxlength="60" value="lap top"' in browser.page
    async with console.browser() as browser:
        assert await browser.sign_in(f"{await console.link(BOB)}?to=https://evil.example") == 303
        assert browser.location == "/console"
