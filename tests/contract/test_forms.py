"""Forms to change an action: what cannot be used is told while the form is open, and nothing typed is lost."""

from collections.abc import AsyncIterator

import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from abilities.mail.tools import SendEmailAgent
from core.agents.registry import AgentRegistry
from core.json_types import JsonObject
from core.tools.tool import tool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SlackHarness
from tests.core.builders import says, wants
from tests.core.credentials.harness import new_key, store_with
from tests.eventually import eventually

MAIL: JsonObject = {"recipient": ["sam@example.com"], "subject": "Lunch", "body": "Friday?"}


@pytest.fixture
async def system(database_url: str) -> AsyncIterator[Approving]:
    """Yield the system on Slack, the channel with forms."""
    async with open_approving(SlackHarness, database_url, StandingClock()) as system:
        yield system


async def edit(system: Approving, **entered: str) -> str:
    """Open the form of the newest card, fill it in and send it; return what the client made of the answer."""
    await system.press("Edit")
    await eventually(lambda: bool(harness(system).modals()))
    return await send(system, **entered)


async def send(system: Approving, **entered: str) -> str:
    """Send the form that is open."""
    answer = await harness(system).act("submit", view_id=harness(system).modals()[-1]["id"], values=entered)
    await harness(system).settled()
    await system.work()
    return str(answer["outcome"])


def harness(system: Approving) -> SlackHarness:
    assert isinstance(system.delivery.channel, SlackHarness)
    return system.delivery.channel


async def test_a_bad_field_leaves_the_form_open_with_all_that_was_typed(system: Approving) -> None:
    keeper = store_with(system.delivery.store.database, new_key())
    system.options = {
        "agents": AgentRegistry([SendEmailAgent]),
        "credentials": keeper,
        "accounts": Accounts(keeper, Services()),
    }
    await system.delivery.meet()
    tenant = await system.delivery.store.db.person()
    await keeper.save(tenant, "email", {"host": "localhost", "from": "ada@example.com"})
    system.model.script = [wants(("SendEmailAgent", MAIL))]
    await system.say("mail sam")
    assert await edit(system, recipient="sam", subject="Dinner", body="Saturday?") == "errors"
    [modal] = harness(system).modals()
    assert modal["errors"] == {"recipient": "Each must be an address such as sam@example.com, without a name."}
    assert await system.states() == ["pending"]
    assert await send(system, recipient="bo@example.com", subject="Dinner", body="Saturday?") == "closed"
    assert await system.states() == ["replaced", "pending"]
    for part in ("bo@example.com", "Dinner", "Saturday?"):
        assert part in system.card().text


async def test_a_form_keeps_defaults_and_refuses_what_is_no_number(system: Approving) -> None:
    ordered: list[tuple[str, int, str, bool]] = []

    @tool(needs_approval=True)
    async def order(dish: str, plates: int = 2, speed: str = "normal", warm: bool = True) -> str:
        """Order a dish."""
        ordered.append((dish, plates, speed, warm))
        return "Ordered."

    system.more = [order]
    system.model.script = [wants(("order", {"dish": "soup"})), says("Done.")]
    await system.say("order soup")
    assert await edit(system, dish="stew", plates="many") == "errors"
    assert harness(system).modals()[0]["errors"] == {"plates": "This must be a whole number."}
    assert await send(system, dish="stew", plates="2", speed="") == "closed"
    for line in ("Dish: `stew`", "Plates: `2`", "Speed: `normal`", "Warm: `yes`"):
        assert line in system.card().text
    assert system.card().text.count(" -> ") == 1, "and nothing else is changed"
    await system.decide("Approve")
    assert ordered == [("stew", 2, "normal", True)]


async def test_what_only_a_validator_refuses_keeps_the_other_changes(system: Approving) -> None:
    keeper = store_with(system.delivery.store.database, new_key())
    system.options = {
        "agents": AgentRegistry([SendEmailAgent]),
        "credentials": keeper,
        "accounts": Accounts(keeper, Services()),
    }
    await system.delivery.meet()
    tenant = await system.delivery.store.db.person()
    await keeper.save(tenant, "email", {"host": "localhost", "from": "ada@example.com"})
    system.model.script = [wants(("SendEmailAgent", MAIL))]
    await system.say("mail sam")
    assert await edit(system, recipient="bo@example..com", subject="Dinner", body="Friday?") == "closed"
    card = system.card().text
    assert "Not changed, since that cannot be used: recipient: " in card.replace("\\", "")
    assert "Subject: `Dinner`" in card
    assert "Recipient: `sam@example.com`" in card
