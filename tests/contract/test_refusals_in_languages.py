"""What is refused, is said in German and Chinese on every channel: too much, too fast, in a group, an unknown code."""

from collections.abc import AsyncIterator
from datetime import date, datetime
from typing import Annotated, cast

import pytest
from pydantic import Field

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from abilities.mail.tools import SendEmailAgent
from core.agents.registry import AgentRegistry
from core.inbox.inbox import Inbox
from core.json_types import JsonObject
from core.people.access_policy import PersonRole
from core.people.commands import PersonCommands
from core.people.linking import Linking
from core.people.people import People
from core.people.rate_limit import Rates
from core.people.tiers import Tier, Tiers
from core.queue.limits import BacklogLimits
from core.tools.tool import tool
from core.turns.checks import RateCheck
from jobs.delivery.runner import DeliveryRunner
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES, SlackHarness
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.harness import ChannelHarness, exempt, open_harness
from tests.core.builders import says, wants
from tests.core.credentials.harness import new_key, store_with
from tests.core.harness import OPEN, opened
from tests.core.language.english import english_in
from tests.eventually import eventually

pytestmark = pytest.mark.slow

SPEAKERS = {"lena": "de", "mei": "zh"}
TYPED: JsonObject = {
    **{"plates": 2, "price": 1.5, "warm": True, "day": "2027-01-31", "at": "2027-01-31T15:00"},
    **{"name": "77", "most": 5, "code": "77", "dish": "77"},
}
ENTERED = {
    **{"plates": "x", "price": "x", "warm": "x", "day": "x", "at": "x"},
    **{"name": "7" * 9, "most": "9", "code": "x"},
}


@pytest.fixture(params=SPEAKERS)
def person(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def system(channel: str, database_url: str, person: str) -> AsyncIterator[Approving]:
    """Yield a system that knows the person, and their language."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        await _meet(system, person)
        yield system


async def _meet(system: Approving, person: str) -> None:
    system.model.script = [says("77!")]
    await system.say("hello", person)
    await _choose(system.delivery, person)


async def _choose(delivery: DeliveryHarness, person: str) -> None:
    await delivery.store.db.tenants.change({"language": SPEAKERS[person], "language_from": ""})


def _told(harness: ChannelHarness, person: str, seen: int) -> str:
    """Return what was sent after the first so many messages; fail where it has English."""
    fresh = "\n".join(bubble.text for bubble in harness.bubbles(person)[seen:])
    assert fresh, "nothing was sent"
    assert english_in(fresh, SPEAKERS[person]) == []
    return fresh


async def test_who_writes_too_fast_is_told_so_in_their_language(system: Approving, person: str) -> None:
    slow = Tiers({role.value: Tier(role.value, 1) for role in PersonRole})
    system.options = {"checks": (RateCheck(Rates(), slow),)}
    system.model.script = [says("77!")]
    await system.say("hello", person)
    seen = len(system.delivery.channel.bubbles(person))
    await system.say("hello", person)
    _told(system.delivery.channel, person, seen)


@pytest.mark.parametrize(("of_person", "of_all"), [(1, 9), (9, 1)], ids=["full", "busy"])
async def test_whose_message_finds_no_room_is_told_so_in_their_language(
    channel: str, database_url: str, person: str, of_person: int, of_all: int
) -> None:
    async with opened(database_url) as store:
        inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person, of_all))
        async with open_harness(HARNESSES[channel], inbox) as harness:
            runner = DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1")
            delivery = DeliveryHarness(store, harness, runner)
            await harness.said(marked("hello"), person)
            await _choose(delivery, person)
            await harness.said(marked("hello again"), person)
            await delivery.deliver()
            _told(harness, person, 0)


@exempt(sms="texts come from one person each")
async def test_in_a_group_they_are_told_where_to_write_in_their_language(system: Approving, person: str) -> None:
    harness = system.delivery.channel
    if harness.name == "slack":
        await harness.act("mention", person, text="hello")
    else:
        await harness.act("group_say", person, text="hello", mention=True)
    await harness.settled()
    await system.work()
    sent = cast(dict[str, JsonObject], harness.calls()[-1].request)
    text = str(sent["body"]["text"])
    assert english_in(text, SPEAKERS[person]) == []


async def test_an_unknown_code_is_answered_in_their_language(system: Approving, person: str) -> None:
    store = system.delivery.store
    linking = Linking(store.database, store_with(store.database, new_key()), store.make_id)
    system.people = PersonCommands(linking, People(store.database, store.make_id, system.clock))
    for code in ("OK 9Z", "NO 8Y", "AGAIN 9Z", "LINK ABC-DEF-GH2"):
        seen = len(system.delivery.channel.bubbles(person))
        await _type(system, code, person)
        _told(system.delivery.channel, person, seen)


async def _type(system: Approving, words: str, person: str) -> None:
    """Type a word that is a command on this channel."""
    harness, command = system.delivery.channel, words.startswith(("AGAIN", "LINK"))
    if command and harness.name == "slack":
        await harness.act("command", person, text=f"/valet {words.lower()}")
        await harness.settled()
        await system.work()
    else:
        await system.say(f"/{words.lower()}" if command and harness.name == "telegram" else words, person)


async def test_each_error_of_a_form_is_in_their_language(database_url: str, person: str) -> None:
    async with open_approving(SlackHarness, database_url, StandingClock()) as system:
        await _meet(system, person)
        system.more.append(order)
        system.model.script = [wants(("order", TYPED))]
        await system.say("77", person)
        errors = await _fill_in(system, person, ENTERED)
        assert set(errors) == set(ENTERED)
        for error in errors.values():
            assert english_in(error, SPEAKERS[person]) == []


async def test_what_an_agent_says_of_a_field_is_in_their_language(database_url: str, person: str) -> None:
    async with open_approving(SlackHarness, database_url, StandingClock()) as system:
        await _meet(system, person)
        keeper = store_with(system.delivery.store.database, new_key())
        system.options = {
            "agents": AgentRegistry([SendEmailAgent]),
            "credentials": keeper,
            "accounts": Accounts(keeper, Services()),
        }
        tenant = await system.delivery.store.db.person()
        await keeper.save(tenant, "email", {"host": "localhost", "from": "ada@example.com"})
        system.model.script = [wants(("SendEmailAgent", {"recipient": ["s@example.com"], "subject": "7", "body": "7"}))]
        await system.say("77", person)
        errors = await _fill_in(system, person, {"recipient": "x", "subject": "7", "body": "7"})
        assert set(errors) == {"recipient"}
        assert english_in(errors["recipient"], SPEAKERS[person]) == []
        seen = len(system.delivery.channel.bubbles(person))
        await _send(system, person, {"recipient": "bo@example..com", "subject": "8", "body": "7"})
        _told(system.delivery.channel, person, seen)


@tool(needs_approval=True)
async def order(
    plates: int,
    price: float,
    warm: bool,
    day: date,
    at: datetime,
    name: Annotated[str, Field(max_length=5)],
    most: Annotated[int, Field(le=5)],
    code: Annotated[str, Field(pattern=r"\d+")],
    dish: str,
) -> str:
    """Order a dish."""
    return dish


async def _fill_in(system: Approving, person: str, entered: dict[str, str]) -> dict[str, str]:
    """Open the form of the newest card, fill it in and send it; return its errors by field."""
    harness = system.delivery.channel
    assert isinstance(harness, SlackHarness)
    card = next(bubble for bubble in reversed(harness.bubbles(person)) if bubble.buttons)
    await system.press("Edit", card, person)
    await eventually(lambda: bool(harness.modals(person)))
    await _send(system, person, entered)
    [modal] = harness.modals(person)
    return dict(modal["errors"])


async def _send(system: Approving, person: str, entered: dict[str, str]) -> None:
    harness = system.delivery.channel
    assert isinstance(harness, SlackHarness)
    await harness.act("submit", person, view_id=harness.modals(person)[-1]["id"], values=entered)
    await harness.settled()
    await system.work()
