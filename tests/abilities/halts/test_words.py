"""HALT ALL and LIFT as they come in: an owner's count at once, and everybody else is told once that all is stopped."""

from datetime import UTC, datetime, timedelta

import pytest

from abilities.halts.sentences import SENTENCES
from core.inbox.inbox import Inbox
from core.messaging.messages import InboundMessage, ReachabilityChange, ReachabilityReason
from core.queue.limits import FULL, BacklogLimits
from onevalet.migrating import all_functions
from tests.core.harness import ACCOUNT, CHANNEL, OPEN, Store, TwiceDatabase, message, opened
from tests.jobs.delivery.test_runner import deliver, runner
from tests.jobs.harness import RecordingChannel
from tests.jobs.worker_harness import WorkerHarness

ANN, BEN, CAT = "+15550000001", "+15550000002", "+15550000003"


async def owned(store: Store) -> None:
    """Let Ann in as the owner, and Ben as a member; their first words are answered."""
    await store.say("hello", sender=ANN)
    await store.say("hello", sender=BEN)
    await WorkerHarness(store).run_turns()
    await deliver(store, RecordingChannel())
    await store.db.tenants.change({"role": "owner"}, tenant_id=await store.db.person(ANN))


async def sent(store: Store) -> list[str]:
    """Deliver all that may go out now; return it."""
    channel = RecordingChannel()
    await deliver(store, channel)
    return channel.texts


async def code(store: Store) -> str:
    """Return the code of the halt."""
    return str(await store.one("select code from halts where lifted_at is null"))


async def outcomes(store: Store) -> list[object]:
    """Return what became of the words, in order."""
    return await store.db.halt_words.column("outcome", order="at")


async def test_an_owner_halts_all_and_the_answer_with_the_code_goes_out(store: Store) -> None:
    await owned(store)
    await store.say(" Halt  all! ", sender=ANN)
    assert await sent(store) == [SENTENCES["halted"].format(code=await code(store))]
    assert await store.column("select state from inbound where reason = 'halt: halted'") == ["done"]
    assert await store.one("select is_halted()")
    assert await store.db.halts.one("how") == "word by sms"


async def test_asking_again_shows_the_same_code_and_begins_no_other_halt(store: Store) -> None:
    await owned(store)
    await store.say("halt all", sender=ANN)
    await store.say("halt all", sender=ANN)
    assert await sent(store) == [SENTENCES["halted"].format(code=await code(store))] * 2
    assert await store.db.halts.count() == 1


async def test_the_answer_passes_what_waits_in_its_conversation(store: Store) -> None:
    await owned(store)
    await store.say("and?", sender=ANN)
    await WorkerHarness(store).run_turns()
    await store.say("halt all", sender=ANN)
    assert await sent(store) == [SENTENCES["halted"].format(code=await code(store))]
    await store.say(f"lift {await code(store)}", sender=ANN)
    assert await sent(store) == ["re and?", SENTENCES["lifted"]]


@pytest.mark.parametrize("word", ["halt all", "HALT ALL please", "please halt all", "halt  all\nnow"])
async def test_nobody_else_halts_anything_nor_do_other_words(store: Store, word: str) -> None:
    await owned(store)
    await store.say(word, sender=BEN if word == "halt all" else ANN)
    assert not await store.one("select is_halted()")
    assert await outcomes(store) == (["refused"] if word == "halt all" else [])
    await WorkerHarness(store).run_turns()
    [answer] = await sent(store)
    assert answer.startswith("Only whoever runs me" if word == "halt all" else "re ")


async def test_a_stranger_halts_nothing_and_hears_nothing_of_a_halt(store: Store) -> None:
    await owned(store)
    await store.say("halt all", sender=ANN)
    await sent(store)
    await store.db.identities.change({"admitted": ""}, user_key=BEN)
    await store.say("halt all", sender=CAT)
    assert await outcomes(store) == ["halted", "refused"]
    assert await store.db.halts.count() == 1


async def test_each_person_is_told_once_a_halt_and_answered_after_it(store: Store) -> None:
    await owned(store)
    await store.say("halt all", sender=ANN)
    await sent(store)
    for words in ("one", "two"):
        await store.say(words, sender=BEN)
    await WorkerHarness(store).run_turns()
    assert await sent(store) == [SENTENCES["told"]]
    await store.say(f"Lift {await code(store)}.", sender=ANN)
    await WorkerHarness(store).run_turns()
    assert sorted(await sent(store)) == sorted([SENTENCES["lifted"], "re one+two"])
    await store.say("halt all", sender=ANN)
    await store.say("three", sender=BEN)
    assert SENTENCES["told"] in await sent(store)


async def test_promise_8_who_says_stop_before_the_news_of_a_halt_hears_nothing(store: Store) -> None:
    await owned(store)
    await store.say("halt all", sender=ANN)
    await sent(store)
    await store.say("one", sender=BEN)
    await store.inbox.accept(ReachabilityChange(CHANNEL, ACCOUNT, BEN, False, ReachabilityReason.OPTED_OUT, ("stop",)))
    assert await sent(store) == []


async def test_promise_8_news_of_a_halt_that_are_being_sent_end_with_a_stop(store: Store) -> None:
    await owned(store)
    await store.say("halt all", sender=ANN)
    await sent(store)
    await store.say("one", sender=BEN)
    channel = RecordingChannel()
    sender = runner(store, channel)
    claim = await sender.claim(None)
    assert claim is not None
    # As a provider dates it, before the news were queued.
    long_ago = datetime.now(UTC) - timedelta(minutes=5)
    stop = ReachabilityChange(
        CHANNEL, ACCOUNT, BEN, False, ReachabilityReason.OPTED_OUT, ("stop",), reply="Stopped.", said_at=long_ago
    )
    await store.inbox.accept(stop)
    await sender.run(claim)
    await deliver(store, channel)
    assert channel.texts == ["Stopped."]


async def test_what_is_refused_during_a_halt_is_said_during_it(store: Store) -> None:
    await owned(store)
    await store.say("halt all", sender=ANN)
    await sent(store)
    inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person=1))
    for number in range(3):
        await inbox.accept(message("hello", BEN, f"SM too many {number}"))
    assert await sent(store) == [SENTENCES["told"], FULL.format(number=1)]


async def test_wrong_codes_lift_nothing_and_five_lock_the_right_one_out(store: Store) -> None:
    await owned(store)
    await store.say("halt all", sender=ANN)
    right = await code(store)
    wrong = f"{(int(right) + 1) % 1_000_000:06d}"
    await sent(store)
    for _ in range(5):
        await store.say(f"lift {wrong}", sender=ANN)
    await store.say(f"lift {right}", sender=ANN)
    assert await sent(store) == [SENTENCES["wrong"]] * 5 + [SENTENCES["limited"]]
    assert await store.one("select is_halted()")
    await store.admin.execute("update guesses set at = at - interval '1 hour'")
    await store.say(f"lift {right[:3]}-{right[3:]}", sender=ANN)
    assert not await store.one("select is_halted()")
    assert await outcomes(store) == ["halted", *["wrong"] * 5, "limited", "lifted"]


async def test_only_an_owner_lifts_a_halt(store: Store) -> None:
    await owned(store)
    await store.say("halt all", sender=ANN)
    await store.say(f"lift {await code(store)}", sender=BEN)
    assert await store.one("select is_halted()")
    assert (await outcomes(store))[-1] == "refused"
    assert SENTENCES["told"] in await sent(store)


async def test_a_code_after_the_halt_is_answered_without_a_model(store: Store) -> None:
    await owned(store)
    await store.say("lift 123456", sender=ANN)
    await WorkerHarness(store).run_turns()
    assert await sent(store) == ["Nothing is stopped: work goes on as usual."]
    assert await store.db.guesses.count() == 0


async def test_the_owner_halts_even_if_their_backlog_is_full(store: Store) -> None:
    await owned(store)
    await store.admin.execute(
        "insert into inbound (tenant_id, id, conversation_id, seq, text, state)"
        " select tenant_id, 'm' || n, id, in_seq + n, '', 'waiting' from conversations, generate_series(1, 101) n"
        " where peer = $1",
        ANN,
    )
    await store.admin.execute("update conversations set in_seq = in_seq + 101 where peer = $1", ANN)
    await store.say("halt all", sender=ANN)
    assert await store.one("select is_halted()")
    assert await sent(store) == [SENTENCES["halted"].format(code=await code(store))]


async def test_a_word_whose_answer_was_lost_halts_once_and_answers_once(database_url: str) -> None:
    async with opened(database_url, TwiceDatabase(database_url)) as store:
        await owned(store)
        await store.inbox.accept(halting())
        await store.inbox.accept(halting())
        assert await outcomes(store) == ["halted"]
        assert len(await sent(store)) == 1


def halting() -> InboundMessage:
    """Return the same message each time."""
    return message("HALT ALL", ANN, "SM_halting")


def test_the_database_says_the_same_sentences_as_the_catalogues() -> None:
    [says] = [text for file in all_functions() for name, text in file.pieces() if name == "say_of_halt"]
    assert {name: f"when '{name}' then '{sentence}'" in says for name, sentence in SENTENCES.items()} == dict.fromkeys(
        SENTENCES, True
    )
