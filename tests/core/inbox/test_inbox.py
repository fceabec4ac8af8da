"""The inbox: what it returned for is kept (promise 1), once (promise 2), by a place of its sender's own."""

import asyncio
import itertools
import random
from datetime import UTC, datetime

import asyncpg
import pytest
from structlog.testing import capture_logs

from core.db.database import Database
from core.errors import StoreUnavailable
from core.inbox.inbox import Inbox
from core.messaging.messages import (
    Address,
    AddressChange,
    IgnoredMessage,
    IgnoreReason,
    InboundMessage,
    Media,
    ReachabilityChange,
    ReachabilityReason,
)
from tests.core.harness import ACCOUNT, CHANNEL, OPEN, RecordedWakeups, Store, message
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.services import private_postgres

ANN = "+15550000001"


async def test_promise_2_concurrent_deliveries_on_two_replicas_make_one_row(store: Store) -> None:
    database = Database(store.url)
    replica = Inbox(database, RecordedWakeups(), store.make_id, OPEN)
    messages = [message(f"n{n}", ANN, f"SM{n}") for n in range(8)] * 5
    random.Random(1).shuffle(messages)
    received = await asyncio.gather(
        *((store.inbox if n % 2 else replica).accept(each) for n, each in enumerate(messages))
    )
    assert await store.db.inbound.count() == 8
    assert {r.id for r in received if not r.duplicate} == set(await store.db.inbound.column("id"))
    by_text = {str(text): id for text, id in await store.admin.fetch("select text, id from inbound")}
    assert [by_text[each.text] for each in messages] == [r.id for r in received]
    assert await store.db.inbound.column("seq", order="seq") == list(range(1, 9))
    await database.close()


async def test_a_message_that_comes_again_is_no_line_of_an_ordinary_log(store: Store) -> None:
    """Sweeps hand in again what came by webhook, every few minutes."""
    with capture_logs() as logs:
        for _ in range(3):
            await store.inbox.accept(message("hi", ANN, "SM1"))
    lines = [(line["log_level"], line["duplicate"]) for line in logs if line["event"] == "message_received"]
    assert lines == [("info", False), ("debug", True), ("debug", True)]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_promise_2_any_known_key_makes_it_a_duplicate_in_any_order(store: Store, order: tuple[int, ...]) -> None:
    # As Slack tells of one message: by webhook, by a second event, by its history.
    ways = [("Ev1", "client1", "ts1"), ("Ev2", "client1", "ts1"), ("ts1",)]
    received = [await store.inbox.accept(message("hi", ANN, *ways[n])) for n in order]
    assert [r.duplicate for r in received] == [False, True, True]
    assert len({r.id for r in received}) == 1
    assert await store.db.inbound.count() == 1
    # What the duplicates told is known from now on, too.
    for key in {key for n in order for key in ways[n]}:
        assert (await store.inbox.accept(message("hi", ANN, key))).duplicate


async def test_promise_2_ways_that_share_one_key_at_once_make_one_row(store: Store) -> None:
    for round_ in range(10):
        ways = [(f"a{round_}", f"b{round_}"), (f"c{round_}", f"b{round_}"), (f"b{round_}",)]
        threads = ("", "1", "2") if round_ % 2 else ("", "", "")
        received = await asyncio.gather(
            *(
                store.inbox.accept(message("hi", ANN, *keys, thread=thread))
                for keys, thread in zip(ways, threads, strict=True)
            )
        )
        assert len({r.id for r in received}) == 1
        assert await store.db.inbound.count() == round_ + 1


async def test_two_first_messages_of_a_stranger_at_once_make_one_tenant(store: Store) -> None:
    for person in range(10):
        sender = f"+1555000{person:04d}"
        await asyncio.gather(*(store.inbox.accept(message(f"{n}", sender, f"{person}-{n}")) for n in range(4)))
    for table in ("tenants", "identities", "conversations"):
        assert await store.one(f"select count(*) from {table}") == 10, table  # noqa: S608
    assert await store.db.inbound.count() == 40


async def test_one_person_in_two_threads_is_one_tenant_with_two_conversations(store: Store) -> None:
    await store.inbox.accept(message("top", ANN, "1"))
    await store.inbox.accept(message("thread", ANN, "2", thread="123.4"))
    assert await store.db.tenants.count() == 1
    assert await store.db.conversations.column("thread", order="thread") == ["", "123.4"]
    assert len(set(store.wakeups.turns)) == 2


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("a\x00b", "ab"), ("\ud83d", "�"), ("fine 👍🏽 \U0001f600", "fine 👍🏽 \U0001f600"), ("", ""), ("\x00", "")],
)
async def test_text_that_no_database_takes_is_kept_without_what_it_refuses(store: Store, sent: str, kept: str) -> None:
    odd = InboundMessage(
        address=Address(CHANNEL, ACCOUNT, ANN, "t" + sent),
        sender=ANN,
        keys=("k" + sent,),
        text=sent,
        media=(Media("https://x/" + sent, "text/plain", sent),),
        sender_name=sent,
        sender_timezone=sent,
        provider_id="p" + sent,
    )
    first = await store.inbox.accept(odd)
    assert (await store.inbox.accept(odd)).id == first.id
    assert await store.db.inbound.column("text") == [kept]
    assert await store.db.tenants.column("name") == [kept]


async def test_promise_8_text_of_a_stopped_person_is_not_kept_and_makes_no_turn(store: Store) -> None:
    await store.say("hello")
    await store.reach(ANN, False, "stop1")
    store.wakeups.turns.clear()
    secret = InboundMessage(Address(CHANNEL, ACCOUNT, ANN), ANN, ("s1",), "secret", (Media("https://m", "image/png"),))
    assert not (await store.inbox.accept(secret)).duplicate
    assert (await store.inbox.accept(secret)).duplicate
    row = await store.admin.fetchrow("select * from inbound where seq = 2")
    assert row is not None
    assert (row["state"], row["reason"], row["text"], row["media"]) == ("ignored", "stopped", "", "[]")
    assert store.wakeups.turns == []
    _, turn = await store.claim_turn()
    assert [m.text for m in turn.request.inbound] == ["hello"]


async def test_promise_8_start_readmits_a_person_and_a_replayed_stop_is_ignored(store: Store) -> None:
    await store.say("hello")
    states = []
    for reachable, key in [(False, "k1"), (False, "k1"), (True, "k2"), (False, "k1"), (True, "k2"), (False, "k3")]:
        await store.reach(ANN, reachable, key)
        states.append(await store.db.identities.one("state"))
    assert states == ["stopped", "stopped", "active", "active", "active", "stopped"]


async def test_a_replay_is_known_by_any_of_its_keys(store: Store) -> None:
    await store.say("hello")
    for reachable, keys in [(False, ("a", "b")), (True, ("c",)), (False, ("b", "d")), (False, ("d",))]:
        change = ReachabilityChange(CHANNEL, ACCOUNT, ANN, reachable, ReachabilityReason.OPTED_OUT, keys)
        await store.inbox.accept(change)
    assert await store.db.identities.one("state") == "active"


async def test_a_stop_of_somebody_unknown_is_recorded_and_makes_nobody(store: Store) -> None:
    received = await store.reach("+15559999999", False, "k")
    assert received.duplicate
    assert await store.db.tenants.count() == 0
    assert await store.db.ignored_messages.column("reason") == ["stopped"]


async def test_a_person_who_blocked_us_and_writes_is_active_again(store: Store) -> None:
    await store.say("hello")
    await store.inbox.accept(ReachabilityChange(CHANNEL, ACCOUNT, ANN, False, ReachabilityReason.BLOCKED, ("b",)))
    assert await store.db.identities.one("state") == "blocked"
    await store.say("I am back")
    assert await store.db.identities.one("state") == "active"
    assert await store.db.inbound.column("text", state="waiting") == ["hello", "I am back"]


async def test_a_group_is_told_once_about_direct_chats_and_strangers_never(store: Store) -> None:
    await store.say("hello", sender="+15550000001")
    group = Address(CHANNEL, ACCOUNT, "group-1")
    for number, sender in enumerate(["+15550000009", "+15550000001", "+15550000001"]):
        for _ in range(2):
            await store.inbox.accept(
                IgnoredMessage(group, sender, (f"g{number}",), IgnoreReason.GROUP, reply="I talk in direct chats only.")
            )
    rows = await store.admin.fetch(
        "select o.text, c.peer from outbound o join conversations c on c.tenant_id = o.tenant_id"
        " and c.id = o.conversation_id"
    )
    assert [(row["text"], row["peer"]) for row in rows] == [("I talk in direct chats only.", "group-1")]
    assert await store.db.tenants.count() == 1


async def test_an_ignored_message_is_recorded_with_its_reason_and_no_person(store: Store) -> None:
    group = IgnoredMessage(Address(CHANNEL, ACCOUNT, "-100"), "7", ("u1", "u2"), IgnoreReason.GROUP)
    received = [await store.inbox.accept(group) for _ in range(2)]
    assert [r.duplicate for r in received] == [False, True]
    rows = await store.admin.fetch("select key, reason from ignored_messages order by key")
    assert [tuple(r) for r in rows] == [("u1", "group"), ("u2", "group")]
    for table in ("tenants", "conversations", "inbound", "lanes"):
        assert await store.one(f"select count(*) from {table}") == 0, table  # noqa: S608


async def test_a_conversation_follows_its_person_to_a_new_address(store: Store) -> None:
    await store.say("hello")
    await store.say("hello", sender="+15550000002")
    moved = AddressChange(CHANNEL, ACCOUNT, ANN, "+1999", ("m",))
    assert [(await store.inbox.accept(moved)).duplicate for _ in range(2)] == [False, True]
    assert set(await store.db.conversations.column("peer")) == {"+1999", "+15550000002"}
    address = Address(CHANNEL, ACCOUNT, "+1999")
    await store.inbox.accept(InboundMessage(address, ANN, ("n",), "from there"))
    assert await store.db.conversations.count() == 2


async def test_a_stop_command_flags_the_running_turn_and_does_not_queue(store: Store) -> None:
    await store.say("long work")
    lease, turn = await store.claim_turn()
    assert turn.request.work.control is not None
    assert await turn.request.work.control.stopped() is None
    await store.say("enough", command="stop")
    assert await turn.request.work.control.stopped() == "enough"
    assert not await store.finish(lease, turn, state="interrupted", reason="stop")
    rows = await store.admin.fetch("select text, state, reason, turn_id from inbound order by seq")
    assert [tuple(r) for r in rows] == [
        ("long work", "done", "stop", turn.turn_id),
        ("enough", "done", "stop", turn.turn_id),
    ]


async def test_a_stop_command_with_nothing_running_is_a_turn_of_its_own(store: Store) -> None:
    await store.say("", command="stop")
    _, turn = await store.claim_turn()
    assert turn.command is not None
    assert turn.command.name == "stop"


async def test_promise_1_a_repeat_after_a_lost_commit_answer_is_the_same_message(twice: Store) -> None:
    received = await twice.say("hello")
    assert not received.duplicate
    assert await twice.db.inbound.column("id") == [received.id]
    # The worker is woken although the first answer was lost.
    assert twice.wakeups.turns == await twice.db.lanes.column("id")


async def test_what_cannot_be_written_is_no_outage(store: Store) -> None:
    # Such a value would fail again each time: it must not look like Postgres being away.
    with pytest.raises(asyncpg.DataError, match="invalid input"):
        await store.database.call("select ignore_message($1,$2,$3,$4)", "sms", 7, ["k"], "group")


async def test_promise_1_nothing_is_accepted_or_lost_while_postgres_is_away() -> None:
    from onevalet.migrating import migrate
    from tests.core.harness import opened

    async with private_postgres() as server:
        await migrate(server.url)
        async with opened(server.url, Database(server.url, patience=0.5)) as store:
            accepted = [await store.say("kept")]
            await store.admin.close()
            await server.stop()
            with pytest.raises(StoreUnavailable):
                await store.say("not kept")
            assert not await store.database.ready()
            with pytest.raises(StoreUnavailable):
                async with store.database.tenant("tn_x"):
                    pass
            patient = Database(server.url, patience=PATIENCE)
            with capture_logs() as logs:
                waiting = asyncio.create_task(
                    Inbox(patient, RecordedWakeups(), store.make_id, OPEN).accept(message("patient", ANN, "p"))
                )
                await eventually(lambda: logs, "that it has met the outage")
            await server.start()
            accepted.append(await waiting)
            await patient.close()
            accepted.append(await store.say("after"))
            assert await store.database.ready()
        async with opened(server.url) as store:
            assert await store.db.inbound.column("id", order="seq") == [r.id for r in accepted]


async def test_the_providers_time_is_stored_next_to_ours(store: Store) -> None:
    sent_at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    await store.inbox.accept(InboundMessage(Address(CHANNEL, ACCOUNT, ANN), ANN, ("k",), "hi", sent_at=sent_at))
    assert await store.db.inbound.column("sent_at") == [sent_at]
    assert await store.one("select received_at > sent_at from inbound")
    assert await store.one("select last_in_at is not null and last_out_at is null from channel_state")
