"""Words over SMS, whose sender can be forged: what a bare word decides, and what codes may be tried."""

import re
from collections.abc import AsyncIterator

import pytest

from core.json_types import Json, JsonObject
from core.llm.types import ModelAnswer
from onevalet.settings import Settings
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "At noon?"}
OTHER: JsonObject = {**MAIL, "to": "bob@example.com"}


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield an system that takes bare words, as it does unless told otherwise."""
    async with open_approving(
        SmsHarness, database_url, StandingClock(), codes_only=Settings(_env_file=None).codes_only
    ) as opened:
        yield opened


@pytest.fixture
async def strict(database_url: str) -> AsyncIterator[Approving]:
    """Yield an system with ONEVALET_SMS_BARE_OK=off."""
    settings = Settings(_env_file=None, onevalet_sms_bare_ok="off")
    async with open_approving(SmsHarness, database_url, StandingClock(), codes_only=settings.codes_only) as opened:
        yield opened


async def test_ok_from_the_persons_number_approves_the_card_shown_last(system: Approving) -> None:
    """Whoever typed it: Twilio's signature proves that Twilio sent it."""
    system.model.script = [wants(("send_mail", MAIL)), says("I sent it.")]
    await system.say("mail sam about lunch")
    await system.say("ok")
    assert (system.sent, await system.states()) == ([MAIL], ["approved"])


@pytest.mark.parametrize("word", ["ok", "No.", "OK ALL"])
async def test_without_bare_words_the_code_is_asked_for_and_then_decides(strict: Approving, word: str) -> None:
    strict.model.script = [wants(("send_mail", MAIL)), says("I sent it.")]
    await strict.say("mail sam about lunch")
    code = await strict.code()
    assert re.search(rf"Reply OK {code} to approve, NO {code} to cancel", strict.card().text)
    await strict.say(word)
    assert strict.last().startswith(f"Please write OK {code} to approve or NO {code} to cancel: ")
    assert (strict.sent, await strict.states(), len(strict.model.script)) == ([], ["pending"], 1), "no model was asked"
    await strict.say(f"ok {code}")
    assert (strict.sent, strict.last()) == ([MAIL], "I sent it.")


async def test_without_bare_words_all_codes_that_wait_are_named(strict: Approving) -> None:
    strict.model.script = [wants(("send_mail", MAIL), ("send_mail", OTHER))]
    await strict.say("mail both")
    await strict.say("ok")
    codes = await strict.delivery.store.db.approvals.column("code")
    assert sorted(re.findall(r"Please write OK (\w+) ", strict.last())) == sorted(map(str, codes))
    assert await strict.states() == ["pending", "pending"]


async def test_without_bare_words_the_model_relays_edits_but_no_decisions(
    strict: Approving,
) -> None:
    def hand_on(decision: str, **changes: Json) -> ModelAnswer:
        return wants(("decide_approvals", {"decisions": [{"code": code, "decision": decision, "changes": changes}]}))

    strict.model.script = [wants(("send_mail", MAIL))]
    await strict.say("mail sam about lunch")
    code = await strict.code()
    for words, decision in (("yes, send it", "approve"), (f"approve {code}", "approve"), ("forget it", "cancel")):
        strict.model.script = [hand_on(decision), says("Please write the code.")]
        await strict.say(words)
        assert (strict.sent, await strict.states()) == ([], ["pending"])
        assert f"ask the person to write OK {code} or NO {code}" in strict.model.told()[-1]
    strict.model.script = [hand_on("edit", subject="Dinner"), says("Sent.")]
    await strict.say("make it dinner")
    assert "Lunch -> Dinner" in strict.card().text
    await strict.say(f"ok {await strict.code()}")
    assert strict.sent == [{**MAIL, "subject": "Dinner"}]


async def test_without_bare_words_ok_is_an_ordinary_word_where_nothing_waits(strict: Approving) -> None:
    strict.model.script = [says("Hello."), says("Fine.")]
    await strict.say("hello")
    await strict.say("ok")
    assert strict.last() == "Fine."


async def test_after_five_codes_that_fit_nothing_no_code_decides_for_an_hour(system: Approving) -> None:
    system.model.script = [wants(("send_mail", MAIL)), says("There is none.")]
    await system.say("mail sam about lunch")
    code = await system.code()
    await system.say("ok but why")
    for wrong in [guess for guess in ("2A", "3B", "4C", "5D", "6E", "7F") if guess != code][:5]:
        await system.say(f"OK {wrong}")
        assert system.last() == f"Nothing waits under {wrong}. PENDING lists what does."
    before = len(system.delivery.channel.bubbles())
    for _ in range(3):
        await system.say(f"OK {code}")
    assert (system.sent, await system.states()) == ([], ["pending"])
    [reply] = system.delivery.channel.bubbles()[before:]
    assert reply.text.startswith("Too many wrong codes came from here")

    await system.delivery.store.admin.execute("update inbound set received_at = received_at - interval '1 hour'")
    system.model.script = [says("I sent it.")]
    await system.say(f"OK {code}")
    assert (system.sent, await system.states()) == ([MAIL], ["approved"])
