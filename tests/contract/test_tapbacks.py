"""A phone's reaction to a text is recorded: nobody is answered, no model is asked, no card is decided."""

from tests.clocks import StandingClock
from tests.contract.approving import open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants


async def test_a_reaction_to_a_card_decides_nothing_and_is_not_answered(database_url: str) -> None:
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        system.model.script = [
            wants(("send_mail", {"to": "sam@example.com", "subject": "Lunch", "body": "At noon?"})),
            says("I sent it."),
        ]
        await system.say("mail sam about lunch")
        card, code = system.last(), await system.code()
        before = (len(system.model.requests), len(system.delivery.channel.bubbles("ada")))
        for reaction in (f"Liked “{card}”", f"Reacted 👍 to “{card}”", f"Emphasized “OK {code}”"):
            await system.say(reaction)
        assert (len(system.model.requests), len(system.delivery.channel.bubbles("ada"))) == before
        store = system.delivery.store
        assert await store.db.ignored_messages.column("reason") == ["reaction"] * 3
        await system.say(f"OK {code}")
        assert system.last() == "I sent it."
