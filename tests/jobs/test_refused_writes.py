"""Each statement of a turn, refused for good: the person is told once, and their next message is answered."""

import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from core.triggers.kinds.schedule import ScheduleTrigger
from core.turns.failures import FAILED, FAILED_BEGUN, RUN_FAILED, RUN_FAILED_BEGUN
from tests.core.harness import opened
from tests.core.triggers.harness import housed
from tests.jobs import refusing_harness as refusing
from tests.jobs.refusing_harness import MARKS, Refusing, RefusingOffice

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
async def office(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RefusingOffice]:
    monkeypatch.setattr("jobs.turns.SECOND_TRY", 0.0)
    MARKS.clear()
    database = Refusing(database_url)
    async with opened(database_url, database) as store:
        yield RefusingOffice(store, database)


async def _begin(office: RefusingOffice, before: tuple[str, ...]) -> str:
    sender = f"+1555{next(_numbers):07}"
    for text in before:
        await office.store.say(text, sender=sender)
        await office.work()
        await office.deliver()
    return sender


async def _struck(office: RefusingOffice, sender: str, text: str, command: str) -> list[str]:
    """Let a person write, and give the statements that their turn needed."""
    await office.store.say(text, sender=sender, command=command)
    office.database.seen.clear()
    await office.work()
    return list(dict.fromkeys(office.database.seen))


@pytest.mark.timeout(240)
@pytest.mark.parametrize("scene", SCENES)
async def test_promise_6_a_refused_statement_wedges_no_conversation(office: RefusingOffice, scene: str) -> None:
    before, text, command = SCENES[scene]
    statements = await _struck(office, await _begin(office, before), text, command)
    assert any(one.startswith("select finish_turn(") for one in statements)
    for statement in statements:
        sender = await _begin(office, before)
        known = await office.told(sender)
        office.database.refused, office.database.times = statement, 0
        await _struck(office, sender, text, command)
        office.database.refused = ""
        assert office.database.times, statement
        await office.work()  # what could not even be claimed waited, and nothing else did
        first = (await office.told(sender))[len(known) :]
        assert len(first) <= 1, (statement, first)
        await office.store.say("and now", sender=sender)
        await office.work()
        told = (await office.told(sender))[len(known) :]
        assert await office.all_done(sender), statement
        assert len(told) == len(first) + 1, (statement, told)
        assert told[-1].startswith("re and now"), (statement, told)
        fate = await office.store.column(
            "select i.state || ' ' || i.reason from inbound i join conversations c on c.tenant_id = i.tenant_id"
            " and c.id = i.conversation_id where c.peer = $1 order by i.seq",
            sender,
        )
        assert first or str(fate[len(before)]).split(" ", 1)[1] or scene in ("an approval", "a decision"), (
            statement,
            told,
            fate,
        )


async def test_promise_6_what_is_refused_all_the_time_is_told_each_time(office: RefusingOffice) -> None:
    statements = await _struck(office, await _begin(office, ()), "hello", "")
    (finish,) = (one for one in statements if one.startswith("select finish_turn("))
    office.database.refused = finish
    for number in range(3):
        await _struck(office, "+15550000001", f"hello {number}", "")
    assert await office.told("+15550000001") == [FAILED] * 3
    assert await office.store.column("select state from turns order by started_at") == ["done", *["failed"] * 3]
    said = await office.store.column(
        "select message::text from history h join turns t on t.id = h.turn_id"
        " where t.state = 'failed' order by h.position"
    )
    assert len(said) == 6


@pytest.mark.parametrize("what", ["the end of the tool's call", "the end of the turn"])
async def test_promise_14_whoever_may_have_been_served_is_not_told_to_try_again(
    office: RefusingOffice, what: str
) -> None:
    class Once(Refusing):
        def look(self, statement: str) -> None:
            self.refused = ""
            marked = bool(MARKS) and statement.startswith("select record_step(")
            if what == "the end of the tool's call" and marked and not self.times:
                self.refused = refusing.beginning(statement)
            if what == "the end of the turn" and statement.startswith("select finish_turn("):
                self.refused = refusing.beginning(statement)
            super().look(statement)

    store = replace(office.store, database=Once(office.store.url))
    office = RefusingOffice(store, store.database)  # type: ignore[arg-type]
    await office.store.say("mark it")
    await office.work()
    assert MARKS == ["mark it"]
    assert await office.told("+15550000001") == [FAILED_BEGUN]
    # The journal keeps what it did; without the person's approval the same is not done again.
    assert await store.column("select outcome from steps where kind = 'tool'") in (["unknown"], ["ok"])
    if what == "the end of the tool's call":
        await office.store.say("mark it")
        await office.work()
        assert MARKS == ["mark it"]
    await store.database.close()


async def test_promise_14_what_took_no_effect_may_be_asked_for_again(office: RefusingOffice) -> None:
    statements = await _struck(office, await _begin(office, ()), "mail it", "")
    (finish,) = (one for one in statements if one.startswith("select finish_turn("))
    office.database.refused = finish
    await _struck(office, "+15550000001", "mail it", "")
    assert await office.told("+15550000001") == [FAILED]


@pytest.mark.parametrize("executor", ["orchestrator", "counting"])
@pytest.mark.parametrize("refused", ["select finish_turn(", "select * from begin_turn("])
async def test_promise_6_a_run_whose_turn_is_refused_fails_and_is_told(
    office: RefusingOffice, executor: str, refused: str
) -> None:
    house = await housed(office.store)
    task = await house.engine.create_task(
        tenant_id=house.tenant,
        trigger=ScheduleTrigger(cron="0 8 * * *"),
        title="The mail",
        executor=executor,
        action={"instruction": "Summarise my mail"},
    )
    house.clock.pass_by(hours=23, seconds=1)
    await house.runner.once()
    office.database.refused_as = refused
    while lease := await house.turns.claim(None):
        await house.turns.run(lease)
    office.database.refused_as = ""
    assert office.database.times
    await house.work()
    acted = executor == "counting" and refused.startswith("select finish")
    assert await house.sent() == [RUN_FAILED_BEGUN if acted else RUN_FAILED]
    assert await house.states(task) == ["FAILED"]
    house.clock.pass_by(hours=24)
    await house.work()
    assert await house.states(task) == ["FAILED", "COMPLETED"]
