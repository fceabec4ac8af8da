"""Until when `chat` waits: while anything may still answer."""

from channels.terminal.receive import TerminalChannel
from core.db.database import Database
from tests.core.harness import Store


async def test_chat_waits_for_a_turn_that_resumes_after_an_approval(store: Store) -> None:
    terminal = TerminalChannel(store.inbox, store.database, store.make_id, "ada")
    assert not await terminal.busy()
    await terminal.say("Send it.")
    assert await terminal.busy()
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, state="waiting")
    assert not await terminal.busy(), "nothing comes until the person decides"
    await wake(store.database, turn.turn_id)
    assert await terminal.busy(), "the turn that waited resumes"
    lease, turn = await store.claim_turn()
    assert await terminal.busy(), "the turn runs again"
    await store.finish(lease, turn)
    assert not await terminal.busy()


async def test_chat_does_not_wait_for_another_persons_turn(store: Store) -> None:
    terminals = [TerminalChannel(store.inbox, store.database, store.make_id, person) for person in ("ada", "bob")]
    for terminal in terminals:
        await terminal.say("Hello.")
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn)
    assert sorted([await terminal.busy() for terminal in terminals]) == [False, True]


async def wake(database: Database, turn: str) -> None:
    """Let a waiting turn resume, as a decision does."""
    row = await database.one("select tenant_id from find_tenants(1)")
    await database.tenant_rows(row["tenant_id"], "select wake_turn($1, $2)", turn)
