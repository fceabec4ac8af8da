"""What texts cost: long answers in portions, a person's day, and all people's day."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from core.errors import Ambiguous, RateLimited
from core.messaging.capabilities import MAX_CHARACTERS, MOVED, OVER, SegmentBudget
from core.messaging.channels import Check, Part
from core.messaging.messages import OutboundKind, OutboundMessage
from core.replies import MISSING, REST_LEFT_OUT
from core.turns.types import TurnRequest, TurnResult, TurnState
from jobs.delivery.runner import DeliveryRunner
from notify.sms.render import render
from operations.doctor.work import check_texts
from tests.core.harness import Store
from tests.jobs.harness import RecordingChannel
from tests.jobs.worker_harness import WorkerHarness

ANN = "+15550000001"
WORDS = "".join(f"word{number:05d} " for number in range(1_000))  # 10,000 characters
NOTE = "\n\n(... more: reply MORE)"


@dataclass(slots=True)
class BilledChannel(RecordingChannel):
    """A channel that renders texts as SMS does, and has a price."""

    budget: SegmentBudget = field(default_factory=SegmentBudget)

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        """Render texts."""
        return render(message, self.budget.message)


@dataclass(slots=True)
class Phone:
    """A person with a phone, and a worker that answers what `answer` says."""

    store: Store
    channel: BilledChannel = field(default_factory=BilledChannel)
    answer: str = WORDS
    heard: list[str] = field(default_factory=list)

    async def says(self, text: str, sender: str = ANN) -> list[str]:
        """Let the person write; return the texts that come."""
        before = len(self.channel.calls)
        await self.store.say(text, sender=sender)
        await self.work()
        return self.channel.texts[before:]

    async def work(self) -> None:
        """Run and send all that waits, each time as a new worker."""
        await WorkerHarness(self.store, self.channel).run_turns(self._answer)
        await self.deliver()

    async def deliver(self, name: str = "d1") -> None:
        """Send all that is due."""
        channels = {"sms": self.channel, "telegram": RecordingChannel("telegram")}
        runner = DeliveryRunner(self.store.outbox, channels, name)
        while claim := await runner.claim(None):
            await runner.run(claim)

    async def enqueue(self, *texts: str, kind: OutboundKind = OutboundKind.REPLY) -> None:
        """Owe messages in the one conversation of texts."""
        query = "select tenant_id, id from conversations where channel = 'sms' limit 1"
        row = await self.store.admin.fetchrow(query)
        assert row is not None
        messages = [OutboundMessage(self.store.make_id("out"), kind, text) for text in texts]
        await self.store.enqueue_in(row["tenant_id"], row["id"], messages)

    async def has_telegram(self) -> None:
        """Give the person another place, which costs nothing."""
        tenant = await self.store.one("select tenant_id from tenants limit 1")
        await self.store.admin.execute(
            "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
            " values ($1, 'tg', 'telegram', '99', '7', 'open')",
            tenant,
        )
        await self.store.admin.execute(
            "insert into conversations (tenant_id, id, identity_id, channel, account, peer, last_inbound_at)"
            " values ($1, 'chat', 'tg', 'telegram', '99', '7', clock_timestamp())",
            tenant,
        )

    async def rows(self, channel: str = "sms") -> list[tuple[object, ...]]:
        """Return kind, state and reason of all that was owed on a channel."""
        rows = await self.store.admin.fetch(
            "select o.kind, o.state, o.reason from outbound o join conversations c on c.id = o.conversation_id"
            " where c.channel = $1 order by o.seq",
            channel,
        )
        return [tuple(row) for row in rows]

    async def _answer(self, request: TurnRequest) -> TurnResult:
        self.heard += [message.text for message in request.inbound]
        return TurnResult(TurnState.DONE, self.answer)


@pytest.fixture
def phone(store: Store) -> Phone:
    return Phone(store)


# Portions


async def test_a_long_answer_stops_at_its_segment_limit_and_continues_at_more(phone: Phone) -> None:
    (first,) = await phone.says("tell me all")
    assert first.endswith(NOTE)
    texts = [first]
    while texts[-1].endswith(NOTE):
        (portion,) = await phone.says("MORE")
        texts.append(portion)
    assert " ".join(text.removesuffix(NOTE) for text in texts).split() == WORDS.split()
    costs = await phone.store.column("select sum(segments) from outbound_parts group by outbound_id")
    assert max(int(str(cost)) for cost in costs) <= phone.channel.budget.message
    assert phone.heard == ["tell me all"]  # the model was asked once


async def test_promise_6_more_is_recorded_as_what_it_was(phone: Phone) -> None:
    await phone.says("tell me all")
    await phone.says("  more. ")
    assert await phone.store.db.inbound.column("state", order="seq") == ["done", "done"]
    assert await phone.store.db.turns.count(reason="more", state="done") == 1


async def test_more_is_a_word_like_any_other_where_nothing_is_kept(phone: Phone) -> None:
    phone.answer = "Short."
    await phone.says("hello")
    assert await phone.says("more") == ["Short."]
    assert phone.heard == ["hello", "more"]


async def test_more_means_the_newest_answer_and_nothing_older(phone: Phone) -> None:
    await phone.says("tell me all")
    phone.answer = "Short."
    await phone.says("and now?")
    assert await phone.says("MORE") == ["Short."]


async def test_more_is_worth_nothing_after_a_day(phone: Phone) -> None:
    await phone.says("tell me all")
    await phone.store.admin.execute("update outbound set created_at = created_at - interval '25 hours'")
    phone.answer = "Short."
    assert await phone.says("MORE") == ["Short."]


async def test_promise_2_a_turn_that_is_taken_over_sends_one_portion(phone: Phone) -> None:
    await phone.says("tell me all")
    await phone.store.say("MORE")
    lease, turn = await phone.store.claim_turn()
    assert await phone.store.turns.say_more(lease.tenant_id, lease.lane_id, turn.turn_id)
    await phone.store.expire()  # it dies here
    before = len(phone.channel.calls)
    await phone.work()
    assert len(phone.channel.calls) == before + 1


async def test_promise_7_the_note_of_a_missing_answer_precedes_split_answers(phone: Phone) -> None:
    phone.answer = "Lost."
    phone.channel.can_find = phone.channel.resend_unknown = False
    phone.channel.acts.append(Ambiguous("reset"))
    await phone.says("hello")
    await phone.store.make_due()
    await phone.deliver()
    phone.answer = WORDS
    (first,) = await phone.says("tell me all")
    assert first.startswith(f"{MISSING}\n\nword00000 ")
    assert first.endswith(NOTE)
    texts = [first.removeprefix(MISSING)]
    while texts[-1].endswith(NOTE):
        (portion,) = await phone.says("MORE")
        texts.append(portion)
    assert " ".join(text.removesuffix(NOTE) for text in texts).split() == WORDS.split()


async def test_an_answer_has_a_greatest_length_on_every_channel(store: Store) -> None:
    channel = RecordingChannel()
    await store.enqueue("x" * 200_000)
    runner = DeliveryRunner(store.outbox, {"sms": channel}, "d1")
    while claim := await runner.claim(None):
        await runner.run(claim)
    assert channel.texts == ["x" * MAX_CHARACTERS + "\n\n" + REST_LEFT_OUT]


# A day


async def test_a_persons_day_ends_answers_and_is_told_once_in_one_sentence(phone: Phone) -> None:
    phone.channel.budget, phone.answer = SegmentBudget(person_day=8), "Yes."
    for _ in range(9):
        await phone.says("again?")
    assert phone.channel.texts == ["Yes."] * 6 + [OVER]
    why = "the day's texts of this person are used up"
    assert (await phone.rows()).count(("reply", "failed", why)) == 3
    # Somebody else's day is their own.
    assert await phone.says("hello", "+15550000002") == ["Yes."]


async def test_cards_and_notifications_have_the_last_quarter_of_a_day(phone: Phone) -> None:
    phone.channel.budget, phone.answer = SegmentBudget(person_day=8), "Yes."
    for _ in range(7):
        await phone.says("again?")
    await phone.enqueue("Approve 7K?", kind=OutboundKind.CARD)
    await phone.enqueue("Never sent.")
    await phone.deliver()
    assert phone.channel.texts == ["Yes."] * 6 + [OVER, "Approve 7K?"]


async def test_what_a_day_does_not_allow_goes_to_a_place_that_costs_nothing(phone: Phone) -> None:
    phone.channel.budget, phone.answer = SegmentBudget(person_day=8), "Yes."
    await phone.says("hello")
    await phone.has_telegram()
    for _ in range(7):
        await phone.says("again?")
    assert phone.channel.texts == ["Yes."] * 6 + [MOVED]
    assert await phone.rows("telegram") == [("reply", "sent", "")] * 2
    assert (
        "reply",
        "failed",
        "the day's texts of this person are used up; sent to another place",
    ) in await phone.rows()


async def test_promise_8_what_confirms_a_stop_is_sent_past_every_limit(phone: Phone) -> None:
    phone.channel.budget, phone.answer = SegmentBudget(person_day=1, all_day=1), "Yes."
    await phone.says("hello")
    await phone.enqueue("You are stopped.", kind=OutboundKind.RECEIPT)
    await phone.store.db.outbound.change({"regardless": True}, kind="receipt")
    await phone.deliver()
    assert phone.channel.texts[-1] == "You are stopped."


async def test_a_new_day_resets_the_count(phone: Phone) -> None:
    phone.channel.budget, phone.answer = SegmentBudget(person_day=8), "Yes."
    for _ in range(7):
        await phone.says("again?")
    await phone.store.admin.execute("update segment_days set day = day - 1")
    assert await phone.says("again?") == ["Yes."]


async def test_a_call_that_is_made_again_costs_again(phone: Phone) -> None:
    phone.answer = "Yes."
    phone.channel.acts.append(RateLimited("busy", "20429", timedelta(seconds=0)))
    await phone.says("hello")
    await phone.store.make_due()
    await phone.deliver("d2")
    assert await phone.store.db.segment_days.one("segments") == 2
    assert await phone.store.db.segments_of_all.one("segments") == 2


async def test_all_peoples_day_is_kept_exactly_by_any_number_of_workers(phone: Phone) -> None:
    phone.channel.budget = SegmentBudget(all_day=20)
    for number in range(30):
        await phone.store.enqueue("Yes.", sender=f"+1555000{number:04d}")
    await asyncio.gather(*(phone.deliver(f"d{number}") for number in range(4)))
    assert phone.channel.texts.count("Yes.") == 15  # three quarters of it are for answers
    row = await phone.store.admin.fetchrow("select segments, refused from segments_of_all")
    assert row is not None
    assert row["segments"] <= 20
    assert row["refused"] >= 15


async def test_doctor_shows_todays_segments_and_fails_once_messages_were_dropped(phone: Phone) -> None:
    assert await texts_check(phone) is None
    phone.channel.budget, phone.answer = SegmentBudget(all_day=4), "Yes."
    await phone.says("hello")
    check = await texts_check(phone)
    assert check is not None
    assert (check.ok, check.fix) == (True, "")
    assert check.detail == "1 segment for all people today, 0 messages not sent for their limit"
    for _ in range(3):
        await phone.says("again?")
    check = await texts_check(phone)
    assert check is not None
    assert (check.ok, check.fix) == (False, "raise ONEVALET_SMS_SEGMENTS_PERSON_DAY")
    assert check.detail.startswith("4 segments for all people today, 1 message not sent")


async def test_promise_11_counts_are_hidden_from_others(phone: Phone) -> None:
    phone.answer = "Yes."
    await phone.says("hello")
    async with phone.store.database.tenant("somebody else") as connection:
        assert await connection.fetchval("select count(*) from segment_days") == 0


async def texts_check(phone: Phone) -> Check | None:
    """Return what the doctor says of texts."""
    return next((check for check in await check_texts(phone.store.database) if check.what == "texts"), None)
