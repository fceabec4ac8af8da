"""A bare word after several cards: it decides nothing, and each card's code is named.

By email a bare word answers one of the cards, which it decides.
"""

import re
from collections.abc import AsyncIterator

import pytest

from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.test_sms_codes import MAIL, OTHER
from tests.core.builders import says, wants


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a person with two open cards: mails to Sam and to Bob."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as opened:
        opened.model.script = [wants(("send_mail", MAIL), ("send_mail", OTHER)), says("Both are sent.")]
        await opened.say("mail both")
        yield opened


@pytest.mark.parametrize("word", ["ok", "No."])
async def test_a_bare_word_after_two_cards_names_both_and_what_to_write(system: Approving, word: str) -> None:
    await system.say(word)
    codes = await system.delivery.store.db.approvals.column("code")
    told = re.findall(r"Please write OK (\w+) to approve or NO \1 to cancel: .*?(sam|bob)@", system.last())
    assert sorted(code for code, _ in told) == sorted(map(str, codes))
    assert sorted(who for _, who in told) == ["bob", "sam"]
    assert (system.sent, await system.states()) == ([], ["pending", "pending"])
    assert len(system.model.script) == 1, "no model was asked"


async def test_the_code_that_was_named_decides_its_card_alone(system: Approving) -> None:
    await system.say("ok")
    first, second = re.findall(r"Please write OK (\w+) ", system.last())
    await system.say(f"ok {first}")
    await system.say(f"ok {second}")
    assert (system.sent, await system.states()) == ([MAIL, OTHER], ["approved", "approved"])
