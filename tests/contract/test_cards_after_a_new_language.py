"""A card that waits while the person changes their language: what is said about it is said in the new one.

Its content stays as it was read: the action's name and values are what they consent to.
"""

from collections.abc import AsyncIterator

import pytest

from core.json_types import JsonObject
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "At noon?"}
HEADING = "send mail (to: sam@example.com, subject: Lunch, body: At noon?)"


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a person with an English card, who speaks German now."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.model.script = [says("Hello."), wants(("send_mail", MAIL))]
        await system.say("hello")
        await system.say("mail sam about lunch")
        assert f"Reply OK {await system.code()} to approve" in system.card().text
        await system.delivery.store.db.tenants.change({"language": "de", "language_from": ""})
        yield system


async def does(system: Approving, word: str, argument: str = "") -> str:
    """Give a command as the channel has it; return what is said last."""
    harness = system.delivery.channel
    if harness.name == "slack":
        await harness.act("command", text=f"/valet {word} {argument}".strip())
        await harness.settled()
        await system.work()
    else:
        await system.say(f"{word} {argument}".strip() if harness.name == "sms" else f"/{word} {argument}".strip())
    return system.last()


async def test_what_waits_is_listed_in_the_new_language(system: Approving) -> None:
    code = await system.code()
    told = await does(system, "pending")
    assert told.startswith("Das wartet auf deine Entscheidung:")
    assert HEADING in told
    assert f"OK {code} oder NO {code}" in told


async def test_the_reminder_and_the_receipt_are_in_the_new_language(system: Approving) -> None:
    code = await system.code()
    system.clock.move(minutes=25)
    await system.work()
    assert f"Antworte OK {code}" in system.last()
    system.model.script = [says("Gut.")]
    await system.say(f"NO {code}")
    if system.delivery.channel.name == "sms":
        assert f"{code} abgebrochen: {HEADING}." in [bubble.text for bubble in system.delivery.channel.bubbles()]
    else:
        [drawn] = [bubble.text for bubble in system.delivery.channel.bubbles() if "Abgebrochen um" in bubble.text]
        assert HEADING in drawn.replace("\\", "")
        assert "Reply" not in drawn


async def test_a_card_that_is_asked_for_again_is_all_in_the_new_language(system: Approving) -> None:
    old = await system.code()
    await does(system, "again", old)
    code = await system.code()
    assert code != old
    assert f"Antworte OK {code}" in system.card().text
    assert "Reply" not in system.card().text
    if labels := [label for label, _ in system.card().buttons]:
        assert labels[0] == "Genehmigen"
    system.model.script = [says("Fertig.")]
    await system.say(f"OK {code}")
    assert system.sent == [MAIL]
