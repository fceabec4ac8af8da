"""Reactions of phones, which are texts: only a quote that proves who has the card decides it."""

from collections.abc import AsyncIterator

import pytest

from core.json_types import JsonObject
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "At noon?"}


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield a system in which Ada was asked to approve a mail."""
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        system.model.script = [wants(("send_mail", MAIL)), says("I sent it.")]
        await system.say("mail sam about lunch")
        yield system


async def test_a_tapback_asks_no_model_unless_it_decides(system: Approving) -> None:
    card, code = system.last(), await system.code()
    before = len(system.model.requests)
    for words in (f"Emphasized “{card}”", f"Liked “OK {code}”", "Liked an image", "Loved “Something else”"):
        await system.say(words)
    assert len(system.model.requests) == before
    assert (system.last(), await system.states()) == (card, ["pending"])
    await system.say(f"OK {code}")
    assert system.last() == "I sent it."


@pytest.mark.parametrize(
    "wording",
    [
        "Liked “{}”",
        "Reacted 👍🏽 to “{}”",
        "\u200a👍\u200b to “\u200a{}\u200a”",
        "A aimé « {} »",
        "Le gustó “{}”",
        "Gefällt „{}“",
        "Curtiu “{}”",
        "赞了“{}”",
        "\u200a\u200b👍\u200b für „\u200a{}\u200a“\u200a",
    ],
)
async def test_each_wording_of_a_thumb_up_decides(system: Approving, wording: str) -> None:
    await system.say(wording.format(system.last()))
    assert (system.sent, await system.states()) == ([MAIL], ["approved"])


@pytest.mark.parametrize(
    "wording",
    [
        "Disliked “{}”",
        "No le gustó “{}”",
        "N’a pas aimé « {} »",
        "Gefällt „{}“ nicht",
        "Não curtiu “{}”",
        "踩了“{}”",
        "\u200a\u200b👎\u200b 对“\u200a{}\u200a”\u200a",
    ],
)
async def test_each_wording_of_a_thumb_down_cancels(system: Approving, wording: str) -> None:
    await system.say(wording.format(system.last()))
    assert (system.sent, await system.states()) == ([], ["cancelled"])


async def test_promise_9_high_risk_is_never_decided_by_a_tapback(system: Approving) -> None:
    system.risk = "high"
    system.model.script = [wants(("send_mail", {**MAIL, "body": "At one?"}))]
    await system.say("and one at one")
    card = system.last()
    for wording in ("Liked “{}”", "Gefällt „{}“", "Curtiu “{}”", "赞了“{}”"):
        await system.say(wording.format(card))
    told = [one.text for one in system.delivery.channel.bubbles() if "is high risk, so a reaction does not" in one.text]
    assert (len(told), system.sent, await system.states()) == (1, [], ["pending", "pending"])


async def test_a_quote_that_ends_before_the_code_decides_nothing(system: Approving) -> None:
    card, code = system.last(), await system.code()
    await system.say(f"Liked “{card[0]}…”")
    assert await system.states() == ["pending"]
    assert system.last().startswith(f"Please write OK {code} to approve")


async def test_quotes_that_guess_end_the_power_of_quotes_for_an_hour(system: Approving) -> None:
    card, code = system.last(), await system.code()
    for guess in [other for other in ("2A", "3B", "4C", "5D", "6E", "7F") if other != code][:5]:
        await system.say(f"Liked “{card.replace(code, guess)}”")
    await system.say(f"Liked “{card}”")
    assert await system.states() == ["pending"]
    assert system.last().startswith(f"Please write OK {code} to approve")
    await system.say(f"OK {code}")
    assert system.sent == [MAIL]


async def test_a_quote_that_fits_two_cards_decides_neither_and_says_why(system: Approving) -> None:
    system.model.script = [wants(("send_mail", {**MAIL, "body": "At one?"}))]
    await system.say("and one at one")
    # Codes differ, and stand first in a card: as if the cards began alike.
    await system.delivery.store.admin.execute("update outbound_parts set text = 'Alike. ' || text")
    await system.say("Liked “Alike…”")
    assert await system.states() == ["pending", "pending"]
    said = system.last()
    assert said.startswith("More than one open request fits your reaction, so it decides nothing.")
    assert said.count("Please write OK") == 2


async def test_a_tapback_of_another_number_decides_nothing(system: Approving) -> None:
    card = system.last()
    system.model.script = [says("Hello Grace.")]
    await system.say("hello", "grace")
    await system.say(f"Liked “{card}”", "grace")
    assert await system.states() == ["pending"]
    assert await system.delivery.store.column("select reason from inbound where reason like 'reaction%'") == [
        "reaction: unknown"
    ]
