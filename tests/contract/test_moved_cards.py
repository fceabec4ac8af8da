"""A card for which a day has no texts left: it counts where it was moved to, or it ends and the model is told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest

from core.approvals.types import NOT_SHOWN
from core.inbox.inbox import Inbox
from core.json_types import JsonObject
from core.messaging.capabilities import SegmentBudget
from jobs.delivery.runner import DeliveryRunner
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import SmsHarness, TelegramHarness
from tests.contract.harness import ChannelHarness, open_harness
from tests.core.builders import says, wants
from tests.core.harness import OPEN

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": ""}


@dataclass(slots=True)
class TwoPlaces:
    """Ada's texts and, where `chat` is set, her Telegram chat."""

    system: Approving
    chat: ChannelHarness | None = None

    async def say(self, text: str) -> None:
        """Let Ada text, and see to all of it."""
        await self.system.delivery.channel.said(text)
        await self.work()

    async def asks_for_mail(self) -> None:
        """Let Ada ask for what needs her approval, on a day whose texts are used up."""
        self.system.model.script = [wants(("send_mail", MAIL)), says("Done.")]
        await self.say("mail sam")

    async def work(self) -> None:
        """Run what waits, and draw what is due, at both places."""
        await self.system.work()

    async def outbound(self, channel: str, kind: str = "card") -> list[tuple[object, ...]]:
        """Return state and reason of what was owed on a channel."""
        rows = await self.system.delivery.store.admin.fetch(
            "select o.state, o.reason from outbound o join conversations c on c.id = o.conversation_id"
            " where c.channel = $1 and o.kind = $2 order by o.seq",
            channel,
            kind,
        )
        return [tuple(row) for row in rows]


@asynccontextmanager
async def opened_places(database_url: str, *, both: bool) -> AsyncIterator[TwoPlaces]:
    async with open_approving(SmsHarness, database_url, StandingClock()) as system:
        places = TwoPlaces(system)
        system.model.script = [says("Hello."), says("Hello.")]
        await system.say("hello")
        assert isinstance(system.delivery.channel, SmsHarness)
        if not both:
            yield places
            return
        store = system.delivery.store
        inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, clock=system.clock)
        async with open_harness(TelegramHarness, inbox) as chat:
            address = chat.address()
            await store.admin.execute(
                "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
                " select tenant_id, 'tg', 'telegram', $1, $2, 'open' from tenants",
                address.account,
                address.peer,
            )
            await chat.said("hello")
            senders = {"sms": system.delivery.channel.sender, "telegram": chat.sender}
            system.others = {"telegram": chat.sender}
            system.delivery.runner = DeliveryRunner(store.outbox, senders, "w1", clock=system.clock)
            await system.work()
            places.chat = chat
            yield places


@pytest.fixture
async def places(database_url: str) -> AsyncIterator[TwoPlaces]:
    async with opened_places(database_url, both=True) as two:
        yield two


@pytest.fixture
async def texts_only(database_url: str) -> AsyncIterator[TwoPlaces]:
    async with opened_places(database_url, both=False) as place:
        yield place


def use_up(places: TwoPlaces, *, all_people: bool = False) -> None:
    """Leave one segment of the day, beside that of the greeting: not enough for a card."""
    used = SegmentBudget(all_day=2) if all_people else SegmentBudget(person_day=2)
    places.system.delivery.channel.sender.budget = used  # type: ignore[attr-defined]


@pytest.mark.parametrize("all_people", [False, True], ids=["of the person", "of all"])
async def test_promise_9_a_moved_card_is_decided_by_its_buttons_there(places: TwoPlaces, all_people: bool) -> None:
    use_up(places, all_people=all_people)
    await places.asks_for_mail()
    assert places.chat
    (sms,) = await places.outbound("sms")
    assert sms[0] == "failed"
    assert await places.outbound("telegram") == [("sent", "")]
    card = places.chat.bubbles()[-1]
    assert [label for label, _ in card.buttons] == ["Approve", "Edit", "Cancel"]
    assert await places.system.code() in card.text
    assert await places.system.delivery.store.one("select expires_at is not null from approvals")
    await places.chat.press(card, 0)
    await places.chat.settled()
    await places.work()
    await places.chat.said(f"OK {await places.system.code()}")
    await places.work()
    assert "already approved" in places.chat.bubbles()[-1].text
    assert await places.system.states() == ["approved"]
    assert places.system.sent == [MAIL]
    drawn = next(bubble for bubble in places.chat.bubbles() if bubble.id == card.id)
    assert "Approved at" in drawn.text
    assert drawn.buttons == ()
    rows = await places.system.delivery.store.admin.fetch(
        "select c.channel, r.state from redraws r join outbound o on o.id = r.outbound_id"
        " join conversations c on c.id = o.conversation_id order by c.channel"
    )
    assert [tuple(row) for row in rows] == [("sms", "given_up"), ("telegram", "drawn")]


async def test_promise_9_a_moved_card_is_decided_by_its_code_there(places: TwoPlaces) -> None:
    use_up(places)
    await places.asks_for_mail()
    assert places.chat
    await places.chat.said(f"OK {await places.system.code()}")
    await places.work()
    assert (await places.system.states(), places.system.sent) == (["approved"], [MAIL])


async def test_a_moved_cards_time_runs_from_when_it_was_sent_there(places: TwoPlaces) -> None:
    use_up(places)
    await places.asks_for_mail()
    assert await places.system.delivery.store.db.approvals.one("expires_at")
    places.system.clock.move(timedelta(minutes=25))
    await places.work()
    assert places.chat
    assert "still waiting" in places.chat.bubbles()[-1].text  # the reminder comes where the card is
    assert len(await places.outbound("sms", "notification")) == 1  # that there are no more texts today
    places.system.clock.move(timedelta(minutes=6))
    await places.work()
    assert (await places.system.states(), places.system.sent) == (["expired"], [])
    assert any("Expired at" in bubble.text for bubble in places.chat.bubbles())


async def test_a_high_risk_card_that_is_there_already_is_not_moved_too(places: TwoPlaces) -> None:
    places.system.risk = "high"
    use_up(places)
    await places.asks_for_mail()
    assert len(await places.outbound("telegram")) == 1
    assert places.chat
    assert await places.system.states() == ["pending"]
    assert sum("High risk" in bubble.text or "high risk" in bubble.text for bubble in places.chat.bubbles()) == 1


async def test_a_card_that_can_be_sent_nowhere_ends_and_the_model_is_told(texts_only: TwoPlaces) -> None:
    use_up(texts_only)
    await texts_only.asks_for_mail()
    assert await texts_only.system.states() == ["expired"]
    assert await texts_only.system.delivery.store.db.approvals.one("reason") == NOT_SHOWN
    assert texts_only.system.sent == []
    note = texts_only.system.model.requests[-1].messages[-1].text
    assert note.startswith("Not done: the request for approval could not be shown.")
    assert await texts_only.system.delivery.store.one("select count(*) from turns where state <> 'done'") == 0


async def test_a_card_that_was_never_sent_cannot_be_approved_by_a_guessed_code(texts_only: TwoPlaces) -> None:
    use_up(texts_only, all_people=True)
    system = texts_only.system
    system.model.script = [wants(("send_mail", MAIL)), says("Done.")]
    await system.delivery.channel.said("mail sam")
    # The worker dies after the card was refused, before it looks after approvals.
    await system.turn()
    await system.delivery.deliver()
    assert [state for state, _ in await texts_only.outbound("sms")] == ["failed"]
    await system.delivery.channel.said(f"OK {await system.code()}")
    assert await system.states() == ["pending"]
    await texts_only.work()
    assert (await system.states(), system.sent) == (["expired"], [])
