"""A link code typed in the console: asked about there, agreed to by its typer alone, and only with the code again."""

from datetime import timedelta

import pytest

from core.people.link_codes import MAX_GUESSES_PER_SENDER
from onevalet.wiring.people import build_linking
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, BOB, Console
from tests.operations.console.test_people import press

QUESTION = "Link yourself with this person?"


async def give_code(console: Console, sender: str) -> str:
    """Return a link code of a person, as `LINK` in their chat gives one."""
    tenant = await console.tenant(sender)
    turn = str(await console.store.one("select id from turns where tenant_id = $1 limit 1", tenant))
    code = await build_linking(console.store.database, console.credentials, console.clock).give_code(
        tenant, turn, console.clock.now()
    )
    assert code is not None
    return code


async def type_code(console: Console, browser: Browser, code: str, step: str = "link", **fields: str) -> int:
    """Send one of the two forms of the typer's page."""
    page = f"/console/people/{await console.tenant(BOB)}"
    return await press(browser, page, f"{page}/{step}", {"code": code, **fields})


async def people(console: Console) -> int:
    return await console.store.db.tenants.count()


async def test_a_code_is_asked_about_agreed_to_and_links_once(console: Console) -> None:
    code, bob = await give_code(console, ANN), await console.tenant(BOB)
    async with console.browser(BOB) as browser, console.browser(ANN) as ann:
        assert await type_code(console, browser, f"LINK {code}") == 200
        for said in (QUESTION, "SMS +1•••••0001", "1 message there, 1 message here", "stop here"):
            assert said in browser.text
        assert await people(console) == 2, "a question links nobody"
        agreed = {**browser.form, "code": code}
        for _ in range(2):  # as by a double click
            assert await browser.post(f"/console/people/{bob}/link/agree", agreed) == 303
            await browser.get(browser.location)
            assert "Linked. Every chat of both is told" in browser.text
        assert await ann.get("/console") == 401, "the session of the person who went is over"
    rows = await console.store.admin.fetch("select tenant_id, role from tenants")
    assert [tuple(row) for row in rows] == [(bob, "member")], "nobody's role is raised"
    assert await console.store.column("select distinct tenant_id from identities") == [bob]
    assert await console.store.one("select count(*) from outbound where text like '%now reads and acts for you%'") == 2
    audit = await console.store.admin.fetch("select channel, other <> '' from person_audit where what = 'merged'")
    assert [tuple(row) for row in audit] == [("console", True)]
    done = "select what from console_actions where tenant_id = $1 order by at, id"
    assert await console.store.column(done, bob) == ["type link code", "agree to link", "agree to link"]


async def test_to_agree_takes_the_question_and_the_code_again(console: Console) -> None:
    code = await give_code(console, ANN)
    async with console.browser(BOB) as browser:
        assert await type_code(console, browser, code, "link/agree") == 200
        assert QUESTION in browser.text, "agreed to before it was asked"
        asked = browser.form["key"]
        assert await type_code(console, browser, "", "link/agree", key=asked) == 303
        assert "That code does not work." in browser.text
    assert await people(console) == 2


async def test_a_form_that_asked_is_no_answer_to_its_question(console: Console) -> None:
    code = await give_code(console, ANN)
    async with console.browser(BOB) as browser:
        for step in ("link", "link/agree"):
            assert await type_code(console, browser, code, step, key="con_same") == 200
            assert QUESTION in browser.text
    assert await people(console) == 2


async def test_who_was_asked_in_a_chat_is_asked_again_here(console: Console) -> None:
    code = await give_code(console, ANN)
    asked = "update link_codes set asked_channel = 'sms', asked_account = '+15550009999', asked_user_key = $1"
    for sender, shows in ((ANN, False), (BOB, True)):
        await console.store.admin.execute(asked, sender)
        async with console.browser(BOB) as browser:
            await browser.get(f"/console/people/{await console.tenant(BOB)}")
            assert ("A code that you typed in SMS waits for your answer" in browser.text) is shows
            await console.store.db.link_codes.change({"asked_by": "turn_1"})
            assert await type_code(console, browser, code, "link/agree") == 200
            assert QUESTION in browser.text
    assert await people(console) == 2


@pytest.mark.parametrize("gone", ["expired", "withdrawn", "replaced", "own"])
async def test_a_code_that_is_not_good_links_nobody(console: Console, gone: str) -> None:
    code = await give_code(console, BOB if gone == "own" else ANN)
    if gone == "withdrawn":
        page = f"/console/people/{await console.tenant(ANN)}"
        async with console.browser(ANN) as browser:
            assert await press(browser, page, f"{page}/link/withdraw", {}) == 303
    elif gone == "replaced":
        await give_code(console, ANN)
    elif gone == "expired":
        console.clock.later = timedelta(minutes=11)
    async with console.browser(BOB) as browser:
        for step in ("link", "link/agree"):
            assert await type_code(console, browser, code, step) == 303
            assert ("This code is your own" if gone == "own" else "This code has run out.") in browser.text
    assert await people(console) == 2


async def test_wrong_codes_count_and_then_no_code_works(console: Console) -> None:
    code = await give_code(console, ANN)
    async with console.browser(BOB) as browser:
        for number in range(MAX_GUESSES_PER_SENDER):
            assert await type_code(console, browser, f"ABC-234-DE{number}") == 303
            assert "That code does not work." in browser.text
        for step in ("link", "link/agree"):
            assert await type_code(console, browser, code, step) == 303
            assert "Too many wrong codes" in browser.text
    assert await people(console) == 2
    async with console.browser(ANN) as ann:
        await give_code(console, BOB)
        page = f"/console/people/{await console.tenant(ANN)}"
        assert await press(ann, page, f"{page}/link", {"code": "ABC-234-DEF"}) == 303
        assert "That code does not work." in ann.text, "somebody else's guesses lock nobody"


async def test_an_operator_neither_types_nor_agrees_for_others(console: Console) -> None:
    code = await give_code(console, ANN)
    page = f"/console/people/{await console.tenant(BOB)}"
    async with console.browser(ANN) as operator:
        await operator.get(page)
        assert "Link another chat" not in operator.text
        for step in ("link", "link/agree"):
            assert await press(operator, page, f"{page}/{step}", {"code": code}) == 404
    assert await people(console) == 2
    assert await console.store.db.console_actions.count() == 0
