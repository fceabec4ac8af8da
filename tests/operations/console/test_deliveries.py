"""The page of deliveries: why a message did not arrive, sent again or left, what is held, and who said STOP."""

from core.messaging.calls import PartEnd
from core.messaging.messages import DeliveryStatus, OutboundKind, OutboundMessage, StatusUpdate
from core.messaging.states import CallOutcome, SendState
from core.notifications.types import Notification
from operations.console.reading.deliveries import PAGE
from tests.core.harness import ACCOUNT, CHANNEL
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, BOB, Console

REJECTED = PartEnd(SendState.FAILED, CallOutcome.REJECTED, error_code="30003", reason="the phone is off")
SETTLE = "/console/deliveries/settle"


async def fail(console: Console, text: str, sender: str) -> dict[str, str]:
    """Have an answer fail; return the fields of its form."""
    await console.store.enqueue(text, sender=sender)
    claim = await console.store.claim_sending(text)
    await console.store.send(claim, end=REJECTED)
    return {"tenant": claim.tenant_id, "message": claim.outbound_id}


async def lose(console: Console, text: str, sender: str) -> dict[str, str]:
    """Have the provider take an answer and report then that it did not arrive; return the fields of its form."""
    await console.store.enqueue(text, sender=sender)
    claim = await console.store.claim_sending(text)
    await console.store.send(claim)
    ref = await console.store.db.outbound_parts.one("ref", outbound_id=claim.outbound_id)
    await console.store.inbox.accept(
        StatusUpdate(CHANNEL, ACCOUNT, "SM0", str(ref), DeliveryStatus.UNDELIVERED, "30004")
    )
    return {"tenant": claim.tenant_id, "message": claim.outbound_id}


async def press(browser: Browser, fields: dict[str, str], do: str, path: str = SETTLE) -> int:
    """Press a button of the page, and open the page that follows."""
    await browser.get("/console/deliveries")
    status = await browser.post(path, {**fields, "do": do, "proof": browser.proof})
    if status == 303:
        await browser.get(browser.location)
    return status


async def test_a_failed_message_says_why_and_is_sent_again(console: Console) -> None:
    failed = await fail(console, "Your cab is here.", BOB)
    async with console.browser(BOB) as browser:
        await browser.get("/console/deliveries")
        assert "failed" in browser.text
        assert "Your cab is here." in browser.text
        assert "the phone is off (30003)" in browser.text
        assert await press(browser, failed, "resend") == 303
        assert "It is on its way again." in browser.text
        assert "Your cab is here." not in browser.text
    assert await console.store.db.outbound.column("state", resends=failed["message"]) == ["ready"]
    conversation = await console.store.db.outbound.one("conversation_id", id=failed["message"])
    assert console.store.wakeups.deliveries[-1] == conversation
    assert await console.store.column("select what || ' ' || subject from console_actions") == [
        f"resend {failed['message']}"
    ]


async def test_a_message_that_was_taken_and_lost_is_listed_and_sent_again(console: Console) -> None:
    lost = await lose(console, "Your cab is here.", BOB)
    for who in (BOB, ANN):
        async with console.browser(who) as browser:
            for page in ("/console/deliveries", "/console/deliveries?state=undelivered"):
                await browser.get(page)
                assert "not delivered" in browser.text
                assert "its provider took it, and reported that it did not arrive (30004)" in browser.text
                assert "Deliveries , open: 1" in browser.text
            await browser.get("/console/deliveries?state=failed")
            assert "30004" not in browser.text
    async with console.browser(BOB) as browser:
        assert await press(browser, lost, "resend") == 303
        assert "It is on its way again." in browser.text
        assert "Your cab is here." not in browser.text
    assert await console.store.db.outbound.column("state", resends=lost["message"]) == ["ready"]


async def test_an_operator_sees_whose_it_is_but_no_text(console: Console) -> None:
    failed = await fail(console, "Your cab is here.", BOB)
    async with console.browser(ANN) as browser:
        await browser.get("/console/deliveries")
        assert "the phone is off" in browser.text
        assert "Your cab is here." not in browser.text
        assert await press(browser, failed, "drop") == 303
        assert "It is not sent again." in browser.text
        assert "the phone is off" not in browser.text
    action = await console.store.admin.fetchrow("select tenant_id, viewer from console_actions where what = 'drop'")
    assert action is not None
    assert dict(action) == {"tenant_id": failed["tenant"], "viewer": await console.tenant(ANN)}


async def test_nobody_settles_what_is_not_theirs_or_without_a_proof(console: Console) -> None:
    failed = await fail(console, "Your cab is here.", ANN)
    async with console.browser(BOB) as browser:
        await browser.get("/console/deliveries")
        assert "the phone is off" not in browser.text
        assert await press(browser, failed, "resend") == 404
        assert await press(browser, failed | {"tenant": await console.tenant(BOB)}, "resend") == 303
        assert "There is no such message any more." in browser.text
        assert await browser.post(SETTLE, {**failed, "do": "resend", "proof": "0" * 64}) == 403
    async with console.browser() as stranger:
        assert await stranger.post(SETTLE, {**failed, "do": "resend"}) == 401
    assert await console.store.one("select count(*) from outbound where resends <> ''") == 0
    assert await console.store.db.console_actions.count() == 0


async def test_after_a_stop_nothing_goes_and_the_ledger_has_it(console: Console) -> None:
    failed = await fail(console, "Your cab is here.", BOB)
    await console.store.reach(BOB, False, "SM_stop")
    async with console.browser(ANN) as browser:
        assert await press(browser, failed, "resend") == 303
        assert "this person said STOP" in browser.text
        await browser.get("/console/deliveries/stops")
        assert "stopped SMS …0002" in browser.text
        assert BOB not in browser.page
    async with console.browser(BOB) as browser:
        await browser.get("/console/deliveries/stops")
        assert "stopped SMS …0002" in browser.text
    await console.store.db.identities.change({"state": "stopped"}, user_key=ANN)
    async with console.browser(BOB) as browser:
        await browser.get("/console/deliveries/stops")
        assert "…0001" not in browser.text


async def test_what_quiet_hours_hold_is_let_go_or_left_out(console: Console) -> None:
    tenant = await console.tenant(BOB)
    conversation = str(await console.store.db.conversations.one("id", peer=BOB))
    held = OutboundMessage("out_held", OutboundKind.CARD, "Send the mail?")
    await console.store.enqueue_in(tenant, conversation, [held], held=True)
    await console.store.db.tenants.change({"quiet_from": "22:00", "quiet_until": "07:00"})
    await hold_news(console, tenant, Notification("Cheaper flights", "price"))
    async with console.browser(BOB) as browser:
        await browser.get("/console/deliveries?state=held")
        assert "quiet hours (22:00-07:00)" in browser.text
        assert "Cheaper flights" in browser.text
        fields = {"tenant": tenant, "message": "out_held"}
        assert await press(browser, fields, "release") == 303
        assert "It is on its way, quiet hours or not." in browser.text
        assert await console.store.db.outbound.one("state", id="out_held") == "ready"
        news = {"tenant": tenant, "notification": "ntf_held"}
        assert await press(browser, news, "", "/console/deliveries/mute") == 303
        assert "Cheaper flights" not in browser.text
    assert await console.store.db.notifications.one("state", id="ntf_held") == "muted"


async def test_the_list_of_failures_goes_on_where_it_ended(console: Console) -> None:
    for number in range(PAGE + 2):
        await fail(console, f"failure number {number}.", BOB)
    async with console.browser(BOB) as browser:
        await browser.get("/console/deliveries?state=failed")
        assert browser.text.count("failure number") == PAGE
        [following] = browser.links("after=")
        await browser.get(following)
        assert browser.text.count("failure number") == 2
        assert await browser.get("/console/deliveries?after=nonsense~x&state=%3Cb%3E") == 200


async def hold_news(console: Console, tenant: str, notification: Notification) -> None:
    """Hold news for a person's next digest."""
    await console.store.admin.execute(
        "insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at, not_before)"
        " values ($1, 'ntf_held', $2, 'normal', $3, 'k', 'held', now(), now() + interval '1 hour')",
        tenant,
        notification.category,
        notification.text,
    )
