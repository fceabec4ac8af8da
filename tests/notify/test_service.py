"""Telling people things: kept first, held, digested, muted, sent elsewhere, and never to anybody else."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from abilities.tasks.codec import Kind
from abilities.tasks.runs.notifications import notification
from abilities.tasks.types import Task, TaskOutput, TaskRun
from core.errors import OptedOut, Rejected, Unavailable
from core.llm.types import Role
from core.messaging.channels import Target
from core.messaging.messages import Action, DeliveryStatus, OutboundKind, OutboundMessage, StatusUpdate
from core.notifications.types import Notification, NotificationPolicy, NotificationStatus, Urgency
from tests.clocks import StandingClock
from tests.core.harness import ACCOUNT
from tests.notify.harness import People, people

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NIGHT = {"timezone": "UTC", "quiet_from": "22:00", "quiet_until": "07:00"}


@pytest.fixture
async def harness(database_url: str) -> AsyncIterator[People]:
    async with people(database_url, StandingClock(NOON)) as harness:
        yield harness


def moment(harness: People) -> StandingClock:
    assert isinstance(harness.clock, StandingClock)
    return harness.clock


async def states(harness: People) -> list[str]:
    rows = await harness.store.admin.fetch("select state from notifications order by at, id")
    return [row["state"] for row in rows]


async def night(harness: People, tenant: str, begins: str, ends: str) -> None:
    await harness.store.db.tenants.change(
        {"timezone": "UTC", "quiet_from": begins, "quiet_until": ends}, tenant_id=tenant
    )


async def test_news_goes_to_the_last_used_conversation_and_its_history(harness: People) -> None:
    await harness.bring_in("ann", "sms", "telegram", "email", wrote="sms")
    await harness.write("ann", "telegram")
    result = await harness.service.notify("ann", Notification("The flight is at 290.", title="Flight watch"))
    assert (result.fate, result.where) == (NotificationStatus.QUEUED, "telegram")
    assert await harness.store.db.history.column("message") == []  # nobody has read it yet
    await harness.deliver()
    assert harness.said("telegram") == ["The flight is at 290."]
    assert await states(harness) == ["sent"]
    # "yes, do that" is answered with it in view.
    await harness.store.admin.execute(
        "insert into lanes (tenant_id, id, conversation_id, pending, pending_since)"
        " values ('ann', 'ann-telegram-talk', 'ann-telegram-talk', true, now())"
    )
    await harness.store.admin.execute(
        "insert into inbound (tenant_id, id, conversation_id, seq, text)"
        " values ('ann', 'm', 'ann-telegram-talk', 1, 'yes')"
    )
    _, turn = await harness.store.claim_turn()
    about, notification = turn.request.kept.history
    assert (about.role, about.internal) == (Role.USER, True)
    assert "Flight watch" in about.text
    assert (notification.role, notification.text) == (Role.ASSISTANT, "The flight is at 290.")


async def test_row_34_concurrent_duplicates_are_one_message_until_the_next_day(harness: People) -> None:
    await harness.bring_in("ann", "sms", wrote="sms")
    both = await asyncio.gather(*(harness.service.notify("ann", Notification("Milk is cheap")) for _ in range(4)))
    assert sorted(result.fate for result in both) == ["duplicate", "duplicate", "duplicate", "queued"]
    assert len({result.id for result in both}) == 1
    moment(harness).move(hours=23)
    assert (await harness.service.notify("ann", Notification("Milk is cheap"))).fate is NotificationStatus.QUEUED
    assert await harness.service.send("ann", "Milk is cheap", {"urgency": "urgent", "category": "food"})
    await harness.deliver()
    assert len(harness.said("sms")) == 3
    assert await harness.store.one("select repeats from notifications order by at limit 1") == 3


async def test_row_34_a_task_that_only_looks_for_news_tells_the_same_once(harness: People) -> None:
    await harness.bring_in("ann", "sms", wrote="sms")
    looks = cast(Task, SimpleNamespace(id="t", title="Look", kind=Kind.SCHEDULE, output=TaskOutput(silent=True)))
    tells = cast(Task, SimpleNamespace(id="u", title="Tell", kind=Kind.SCHEDULE, output=TaskOutput()))
    fates: list[str] = []
    for number in range(2):
        run = cast(TaskRun, SimpleNamespace(id=f"run{number}", conversation_id=""))
        news = [notification(task, run, "A storm is coming") for task in (looks, tells)]
        fates += [(await harness.service.notify("ann", notification)).fate.value for notification in news]
    assert fates == ["queued", "queued", "duplicate", "queued"]


async def test_row_36_quiet_hours_end_in_one_digest_and_urgent_news_passes(harness: People) -> None:
    await harness.bring_in("ann", "sms", wrote="sms")
    await night(harness, "ann", "11:00", "14:00")
    fates = [(await harness.service.notify("ann", Notification(f"news {n}"))).fate for n in range(3)]
    urgent = await harness.service.notify("ann", Notification("The house is on fire", urgency=Urgency.URGENT))
    assert (fates, urgent.fate) == ([NotificationStatus.HELD] * 3, NotificationStatus.QUEUED)
    await harness.deliver()
    assert harness.said("sms") == ["The house is on fire"]
    for minutes in (0, 119):
        moment(harness).move(minutes=minutes)
        assert await harness.service.release_held() == 0
    moment(harness).move(minutes=1)
    released = await asyncio.gather(*(harness.service.release_held() for _ in range(2)))  # two workers look
    assert sum(released) == 1
    await harness.deliver()
    digest = harness.said("sms")[1]
    assert digest.startswith("3 things waited for you:")
    assert [digest.index(f"news {n}") for n in range(3)] == sorted(digest.index(f"news {n}") for n in range(3))
    assert await asyncio.gather(*(harness.service.release_held() for _ in range(2))) == [0, 0]
    await harness.deliver()
    assert len(harness.said("sms")) == 2
    assert sorted(await states(harness)) == ["digested"] * 3 + ["sent"] * 2


async def test_ending_quiet_hours_releases_news_at_once_and_one_item_undigested(harness: People) -> None:
    await harness.bring_in("ann", "sms", wrote="sms")
    await night(harness, "ann", "10:00", "20:00")
    action = Action("More", "t")
    assert (
        await harness.service.notify("ann", Notification("one thing", actions=(action,)))
    ).fate is NotificationStatus.HELD
    low = await harness.service.notify("ann", Notification("not important", urgency=Urgency.LOW))
    assert await harness.service.release_held() == 0
    await night(harness, "ann", "", "")
    assert await harness.service.release_held() == 1
    await harness.deliver()
    assert harness.said("sms") == ["one thing"]
    assert "More" in str(await harness.store.db.outbound.one("actions"))
    assert low.fate is NotificationStatus.HELD  # until the morning's digest, still
    moment(harness).at = datetime(2026, 11, 22, 8, 0, 1, tzinfo=UTC)
    assert await harness.service.release_held() == 1
    await harness.deliver()
    assert harness.said("sms")[1:] == ["not important"]


async def test_news_over_the_daily_cap_waits_for_the_digest_and_muted_is_dropped(harness: People) -> None:
    harness.manners = NotificationPolicy(daily_cap=2)
    await harness.bring_in("ann", "sms", wrote="sms")
    await harness.prefer("ann", muted=["weather"])
    fates = [(await harness.service.notify("ann", Notification(f"n{n}"))).fate for n in range(4)]
    assert fates == ["queued", "queued", "held", "held"]
    assert (await harness.service.notify("ann", Notification("rain", "weather"))).fate is NotificationStatus.MUTED
    assert not await harness.service.send("ann", "more rain", {"category": "weather"})
    moment(harness).move(hours=20)
    assert await harness.service.release_held() == 1
    await harness.deliver()
    assert len(harness.said("sms")) == 3


async def test_promise_8_failed_news_goes_to_the_next_target_with_the_reason(harness: People) -> None:
    await harness.bring_in("ann", "sms", "telegram", "email", wrote="telegram")
    await harness.write("ann", "sms")
    harness.channels["sms"].acts.append(OptedOut("STOP", "21610"))
    await harness.service.notify("ann", Notification("Your parcel is here"))
    await harness.deliver()
    assert await states(harness) == ["failed", "held"]
    assert await harness.service.fall_back() == 1
    assert await harness.service.release_held() == 1
    await harness.deliver()
    assert harness.said("telegram") == [
        "Your parcel is here",
        "You stopped my messages by text message, so I write to you here instead.",
    ]
    assert harness.said("sms") == ["Your parcel is here"]
    assert await harness.service.fall_back() == 0


async def test_a_lost_channel_is_never_told_on_that_channel(harness: People) -> None:
    await harness.bring_in("ann", "sms", "telegram", wrote="sms")
    await harness.store.admin.execute(
        "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
        " select tenant_id, 'ann-sms-2', channel, account, '+15550009999', admitted"
        " from identities where channel = 'sms'"
    )
    await harness.write("ann", "sms")
    await harness.prefer("ann", preferred_channel="sms")
    await harness.store.db.identities.change({"state": "blocked"}, id="ann-sms")
    await harness.service.notify("ann", Notification("Rain", "weather", urgency=Urgency.LOW))
    moment(harness).move(hours=30)
    await harness.service.release_held()
    await harness.deliver()
    assert harness.said("telegram") == ["I can no longer reach you by text message, so I write to you here instead."]
    assert harness.said("sms") == ["Rain"]


async def test_a_channel_that_is_back_is_not_told_as_lost(harness: People) -> None:
    await harness.bring_in("ann", "sms", "telegram", wrote="sms")
    for state in ("blocked", "active"):
        await harness.store.db.identities.change({"state": state}, id="ann-sms")
    await harness.service.release_held()
    await harness.deliver()
    assert (harness.said("telegram"), harness.said("sms")) == ([], [])


async def test_what_fails_everywhere_is_nowhere_and_stays_visible(harness: People) -> None:
    await harness.bring_in("ann", "sms", "telegram", wrote="sms")
    for channel in ("sms", "telegram"):
        harness.channels[channel].acts.append(Rejected("no", "400"))
    await harness.service.notify("ann", Notification("lost"))
    for _ in range(3):
        await harness.deliver()
        await harness.service.fall_back()
    assert await states(harness) == ["nowhere"]
    await harness.bring_in("bob")
    assert (await harness.service.notify("bob", Notification("hello"))).fate is NotificationStatus.NOWHERE


async def test_an_undelivered_callback_and_an_outage_fall_back_to_another_target(harness: People) -> None:
    await harness.bring_in("ann", "sms", "telegram", wrote="sms")
    await harness.service.notify("ann", Notification("first"))
    await harness.deliver()
    [ref] = harness.channels["sms"].arrived
    await harness.store.inbox.accept(StatusUpdate("sms", ACCOUNT, "SM0", ref, DeliveryStatus.UNDELIVERED, "30003"))
    assert await harness.service.fall_back() == 1
    await harness.deliver()
    assert harness.said("telegram") == ["first"]
    harness.channels["sms"].acts.extend([Unavailable("down")] * 3)
    await harness.service.notify("ann", Notification("second"))
    await harness.deliver()
    assert await harness.service.fall_back() == 0  # a moment's trouble is waited out
    await harness.store.admin.execute("update outbound set created_at = created_at - interval '6 minutes'")
    assert await harness.service.fall_back() == 0  # taken back
    assert await harness.service.fall_back() == 1
    await harness.deliver()
    assert harness.said("telegram") == ["first", "second"]
    assert harness.said("sms") == ["first", "second"]


async def test_a_callback_that_comes_before_the_providers_answer_counts(harness: People) -> None:
    async def tell(to: Target) -> None:
        update = StatusUpdate("sms", ACCOUNT, "SM0", to.ref, DeliveryStatus.UNDELIVERED, "30003")
        await harness.store.inbox.accept(update)

    await harness.bring_in("ann", "sms", "telegram", wrote="sms")
    harness.channels["sms"].acts.append(tell)
    await harness.service.notify("ann", Notification("first"))
    await harness.deliver()
    assert await harness.service.fall_back() == 1
    await harness.deliver()
    assert harness.said("telegram") == ["first"]


@pytest.mark.parametrize("reacts", [True, False])
async def test_news_without_a_reaction_goes_to_the_next_target_if_configured(harness: People, reacts: bool) -> None:
    harness.manners = NotificationPolicy(fall_back_after=timedelta(minutes=10))
    await harness.bring_in("ann", "sms", "email", wrote="sms")
    await harness.service.notify("ann", Notification("Are you there?", title="A question"))
    await harness.deliver()
    moment(harness).move(minutes=9)
    assert await harness.service.fall_back() == 0
    if reacts:
        await harness.write("ann", "sms")
    moment(harness).move(minutes=2)
    assert await harness.service.fall_back() == (0 if reacts else 1)
    await harness.deliver()
    assert harness.said("email") == ([] if reacts else ["# A question\n\nAre you there?"])
    moment(harness).move(minutes=60)
    assert await harness.service.fall_back() == 0  # there is no third place, and it stays sent
    assert await states(harness) == ["sent"]


async def ask_approval(harness: People, id: str, *, sent: bool = True) -> None:
    """Let a task of Ann's ask for an approval in her chat."""
    admin = harness.store.admin
    await admin.execute("insert into lanes (tenant_id, id) values ('ann', $1)", id)
    await admin.execute(
        "insert into turns (tenant_id, id, lane_id, fence, state) values ('ann', $1, $1, 1, 'waiting')", id
    )
    await admin.execute(
        "insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments,"
        " shown, source, code, token, timeout, sealed_head, sealed_tail, created_at) values ('ann', $1, $1, '', 1,"
        " 'ann-telegram-talk', 'send_email', 'send an email to Bob', '{}', '[]', 'trigger', $1, $1, '30 minutes', '',"
        " '', now())",
        id,
    )
    if sent:
        await admin.execute("update approvals set expires_at = now(), hash = 'h' where id = $1", id)


async def test_a_card_that_waits_is_told_by_push_without_a_way_to_decide_there(harness: People) -> None:
    await harness.bring_in("ann", "telegram", "push", wrote="telegram")
    await ask_approval(harness, "A1", sent=False)
    assert await harness.service.release_held() == 0
    await ask_approval(harness, "A2")
    await ask_approval(harness, "A3")
    await harness.store.db.approvals.change({"state": "cancelled"}, id="A3")
    await harness.service.release_held()
    await harness.deliver()
    assert harness.said("push") == [
        "# Your approval is needed\n\nThis waits for your approval in Telegram: send an email to Bob"
    ]
    assert harness.said("telegram") == []
    await night(harness, "ann", "10:00", "20:00")
    await ask_approval(harness, "A4")  # the card comes out with the quiet hours' end, and needs no second word
    await harness.service.release_held()
    assert await states(harness) == ["sent", "muted", "muted"]
    await night(harness, "ann", "", "")
    await harness.prefer("ann", preferred_channel="push")
    await harness.service.notify("ann", Notification("Shall I?", actions=(Action("Yes", "t"),)))
    assert await harness.store.one("select text from outbound order by created_at desc limit 1") == (
        "Shall I?\n\nTo answer, open Telegram."
    )
    assert await harness.store.one("select actions from outbound order by created_at desc limit 1") == "[]"


async def test_a_tasks_card_is_held_in_quiet_hours_and_its_expiry_starts_after(harness: People) -> None:
    await harness.bring_in("ann", "telegram", wrote="telegram")
    assert not await harness.service.holds_cards("ann", "run")
    await night(harness, "ann", "10:00", "20:00")
    assert await harness.service.holds_cards("ann", "run")
    await ask_approval(harness, "A1", sent=False)
    card = OutboundMessage("card", OutboundKind.CARD, "Approve? OK 7K")
    await harness.store.enqueue_in("ann", "ann-telegram-talk", [card], held=True)
    await harness.store.db.approval_cards.add(tenant_id="ann", outbound_id="card", approval_id="A1")
    assert await harness.service.release_held() == 0
    await harness.deliver()
    assert harness.said("telegram") == []
    await harness.write("ann", "telegram")  # quiet hours concern unprompted messages only
    moment(harness).move(hours=8)
    both = await asyncio.gather(harness.service.release_held(), harness.service.release_held())
    assert sorted(both) == [0, 1]
    await harness.deliver()
    assert harness.said("telegram") == ["Approve? OK 7K"]


async def test_a_task_asks_on_the_preferred_channel_and_never_on_a_one_way_one(harness: People) -> None:
    await harness.bring_in("ann", "sms", "telegram", "push", wrote="sms")
    await harness.write("ann", "telegram")
    await harness.write("ann", "push")
    homes = []
    for preferred in ("", "sms", "push"):
        await harness.prefer("ann", preferred_channel=preferred)
        homes.append(await harness.store.one("select home_conversation('ann', '')"))
    assert homes == ["ann-telegram-talk", "ann-sms-talk", "ann-telegram-talk"]
    await harness.prefer("ann", preferred_channel="sms")
    assert await harness.store.one("select home_conversation('ann', '', '{telegram,slack}')") == "ann-telegram-talk", (
        "off"
    )
    assert await harness.store.one("select home_conversation('ann', 'sms', '{slack}')") is None
    assert await harness.store.one("select other_conversation('ann', 'sms')") == "ann-telegram-talk"


async def test_promise_11_a_message_only_goes_to_an_identity_of_its_tenant(harness: People) -> None:
    chance = random.Random(11)
    tenants = ["ann", "bob", "cid"]
    for tenant, suffix in zip(tenants, ("", "2", "3"), strict=True):
        await harness.bring_in(tenant, "sms", "telegram", "email", wrote="sms", suffix=suffix)
        await harness.write(tenant, "telegram")
    talks = await harness.store.db.conversations.column("id")
    for number in range(60):
        tenant = chance.choice(tenants)
        await harness.service.notify(
            tenant, Notification(f"for {tenant}: {number}", conversation_id=str(chance.choice(talks)))
        )
        if number % 7 == 0:
            await harness.prefer(chance.choice(tenants), preferred_channel=chance.choice(["sms", "email", ""]))
        if number % 11 == 0:
            harness.channels["sms"].acts.append(Rejected("no"))
        if number % 13 == 0:
            await harness.store.admin.execute(
                "update identities set state = case state when 'active' then 'blocked' else 'active' end where id = $1",
                f"{chance.choice(tenants)}-telegram",
            )
        if number % 5 == 0:
            await harness.deliver()
            await harness.service.fall_back()
            await harness.service.release_held()
    await harness.deliver()
    rows = await harness.store.admin.fetch(
        "select o.tenant_id, o.text, i.tenant_id as whose, i.user_key, c.peer from outbound o"
        " join conversations c on c.id = o.conversation_id join identities i on i.id = c.identity_id"
    )
    assert len(rows) > 50
    for row in rows:
        assert row["tenant_id"] == row["whose"]
        assert row["peer"] == row["user_key"]
        assert row["tenant_id"] in row["text"] or "write to you here" in row["text"] or "waited" in row["text"]
    # Not even the database's own caller can name somebody else's place.
    for mine, other in itertools.permutations(tenants, 2):
        made = await harness.store.database.call(
            "select may_notify($1, $2, 'sms', $3) as may from set_config('onevalet.tenant', $1, false)",
            mine,
            f"{other}-sms",
            "+15550000001",
        )
        assert made is not None
        assert made["may"] is False
