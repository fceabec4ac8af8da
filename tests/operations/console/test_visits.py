"""Nobody sees the console without a session, and nobody sees what is somebody else's."""

import json
from datetime import timedelta

import pytest
from markupsafe import escape

from core.llm.types import ChatMessage, Role, ToolCall
from operations.console.sign_in import IDLE, MAX_LINKS
from tests.core.harness import Store, opened
from tests.operations.console.asking import take_step
from tests.operations.console.harness import ANN, BOB, Console, open_console


async def test_other_addresses_and_methods_are_refused(console: Console) -> None:
    async with console.browser(ANN) as browser:
        assert [await browser.get(f"/console/{page}") for page in ("", "none", "tasks/")] == [404] * 3
        assert [await browser.post(f"/console/{page}") for page in ("health", "tasks")] == [405] * 2


async def test_a_link_signs_in_once_and_only_by_its_button(console: Console) -> None:
    link = await console.link(ANN)
    async with console.browser() as preview, console.browser() as phone, console.browser() as thief:
        assert await preview.get(link) == await preview.get(link) == 200
        assert await phone.sign_in(link) == 303
        assert await phone.get("/console") == 200
        assert await thief.sign_in(link) == 404
        assert "used already" in thief.text
        assert await thief.get("/console") == 401


async def test_a_link_grows_old_and_guesses_lead_nowhere(console: Console) -> None:
    link = await console.link(ANN)
    console.clock.later = timedelta(minutes=11)
    async with console.browser() as phone:
        assert await phone.sign_in(link) == 404
        for guess in ("A" * 43, "x", "..%2f..", "A" * 4000):
            assert await phone.sign_in(f"/console/sign-in/{guess}") == 404, guess
    tenant = await console.tenant(ANN)
    links = [await console.sign_in.link(tenant, console.clock.now()) for _ in range(MAX_LINKS)]
    assert links[-2] is not None
    assert links[-1] is None, "one was made before"
    stored = str(await console.store.admin.fetch("select * from console_links"))
    assert not any(link.rpartition("/")[2] in stored for link in links if link)


async def test_signing_in_cannot_be_done_by_another_site(console: Console) -> None:
    link = await console.link(ANN)
    async with console.browser() as victim:
        assert await victim.post(link, headers={"Origin": "https://evil.test"}) == 403
        assert await victim.post(link, headers={"Sec-Fetch-Site": "cross-site"}) == 403
        assert await victim.sign_in(link) == 303, "nothing was used up"


async def test_a_session_ends_when_it_is_ended_unused_or_old(console: Console) -> None:
    async with console.browser(ANN) as phone:
        await phone.get("/console")
        proof = phone.proof
        assert await phone.post("/console/sign-out", {"proof": "0" * 64}) == 403
        assert await phone.post("/console/sign-out", {"proof": proof}, {"Origin": "https://evil.test"}) == 403
        assert await phone.get("/console") == 200
        assert await phone.post("/console/sign-out", {"proof": proof}) == 303
        assert await phone.get("/console") == 401
    async with console.browser(ANN) as phone:
        console.clock.later = IDLE - timedelta(minutes=1)
        assert await phone.get("/console") == 200
        console.clock.later += IDLE - timedelta(minutes=1)
        assert await phone.get("/console") == 200
        console.clock.later += IDLE + timedelta(minutes=1)
        assert await phone.get("/console") == 401


async def test_an_owner_who_is_one_no_more_sees_their_own_only(console: Console) -> None:
    async with console.browser(ANN) as phone:
        await phone.get("/console")
        assert len(phone.links("/console/conversations/")) == 2
        await console.store.db.tenants.change({"role": "member"})
        await phone.get("/console")
        assert len(phone.links("/console/conversations/")) == 1
        assert await phone.get("/console/health") == 404


async def test_a_person_sees_nothing_of_anybody_else(console: Console) -> None:
    theirs = await console.store.admin.fetchrow(
        "select t.id as turn, c.id as conversation, c.tenant_id as tenant, i.id as inbound, o.id as outbound"
        " from turns t join conversations c on c.id = t.conversation_id join inbound i on i.turn_id = t.id"
        " join outbound o on o.turn_id = t.id where c.peer = $1",
        ANN,
    )
    assert theirs is not None
    bob = await console.tenant(BOB)
    async with console.browser(BOB) as browser:
        await browser.get("/console")
        assert "What is on today?" not in browser.text
        for address in (
            f"/console/conversations/{theirs['tenant']}/{theirs['conversation']}",
            f"/console/conversations/{bob}/{theirs['conversation']}",
            f"/console/turns/{theirs['turn']}",
            f"/console/turns/{theirs['inbound']}",
            f"/console/turns/{theirs['outbound']}",
            "/console/turns/turn_nobodys",
            "/console/health",
        ):
            assert await browser.get(address) == 404, address
            assert "it is not yours to see" in browser.text, "the same as for what is not there"


@pytest.mark.parametrize("shown", [False, True], ids=["off", "on"])
async def test_an_operator_reads_others_texts_by_setting_only(database_url: str, shown: bool) -> None:
    async with opened(database_url) as store, open_console(store, texts=shown) as console:
        conversation = await _conversation(store, BOB)
        turn = await store.db.turns.one("id", conversation_id=conversation)
        async with console.browser(ANN) as browser:
            await browser.get("/console")
            assert "My secret is tea." not in browser.text, "a list is no look"
            await browser.get(f"/console/conversations/{await console.tenant(BOB)}/{conversation}")
            assert ("My secret is tea." in browser.text) is shown
            await browser.get(f"/console/turns/{turn}")
            assert ("My secret is tea." in browser.text) is shown
        looks = await store.column("select what || ' ' || viewer from console_looks order by at")
        ann = await console.tenant(ANN)
        assert looks == ([f"conversation {ann}", f"turn {ann}"] if shown else [])


async def test_what_people_and_tools_say_and_are_called_is_text_on_every_page(console: Console) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{7*7}}"
    await console.store.say(evil, sender=ANN)
    lease, turn = await console.store.claim_turn()
    asked = ChatMessage(Role.ASSISTANT, "", (ToolCall("c1", "read_file", json.dumps({"name": evil})),)).to_json()
    await take_step(console.store, lease, turn.turn_id, "model", evil, 0, asked)
    await take_step(console.store, lease, turn.turn_id, "tool", evil, 1, {"text": f"result {evil}", "chars": 9})
    await console.store.finish(lease, turn, evil)
    await console.store.db.tenants.change({"name": evil})
    async with console.browser(ANN) as browser:
        await browser.get("/console")
        pages = [browser.page]
        [own] = [link for link in browser.links("/console/conversations/") if await console.tenant(ANN) in link]
        await browser.get(own)
        pages.append(browser.page)
        await browser.get(browser.links("/console/turns/")[-1])
        pages.append(browser.page)
        assert f"result {escape(evil)}" in browser.page
        assert browser.page.count("{{7*7}}") >= 6, (
            "message, answer, name, tool, its result and the file it was asked for"
        )
    for page in pages:
        assert "<img" not in page
        assert page.count("<script") == 1, "our own"
        assert "{{7*7}}" in page


async def test_pages_are_framed_by_nobody_and_load_only_ours(console: Console) -> None:
    async with console.browser(ANN) as browser, browser.session.get(f"{console.url}/console") as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_no_script_and_no_other_site_gets_the_session(console: Console) -> None:
    link = await console.link(ANN)
    async with console.browser() as browser, browser.session.post(link, allow_redirects=False) as answer:
        given = answer.headers["Set-Cookie"]
    assert "HttpOnly" in given
    assert "SameSite=Lax" in given
    assert "Path=/" in given


async def test_dev_needs_no_session_on_this_machine_and_nowhere_else(database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, local=True) as console, console.browser() as here:
        assert await here.get("/console") == 200
        assert await here.get("/console", {"Host": "console.test"}) == 401
        for name in ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host"):
            assert await here.get("/console", {name: "for=10.0.0.9"}) == 401, name
        assert await here.post("/console/sign-out", {"proof": "0"}) == 403


async def _conversation(store: Store, sender: str) -> object:
    return await store.db.conversations.one("id", peer=sender)
