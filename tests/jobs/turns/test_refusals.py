"""What the checks refuse, through the store: its reason stays with the message, and commands are asked about too."""

import pytest

from core.clock import Clock
from core.messaging.chat_reader import chat_words
from core.people.access_policy import Access, Policy
from core.people.rate_limit import Rates
from core.people.tiers import read_tiers
from core.turns.checks import ordered_checks
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.runner import TurnRunner
from tests.core.builders import FakeModel, says
from tests.core.harness import LEASE, OPEN, Store
from tests.jobs.harness import RecordingChannel


async def run_turns(store: Store, *, access: Access = OPEN, rate: int = 30, rates: Rates | None = None) -> FakeModel:
    """Run all that waits under these checks; give the model, to see what reached it."""
    model = FakeModel([says("fine") for _ in range(50)])
    checks = ordered_checks(access, rates or Rates(), read_tiers("", rate), clock=Clock())
    turns = TurnStore(store.database, store.make_id, LEASE)
    runner = TurnRunner(
        turns, Orchestrator(model, checks=checks), store.wakeups, {"sms": RecordingChannel()}, store.make_id, "w1"
    )
    while lease := await runner.claim(None):
        await runner.run(lease)
    return model


async def test_promise_8_messages_before_a_stop_never_reach_the_model_afterwards(store: Store) -> None:
    await store.say("please")
    await store.reach("+15550000001", False, "k")
    model = await run_turns(store)
    assert model.requests == []
    assert await store.db.inbound.column("reason") == ["stopped"]
    assert await store.db.outbound.count() == 0


async def test_promise_6_a_person_removed_from_the_list_has_the_reason_recorded(store: Store) -> None:
    await store.say("please")
    model = await run_turns(store, access=Access(Policy.ALLOWLIST))
    assert model.requests == []
    assert await store.db.inbound.column("reason") == ["unknown"]


async def test_promise_6_beyond_the_rate_one_reply_then_silence_with_reasons(store: Store) -> None:
    rates = Rates()
    models = []
    for number in range(6):
        await store.say(f"text {number}")
        models.append(await run_turns(store, rate=3, rates=rates))
    assert [len(model.requests) for model in models] == [1, 1, 1, 0, 0, 0]
    assert await store.db.inbound.column("reason", order="seq") == ["", "", "", *["rate_limited"] * 3]
    texts = await store.db.outbound.column("text", order="seq")
    assert texts[:3] == ["fine"] * 3
    assert len(texts) == 4
    # What was refused is no part of the talk.
    assert await store.one("select count(*) from history where message::text like '%text 4%'") == 0


@pytest.mark.parametrize("command", [word.name for word in chat_words().commands if word.checked])
async def test_commands_count_too_and_are_refused_as_all_else(store: Store, command: str) -> None:
    rates = Rates()
    for _ in range(5):
        await store.say("", command=command)
        await run_turns(store, rate=2, rates=rates)
    assert await store.db.outbound.count() == 3
    # An answer may fail here, where no ability is open; the limit is counted before it.
    answered, refused = (reasons := await store.db.inbound.column("reason", order="seq"))[:2], reasons[2:]
    assert set(answered) <= {"", "error"}
    assert refused == ["rate_limited"] * 3


def test_only_what_begins_or_repeats_a_turn_is_not_checked_first() -> None:
    unchecked = {word.name for word in chat_words().commands if not word.checked}
    assert unchecked == {"undo", "export", "forget", "more", "listen"}
