"""A text that its provider cut: each part is stored as it comes, and the model sees one message, whatever dies."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.messaging.messages import Address, Command, InboundMessage, Media, Origin
from core.messaging.pointed import Pointed, Whose
from operations.paths.transcript import read_transcript
from tests.core.harness import ACCOUNT, CHANNEL, Store, message

ANN = "+15550000001"
SENT = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


def part(text: str, number: int, goes_on: str | None = "\n", *, after: float = 0.0) -> InboundMessage:
    sent_at = SENT + timedelta(seconds=after)
    return replace(message(text, ANN, f"SM{number}"), sent_at=sent_at, goes_on=goes_on)


async def accept(store: Store, messages: Iterable[InboundMessage]) -> list[str]:
    return [str((await store.inbox.accept(each)).id) for each in messages]


async def pass_time(store: Store, seconds: float) -> None:
    """Let everything that waits have waited longer."""
    await store.admin.execute("update inbound set received_at = received_at - make_interval(secs => $1)", seconds)
    await store.admin.execute("update lanes set not_before = not_before - make_interval(secs => $1)", seconds)


async def taken(store: Store) -> list[str] | None:
    """Return what the turn that can begin now sees; None where none begins."""
    lease = await store.turns.claim(None, "w1")
    turn = await store.turns.begin(lease) if lease else None
    return [each.text for each in turn.request.inbound] if turn else None


async def test_the_parts_of_a_cut_text_are_one_message_of_its_turn(store: Store) -> None:
    parts = [part("One and tw", 1, ""), part("o, three", 2), part("and four.", 3, None)]
    ids = await accept(store, parts)
    lease, turn = await store.claim_turn()
    (seen,) = turn.request.inbound
    assert (seen.text, seen.ids, seen.is_own) == ("One and two, three\nand four.", tuple(ids), True)
    await store.finish(lease, turn, "Read.")
    assert set(await store.db.inbound.column("state")) == {"done"}
    assert len(await store.db.inbound.column("text")) == 3, "each is kept as it came"


async def test_no_turn_begins_while_more_of_a_text_may_come(store: Store) -> None:
    await accept(store, [part("One", 1)])
    assert await taken(store) is None
    (wait,) = [row["wait"] for row in await store.database.rows("select * from what_is_due(null)") if row[0] == "turns"]
    assert 0 < wait <= 2
    await pass_time(store, 1.9)
    await accept(store, [part("two", 2, after=1)])
    await pass_time(store, 0.2)
    assert await taken(store) is None, "each part begins the wait anew"
    await pass_time(store, 2)
    assert await taken(store) == ["One\ntwo"]


async def test_the_last_part_ends_the_wait_at_once(store: Store) -> None:
    await accept(store, [part("One", 1)])
    assert await taken(store) is None
    await accept(store, [part("two", 2, None)])
    assert await taken(store) == ["One\ntwo"]


async def test_a_text_that_never_ends_is_waited_for_twenty_seconds(store: Store) -> None:
    for number in range(12):
        await accept(store, [part(f"{number}", number, after=number * 1.9)])
        if number < 11:
            assert await taken(store) is None, number
            await pass_time(store, 1.9)
    assert await taken(store) == ["\n".join(map(str, range(12)))]


@pytest.mark.parametrize(
    "second",
    [
        part("two", 2, None, after=4),
        replace(part("", 2, None), media=(Media("u", "image/png"),)),
        replace(part("two", 2, None), media=(Media("u", "image/png"),)),
        replace(part("two", 2, None), origin=Origin.FORWARDED),
        replace(part("two", 2, None), points=(Pointed("no", Whose.OTHERS),)),
    ],
    ids=["later", "a picture", "a picture with words", "forwarded", "a reply"],
)
async def test_what_is_no_rest_of_it_stays_a_message_of_its_own(store: Store, second: InboundMessage) -> None:
    await accept(store, [part("One", 1), second])
    _, turn = await store.claim_turn()
    assert [(each.text, each.rest) for each in turn.request.inbound] == [("One", ()), (second.text, ())]


async def test_a_command_is_no_rest_and_is_not_kept_waiting(store: Store) -> None:
    await accept(store, [part("One", 1), replace(part("", 2, None), command=Command("new", ""))])
    assert await taken(store) == ["One"]


async def test_messages_that_were_not_cut_stay_one_by_one(store: Store) -> None:
    await accept(store, [part("One", 1, None), part("two", 2, None)])
    assert await taken(store) == ["One", "two"]


async def test_parts_of_another_conversation_are_none_of_this_one(store: Store) -> None:
    other = replace(part("two", 2, None), address=Address(CHANNEL, ACCOUNT, ANN, "elsewhere"))
    await accept(store, [part("One", 1, None), other])
    assert await taken(store) == ["One"]
    assert await taken(store) == ["two"]


async def test_promise_5_a_worker_that_dies_while_parts_come_loses_none_of_them(store: Store) -> None:
    await accept(store, [part("One", 1)])
    lease = await store.turns.claim(None, "dies before it looks")
    assert lease is not None
    await store.turns.end_leases("dies before it looks")
    await accept(store, [part("two", 2)])
    assert await taken(store) is None
    await pass_time(store, 2)
    lease, turn = await store.claim_turn("dies in its turn")
    await store.turns.end_leases("dies in its turn")
    await store.db.lanes.change({"not_before": None})
    lease, again = await store.claim_turn("w2")
    assert again.turn_id == turn.turn_id
    assert again.request.inbound == turn.request.inbound
    assert [each.text for each in again.request.inbound] == ["One\ntwo"]


async def test_promise_2_a_part_that_comes_twice_is_in_the_text_once(store: Store) -> None:
    first, second = part("One", 1), part("two", 2, None)
    await accept(store, [first, first, second, second, first])
    assert await taken(store) == ["One\ntwo"]


async def test_a_turn_that_runs_takes_in_a_cut_text_when_it_is_whole(store: Store) -> None:
    await store.say("hello")
    lease, turn = await store.claim_turn()
    control = turn.request.work.control
    assert control is not None
    assert await control.absorb() == []
    await accept(store, [part("An aside", 9, None, after=-60), part("One", 1)])
    assert [each.text for each in await control.absorb()] == ["An aside"]
    ids = await accept(store, [part("two", 2, None)])
    absorbed = await control.absorb()
    assert [(each.text, each.continues) for each in absorbed] == [("An aside", False), ("One", False), ("two", True)]
    assert absorbed[-1].id == ids[0]
    assert not await store.finish(lease, turn, "hi", absorbed=[each.id for each in absorbed])


async def test_a_turn_that_ends_while_parts_come_begins_no_next_one_early(store: Store) -> None:
    await store.say("hello")
    lease, turn = await store.claim_turn()
    await accept(store, [part("One", 1)])
    assert await store.finish(lease, turn, "hi")
    assert await store.turns.begin(lease) is None
    await accept(store, [part("two", 2, None)])
    assert await taken(store) == ["One\ntwo"]


async def test_a_replay_reads_a_cut_text_as_its_turn_did(store: Store) -> None:
    await accept(store, [part("One", 1), part("two", 2, None)])
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "Read.")
    transcript = await read_transcript(store.database, turn.turn_id)
    assert [each.text for each in transcript.request.inbound] == ["One\ntwo"]
