"""The journal in Postgres: what is not on disk yet when Postgres dies is written again by the worker that has it."""

from dataclasses import replace

from core.journal.types import Effect, StepKey, StepKind, StepRecord, StepState
from tests.core.harness import Store

_ROWS = "select call_index, state from steps order by call_index"


def _call(number: int, state: StepState = StepState.STARTED) -> StepRecord:
    return StepRecord(StepKey(0, number), StepKind.TOOL, "pay", state, effect=Effect.ONCE, result={"text": "paid"})


async def test_promise_5_what_postgres_loses_as_it_dies_is_written_again(store: Store) -> None:
    await store.say("pay twice")
    lease, turn = await store.claim_turn()
    journal = turn.request.work.journal
    await journal.write(StepRecord(StepKey(0, 0), StepKind.MODEL, "fake", StepState.DONE))
    await store.admin.execute("delete from steps")
    await journal.write(_call(1), _call(2))
    assert [*map(tuple, await store.admin.fetch(_ROWS))] == [(0, "done"), (1, "started"), (2, "started")]
    assert journal.waiting() == [], "the beginnings were waited for, and the answer before them with that"
    for number in (1, 2):
        await journal.write(_call(number, StepState.DONE))
    await store.admin.execute("update steps set state = 'started', finished_at = null where call_index = 2")
    assert not await store.finish(lease, turn, "done")
    assert [*map(tuple, await store.admin.fetch(_ROWS))] == [(0, "done"), (1, "done"), (2, "done")]


async def test_a_reading_that_postgres_loses_is_not_kept_to_be_written_again(store: Store) -> None:
    await store.say("look")
    _, turn = await store.claim_turn()
    journal = turn.request.work.journal
    await journal.write(StepRecord(StepKey(0, 1), StepKind.TOOL, "look", StepState.DONE, may_wait=True))
    await journal.flush()
    assert (await store.db.steps.column("name"), journal.waiting()) == (["look"], [])
    answer = StepRecord(StepKey(1, 0), StepKind.MODEL, "fake", StepState.DONE, may_wait=True)
    await journal.write(answer)
    await journal.flush()
    assert [row["kind"] for row in journal.waiting()] == ["model"]
    await journal.write(replace(answer, key=StepKey(2, 0, "2.1/Agent"), may_wait=False))
    assert journal.waiting() == [], "an agent may act on its answers"
