"""Each statement of a turn, refused for good: the person is told once, and their next message is answered."""

import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from abilities.tasks.kinds.schedule import ScheduleTrigger
from core.turns.failures import FAILED, FAILED_BEGUN, RUN_FAILED, RUN_FAILED_BEGUN
from tests.abilities.tasks.harness import make_harness
from tests.core.harness import opened
from tests.jobs import refusing_harness as refusing
from tests.jobs.refusing_harness import MARKS, Refusing, RefusingHarness

_numbers = itertools.count(1)

SCENES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "an answer": ((), "hello", ""),
    "a tool that acts once": ((), "mark it", ""),
    "an approval": ((), "card please", ""),
    "an agent that asks": ((), "mail it", ""),
    "an answer to an agent": (("mail it",), "ann@example.org", ""),
    "a decision": (("card please",), "ok", ""),
    "a command": ((), "", "new"),
    "a person's command": ((), "", "prefs"),
    "what waits": (("card please",), "", "pending"),
}


@pytest.fixture(autouse=True)
def quietly() -> Iterator[None]:
    """Draw no traceback of what is refused: there are hundreds, and drawing one takes longer than a turn."""
    with capture_logs():
        yield


@pytest.fixture
async def system(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RefusingHarness]:
    monkeypatch.setattr("jobs.turns.runner.SECOND_TRY", 0.0)
    MARKS.clear()
    database = Refusing(database_url)
    async with opened(database_url, database) as store:
        yield RefusingHarness(store, database)


async def _begin(system: RefusingHarness, before: tuple[str, ...]) -> str:
    sender = f"+1555{next(_numbers):07}"
    for text in before:
        await system.store.say(text, sender=sender)
        await system.work()
        await system.deliver()
    return sender


async def _struck(system: RefusingHarness, sender: str, text: str, command: str) -> list[str]:
    """Let a person write, and give the statements that their turn needed."""
    await system.store.say(text, sender=sender, command=command)
    system.database.seen.clear()
    await system.work()
    return list(dict.fromkeys(system.database.seen))


@pytest.mark.parametrize("scene", SCENES)
async def test_promise_6_a_refused_statement_wedges_no_conversation(system: RefusingHarness, scene: str) -> None:
    before, text, command = SCENES[scene]
    statements = await _struck(system, await _begin(system, before), text, command)
    assert any(statement.startswith("select finish_turn(") for statement in statements)
    for statement in statements:
        sender = await _begin(system, before)
        known = await system.told(sender)
        system.database.refused, system.database.times = statement, 0
        await _struck(system, sender, text, command)
        system.database.refused = ""
        assert system.database.times, statement
        await system.work()  # what could not even be claimed waited, and nothing else did
        first = (await system.told(sender))[len(known) :]
        assert len(first) <= 1, (statement, first)
        await system.store.say("and now", sender=sender)
        await system.work()
        replies = (await system.told(sender))[len(known) :]
        assert await system.all_done(sender), statement
        assert len(replies) == len(first) + 1, (statement, replies)
        assert replies[-1].startswith("re and now"), (statement, replies)
        fate = await system.store.column(
            "select i.state || ' ' || i.reason from inbound i join conversations c on c.tenant_id = i.tenant_id"
            " and c.id = i.conversation_id where c.peer = $1 order by i.seq",
            sender,
        )
        assert first or str(fate[len(before)]).split(" ", 1)[1] or scene in ("an approval", "a decision"), (
            statement,
            replies,
            fate,
        )


async def test_promise_6_what_is_refused_all_the_time_is_told_each_time(system: RefusingHarness) -> None:
    statements = await _struck(system, await _begin(system, ()), "hello", "")
    (finish,) = (statement for statement in statements if statement.startswith("select finish_turn("))
    system.database.refused = finish
    sender = await _begin(system, ())
    for number in range(3):
        await _struck(system, sender, f"hello {number}", "")
    assert await system.told(sender) == [FAILED] * 3
    assert await system.store.db.turns.column("state", order="started_at") == ["done", *["failed"] * 3]
    texts = await system.store.column(
        "select message::text from history h join turns t on t.id = h.turn_id"
        " where t.state = 'failed' order by h.position"
    )
    assert len(texts) == 6


@pytest.mark.parametrize("failure", ["the end of the tool's call", "the end of the turn"])
async def test_promise_14_a_possibly_completed_request_is_not_told_to_retry(
    system: RefusingHarness, failure: str
) -> None:
    class Once(Refusing):
        def look(self, statement: str) -> None:
            self.refused = ""
            marked = bool(MARKS) and statement.startswith("select record_step(")
            if failure == "the end of the tool's call" and marked and not self.times:
                self.refused = refusing.beginning(statement)
            if failure == "the end of the turn" and statement.startswith("select finish_turn("):
                self.refused = refusing.beginning(statement)
            super().look(statement)

    store = replace(system.store, database=Once(system.store.url))
    system = RefusingHarness(store, store.database)  # type: ignore[arg-type]
    await system.store.say("mark it")
    await system.work()
    assert MARKS == ["mark it"]
    assert await system.told("+15550000001") == [FAILED_BEGUN]
    # The journal keeps what it did; without the person's approval the same is not done again.
    assert await store.db.steps.column("outcome", kind="tool") in (["unknown"], ["ok"])
    if failure == "the end of the tool's call":
        await system.store.say("mark it")
        await system.work()
        assert MARKS == ["mark it"]
    await store.database.close()


async def test_promise_14_what_took_no_effect_may_be_asked_for_again(system: RefusingHarness) -> None:
    statements = await _struck(system, await _begin(system, ()), "mail it", "")
    (finish,) = (statement for statement in statements if statement.startswith("select finish_turn("))
    system.database.refused = finish
    sender = await _begin(system, ())
    await _struck(system, sender, "mail it", "")
    assert await system.told(sender) == [FAILED]


@pytest.mark.parametrize("executor", ["orchestrator", "counting"])
@pytest.mark.parametrize("refused", ["select finish_turn(", "select * from open_turn("])
async def test_promise_6_a_run_whose_turn_is_refused_fails_and_is_told(
    system: RefusingHarness, executor: str, refused: str
) -> None:
    harness = await make_harness(system.store)
    task = await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ScheduleTrigger(cron="0 8 * * *"),
        title="The mail",
        executor=executor,
        action={"instruction": "Summarise my mail"},
    )
    harness.clock.move(hours=23, seconds=1)
    await harness.runner.once()
    system.database.refused_as = refused
    while lease := await harness.turns.claim(None):
        await harness.turns.run(lease)
    system.database.refused_as = ""
    assert system.database.times
    await harness.work()
    acted = executor == "counting" and refused.startswith("select finish")
    assert await harness.sent() == [RUN_FAILED_BEGUN if acted else RUN_FAILED]
    assert await harness.states(task) == ["FAILED"]
    harness.clock.move(hours=24)
    await harness.work()
    assert await harness.states(task) == ["FAILED", "COMPLETED"]
