"""On every channel: what was done in a person's name has one receipt, with the consent behind it and its end."""

import hashlib
import io
import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from abilities.receipts.receipts_file import verify
from abilities.receipts.tools import list_receipts
from abilities.receipts.types import ReceiptOutcome
from core.approvals.exact_replies import Verb
from core.json_types import JsonObject
from tests.abilities.receipts.acting import MAIL, file_bytes, only, open_acting, receipts_of, tenant_of
from tests.contract.approving import Approving
from tests.contract.email_harness import also_by_mail
from tests.contract.test_standing_consent import POST, grants, posts
from tests.contract.test_undo import fold_quotes
from tests.core.builders import says, wants


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a person whose assistant acts for them."""
    async with open_acting(channel, database_url) as system:
        yield system


async def asks(system: Approving, tool: str, arguments: dict[str, str]) -> None:
    """Let the person ask for a call."""
    system.clock.move(timedelta(seconds=1))
    system.model.script[:] = [wants((tool, dict(arguments))), says("Done.")]
    await system.say(f"please {tool}")


async def told(system: Approving) -> str:
    """Return the answer to the word."""
    await system.say("receipts 30 days")
    return fold_quotes(system.last())


@also_by_mail
async def test_an_approved_call_has_one_receipt_with_the_card_as_shown(system: Approving) -> None:
    await asks(system, "send_mail", MAIL)
    shown, code = system.card().text, await system.code()
    assert await receipts_of(system) == [], "nothing was done yet"
    await system.decide("Approve")
    (receipt,) = await receipts_of(system)
    card = receipt.card
    assert (receipt.tool, receipt.outcome, receipt.effect) == ("send_mail", ReceiptOutcome.DONE, "once")
    assert card is not None
    assert (card.code, card.how) == (code, "button" if system.delivery.channel.has_buttons else "code")
    assert card.decided_on == receipt.asked_on == system.delivery.channel.name
    assert card.by, "who decided is named"
    assert "Lunch" in card.text
    assert "Lunch" in shown
    assert "stays open" not in card.text, "how to answer is no part of what was agreed to"
    assert hashlib.sha256(card.sealed.encode()).hexdigest() == card.hash
    assert json.loads(card.sealed)["arguments"]["subject"] == "Lunch"
    assert receipt.answer == "Sent to bo@example.com."
    answer = await told(system)
    assert "1 thing was done in your name" in answer
    assert "approved by you with" in answer
    assert receipt.number in answer
    assert verify(io.BytesIO(await file_bytes(system))).receipts == 1


async def test_a_standing_consent_is_named_with_its_use(system: Approving) -> None:
    await grants(system)
    await posts(system, POST)
    receipts = await receipts_of(system)
    posted = only(receipts, "post_update")
    assert posted.card is None
    assert posted.consent is not None
    assert (posted.consent.number, posted.consent.use) == (1, 1)
    assert hashlib.sha256(posted.consent.sealed.encode()).hexdigest() == posted.consent.hash
    assert json.loads(posted.asked) == POST, "without a card, what was asked for is told"
    granted = only(receipts, "AllowWithoutAskingAgent")
    assert granted.card is not None, "the consent itself was given by a card"
    assert "by your consent 1, use 1, without a card" in await told(system)
    assert verify(io.BytesIO(await file_bytes(system))).without_card == 1


async def test_what_needs_no_approval_is_told_as_such_and_reading_not_at_all(system: Approving) -> None:
    for name, arguments in (("jot", {"text": "milk"}), ("ring", {"bell": "door"}), ("look", {})):
        await asks(system, name, arguments)
    receipts = await receipts_of(system)
    assert [(one.tool, one.effect, one.card, one.consent) for one in receipts] == [
        ("jot", "idempotent", None, None),
        ("ring", "once", None, None),
    ]
    assert (await told(system)).count("this needs no approval") == 2


async def test_an_unknown_outcome_is_told_and_a_repeat_has_its_own_receipt(system: Approving) -> None:
    await asks(system, "launch", {"what": "kite"})
    await system.decide("Approve")
    (receipt,) = await receipts_of(system)
    assert (receipt.outcome, receipt.card is not None) == (ReceiptOutcome.UNKNOWN, True)
    assert "It is not known whether it took effect." in await told(system)
    await asks(system, "launch", {"what": "kite"})
    await system.decide("Approve")
    assert len(system.sent) == len(await receipts_of(system)) == 2


async def test_what_was_declined_or_expired_has_no_receipt(system: Approving) -> None:
    await asks(system, "send_mail", MAIL)
    await system.decide("Cancel")
    await asks(system, "send_mail", MAIL)
    system.clock.move(timedelta(hours=1))
    await system.work()
    assert system.sent == []
    assert await receipts_of(system) == []
    assert "Nothing was done in your name" in await told(system)


async def test_after_an_edit_the_receipt_has_the_card_that_was_approved(system: Approving) -> None:
    await asks(system, "send_mail", MAIL)
    store, tenant = system.delivery.store, await tenant_of(system)
    approval = str(await store.one("select id from approvals where state = 'pending'"))
    changes: JsonObject = {"subject": "Dinner"}
    await system.approvals.decide(
        tenant,
        approval,
        Verb.EDIT,
        how="console",
        channel="console",
        now=system.clock.now(),
        said_in="con_1",
        changes=changes,
    )
    await system.work()
    await system.decide("Approve")
    (receipt,) = await receipts_of(system)
    assert receipt.card is not None
    assert receipt.card.approval != approval
    assert json.loads(receipt.card.sealed)["arguments"]["subject"] == system.sent[0]["subject"] == "Dinner"
    assert verify(io.BytesIO(await file_bytes(system))).receipts == 1


async def test_an_agents_run_has_the_receipt_and_its_call_none(system: Approving) -> None:
    await asks(system, "BookAgent", {"place": "Luigi"})
    await system.decide("Approve")
    (receipt,) = await receipts_of(system)
    assert (receipt.tool, receipt.told["kind"], receipt.answer) == ("BookAgent", "agent", "Booked at Luigi.")
    assert receipt.card is not None
    assert json.loads(receipt.card.sealed)["arguments"] == json.loads(receipt.asked) == {"place": "Luigi"}
    assert verify(io.BytesIO(await file_bytes(system))).receipts == 1


async def test_the_word_with_other_words_is_a_text_for_the_assistant(system: Approving) -> None:
    system.model.script[:] = [says("You mean those of the shop?")]
    await system.say("receipts please")
    assert fold_quotes(system.last()) == "You mean those of the shop?"


async def test_the_assistant_answers_for_itself_from_the_record(system: Approving) -> None:
    system.more = [*system.more, list_receipts]
    await asks(system, "ring", {"bell": "door"})
    asked: JsonObject = {"first_day": "2020-01-01", "last_day": "2040-12-31"}
    system.model.script[:] = [wants(("list_receipts", asked)), says("I rang the door.")]
    await system.say("what did you do in my name?")
    result = system.model.told()[-1]
    for part in ('"in_all": 1', '"tool": "ring"', "none: this tool needs no approval", "Rang door."):
        assert part in result
    system.model.script[:] = [wants(("list_receipts", asked | {"last_day": "2019-01-01"})), says("Never.")]
    await system.say("and before?")
    assert "not before the first" in system.model.told()[-1]
