"""Waiting for somebody: a card is decided here as in a chat, by whom it may be, and every action is written down."""

from datetime import timedelta

import pytest

from core.approvals.store import REMIND_GAP
from tests.core.harness import opened
from tests.operations.console.asking import ask, question
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, BOB, Console, open_console

HERE = "/console/waiting"


async def test_a_person_decides_on_the_exact_card_and_it_is_redrawn(console: Console) -> None:
    approval = await ask(console, BOB)
    async with console.browser(BOB) as phone:
        await phone.get(HERE)
        assert "send letter" in phone.text
        assert "waits for a decision" in phone.text
        [page] = phone.links("/approvals/")
        await phone.get(page)
        assert "To: carol@example.org Text: See you at noon." in phone.text
        assert "Reply OK" not in phone.text, "how to answer in a chat"
        assert await phone.post(f"{page}/approve", phone.form) == 303
        await phone.get(f"{HERE}?said=approved")
        assert "Nothing is waiting." in phone.text
    assert await _state(console, approval) == ("approved", "console", "console")
    assert await console.store.db.redraws.column("outcome") == ["approved"]
    assert await console.store.db.turns.one("ready", state="waiting"), "its turn goes on"
    bob = await console.tenant(BOB)
    assert await _actions(console) == [(bob, bob, "approve approval", approval)]


async def test_a_card_is_decided_once_however_often_it_is_sent(console: Console) -> None:
    approval = await ask(console, BOB)
    async with console.browser(BOB) as phone:
        page = await _opened(console, phone, BOB, approval)
        form = phone.form
        assert [await phone.post(f"{page}/cancel", form) for _ in range(2)] == [303, 303]
        assert await phone.post(f"{page}/approve", form) == 303
        await phone.get(f"{page}?said=not-decided")
        assert "That was decided already" in phone.text
    assert (await _state(console, approval))[0] == "cancelled"
    decided = await console.store.one("select count(*) from approval_audit where what in ('approved', 'cancelled')")
    assert decided == 1


async def test_nobody_decides_for_another_or_without_the_forms_proof(console: Console) -> None:
    approval = await ask(console, ANN)
    async with console.browser(BOB) as thief, console.browser(ANN) as owner, console.browser() as stranger:
        await _opened(console, owner, ANN, approval)
        own = owner.form
        page = f"{HERE}/approvals/{await console.tenant(ANN)}/{approval}"
        forged = f"{HERE}/approvals/{await console.tenant(BOB)}/{approval}"
        await thief.get("/console")
        for action in ("approve", "cancel", "edit", "remind"):
            for address in (page, forged):
                assert await thief.post(f"{address}/{action}", {"proof": thief.proof, "code": "7K"}) == 404, action
            assert await stranger.post(f"{page}/{action}", {"proof": thief.proof}) == 401, action
            assert await owner.post(f"{page}/{action}", {"proof": thief.proof}) == 403, action
            assert await owner.post(f"{page}/{action}", own, {"Origin": "https://evil.test"}) == 403, action
        assert await thief.get(page) == await thief.get(forged) == 404
    assert (await _state(console, approval))[0] == "pending"
    assert await _actions(console) == []


async def test_high_risk_is_approved_by_its_code_only(console: Console) -> None:
    approval = await ask(console, BOB, high=True)
    async with console.browser(BOB) as phone:
        page = await _opened(console, phone, BOB, approval)
        for wrong in ("", "7", "8K"):
            assert await phone.post(f"{page}/approve", phone.form | {"code": wrong}) == 422, wrong
        assert "High risk is approved by its code" in phone.text
        assert (await _state(console, approval))[0] == "pending"
        assert await phone.post(f"{page}/approve", phone.form | {"code": " 7k "}) == 303
    assert (await _state(console, approval))[0] == "approved"


@pytest.mark.parametrize("shown", [False, True], ids=["off", "on"])
async def test_an_operator_approves_only_what_they_may_read(database_url: str, shown: bool) -> None:
    async with opened(database_url) as store, open_console(store, texts=shown) as console:
        approval = await ask(console, BOB)
        async with console.browser(ANN) as owner:
            await owner.get(HERE)
            assert "send letter" not in owner.text, "a list is no look"
            page = await _opened(console, owner, BOB, approval)
            assert ("carol@example.org" in owner.text) is shown
            form = owner.form
            assert await owner.post(f"{page}/approve", form) == (303 if shown else 404)
            await owner.post(f"{page}/cancel", form)
        state = "approved" if shown else "cancelled"
        assert await _state(console, approval) == (state, "operator", "operator")
        assert (await _actions(console))[0][:2] == (await console.tenant(BOB), await console.tenant(ANN))
        assert bool(await store.db.console_looks.column("what")) is shown


async def test_changes_are_asked_for_by_the_person_alone(console: Console) -> None:
    approval = await ask(console, BOB)
    async with console.browser(BOB) as phone, console.browser(ANN) as owner:
        page = await _opened(console, owner, BOB, approval)
        assert await owner.post(f"{page}/edit", {"proof": owner.proof, "field.text": "Never."}) == 404
        await _opened(console, phone, BOB, approval)
        form = phone.form | {"field.to": "carol@example.org", "field.text": " "}
        assert await phone.post(f"{page}/edit", form) == 422
        assert "This is required." in phone.text
        assert await phone.post(f"{page}/edit", form | {"field.text": "At one.", "field.evil": "x"}) == 303
    assert (await _state(console, approval))[0] == "replaced"
    proposed = await console.store.one("select proposed #>> '{changes}' from approvals")
    assert proposed == '{"to": "carol@example.org", "text": "At one."}'


async def test_a_reminder_is_sent_once_in_a_while(console: Console) -> None:
    approval = await ask(console, BOB)
    reminders = "select count(*) from outbound where kind = 'notification'"
    async with console.browser(ANN) as owner:
        page = await _opened(console, owner, BOB, approval)
        assert await owner.post(f"{page}/remind", owner.form) == 303
        await _opened(console, owner, BOB, approval)
        await owner.post(f"{page}/remind", owner.form)
        assert await console.store.one(reminders) == 1
        console.clock.later = REMIND_GAP + timedelta(minutes=1)
        await _opened(console, owner, BOB, approval)
        await owner.post(f"{page}/remind", owner.form)
        assert await console.store.one(reminders) == 2


async def test_an_agent_that_asked_is_paused_asked_again_and_dropped(console: Console) -> None:
    agent = await question(console, BOB)
    status = "select status from pool_entries"
    async with console.browser(BOB) as phone:
        await phone.get(HERE)
        assert "Who should get it? waits for an answer" in phone.text
        address = f"{HERE}/agents/{await console.tenant(BOB)}/{agent}"
        proof = {"proof": phone.proof}
        await phone.post(f"{address}/pause", proof)
        assert await console.store.one(status) == "PAUSED"
        await phone.get(HERE)
        assert "waits for nothing: it is paused" in phone.text
        await phone.post(f"{address}/ask", proof)
        assert await console.store.one("select context ->> 'question' from pool_entries") is None, "it asks anew"
        await phone.post(f"{address}/drop", proof)
        assert await console.store.one(status) == "CANCELLED"
        await phone.post(f"{address}/drop", proof)
        assert await phone.post(f"{address}/burn", proof) == 404
    assert [row[2] for row in await _actions(console)] == ["pause agent", "ask agent", "drop agent"]


async def test_an_operator_sees_what_waits_for_everybody_the_oldest_first(console: Console) -> None:
    await question(console, BOB, "My secret question?")
    await ask(console, ANN)
    async with console.browser(ANN) as owner, console.browser(BOB) as phone:
        await owner.get(HERE)
        assert owner.text.index("LetterAgent") < owner.text.index("send letter")
        assert "My secret question?" not in owner.text
        await phone.get(HERE)
        assert "My secret question?" in phone.text
        assert "send letter" not in phone.text
        for wrong in ("x", "2026-13-01~a", "~"):
            assert await owner.get(f"{HERE}?after={wrong}&said=nonsense") == 200, wrong


async def test_a_cards_words_are_text_on_its_page(console: Console) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}"
    approval = await ask(console, BOB, summary=evil)
    async with console.browser(BOB) as phone:
        for address in (HERE, f"{HERE}/approvals/{await console.tenant(BOB)}/{approval}"):
            await phone.get(address)
            assert "<img" not in phone.page, address
            assert phone.page.count("<script") == 1, "our own"
            assert "{{7*7}}" in phone.page, address


async def _opened(console: Console, browser: Browser, sender: str, approval: str) -> str:
    page = f"{HERE}/approvals/{await console.tenant(sender)}/{approval}"
    assert await browser.get(page) == 200
    return page


async def _state(console: Console, approval: str) -> tuple[object, ...]:
    row = await console.store.admin.fetchrow(
        "select state, decided_how, decided_channel from approvals where id = $1", approval
    )
    assert row is not None
    return tuple(row)


async def _actions(console: Console) -> list[tuple[object, ...]]:
    rows = await console.store.admin.fetch(
        "select tenant_id, viewer, what, subject from console_actions order by at, id"
    )
    return [tuple(row) for row in rows]
