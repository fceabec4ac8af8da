"""What a message points at goes its way: kept with it, seen by its turn, forgotten with it."""

from dataclasses import replace

from core.messaging.messages import Address, IgnoredMessage, IgnoreReason, Media, ReachabilityChange, ReachabilityReason
from core.messaging.pointed import Pointed, Whose
from tests.core.harness import ACCOUNT, CHANNEL, Store, message

ANN = "+15550000001"
POINT = Pointed("The code is X4711", Whose.OTHERS, "X4711", files=1)
POINTING = replace(
    message("Keep this", ANN, "SM1"),
    media=(Media("u:own", "image/png"),),
    points=(POINT,),
    pointed_media=(Media("u:theirs", "text/plain"),),
)


async def test_a_turn_sees_what_its_message_points_at_with_the_files_of_both(store: Store) -> None:
    received = await store.inbox.accept(POINTING)
    _, turn = await store.claim_turn()
    (seen,) = turn.request.inbound
    assert (seen.text, seen.points, seen.media_count, seen.is_own) == ("Keep this", (POINT,), 2, False)
    assert turn.request.passed_on
    assert await store.one("select media -> 1 ->> 'url' from inbound where id = $1", received.id) == "u:theirs"


async def test_a_turn_that_runs_takes_in_what_a_further_message_points_at(store: Store) -> None:
    await store.say("hello")
    _, turn = await store.claim_turn()
    control = turn.request.work.control
    assert control is not None
    assert await control.absorb() == []
    await store.inbox.accept(POINTING)
    (seen,) = await control.absorb()
    assert seen.points == (POINT,)


async def test_forgetting_forgets_what_was_pointed_at(store: Store) -> None:
    await store.inbox.accept(POINTING)
    lease, turn = await store.claim_turn()
    tenant = await store.db.person()
    assert await store.one("select redact($1,$2)", tenant, ["x4711"]) is False, "its turn still runs"
    await store.finish(lease, turn, "kept")
    assert await store.one("select redact($1,$2)", tenant, ["x4711"]) is True
    assert "4711" not in str(await store.column("select points::text from inbound"))


async def test_promise_8_a_stopped_person_points_at_nothing(store: Store) -> None:
    await store.say("hello")
    await store.inbox.accept(ReachabilityChange(CHANNEL, ACCOUNT, ANN, False, ReachabilityReason.OPTED_OUT, ("s",)))
    await store.inbox.accept(POINTING)
    assert await store.column("select points::text from inbound where state = 'ignored'") == ["[]"]


async def test_each_kind_that_cannot_be_read_is_told_once(store: Store) -> None:
    await store.say("hello")
    for number, kind in enumerate(["game", "story", "game", "", ""]):
        await store.inbox.accept(
            IgnoredMessage(
                Address(CHANNEL, ACCOUNT, ANN), ANN, (f"k{number}",), IgnoreReason.UNSUPPORTED, "I can't.", kind
            )
        )
    assert await store.db.outbound.column("text") == ["I can't."] * 3
