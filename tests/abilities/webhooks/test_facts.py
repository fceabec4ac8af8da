"""What happened is enqueued in the transaction in which it did: once, by ids, for those who are subscribed to it."""

from abilities.webhooks.endpoints import EventKind
from core.approvals.store import ApprovalStore
from core.json_types import JsonObject
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from jobs.turns.runner import TurnRunner
from tests.abilities.webhooks.harness import open_webhooks
from tests.core.builders import FakeModel, says, wants
from tests.core.harness import Store
from tests.jobs.delivery.test_runner import deliver
from tests.jobs.harness import RecordingChannel

SECRET = "the words of a person"


@tool(effect="once")
async def act(words: str) -> str:
    """Act."""
    return f"acted on {words}"


@tool(effect="read")
async def look(words: str) -> str:
    """Look."""
    return words


@tool(effect="once", needs_approval=True)
async def ask(words: str) -> str:
    """Act with consent."""
    return words


async def run(store: Store, *answers: object) -> None:
    """Run all turns that wait."""
    orchestrator = Orchestrator(
        FakeModel(list(answers)),  # type: ignore[arg-type]
        tools=[act, look, ask],
        approvals=ApprovalStore(store.database, store.wakeups),
    )
    turns = TurnRunner(store.turns, orchestrator, store.wakeups, {}, store.make_id, "w1")
    while lease := await turns.claim(None):
        await turns.run(lease)


async def test_turns_effects_decisions_and_failures_are_told_by_ids_alone(store: Store) -> None:
    async with open_webhooks(store) as webhooks:
        await store.say(SECRET)
        given: JsonObject = {"words": SECRET}
        await run(store, wants(("act", given), ("look", given), ("ask", given)))
        await deliver(store, RecordingChannel())
        await store.say(f"no {await store.db.approvals.one('code')}")
        await run(store, says(SECRET))
        channel = RecordingChannel(name="sms")
        await store.admin.execute("update identities set state = 'stopped'")
        await deliver(store, channel)
        await webhooks.send()
        told = sorted((call.payload for call in webhooks.receiver.calls), key=lambda payload: str(payload["type"]))
    assert {payload["type"] for payload in told} == {
        "turn.done",
        "effect.done",
        "approval.decided",
        "delivery.failed",
    }
    assert sum(payload["type"] == "effect.done" for payload in told) == 1, "a read has no effect"
    person = await store.db.person()
    assert {payload["data"]["person"] for payload in told} == {person}
    assert SECRET not in str(told)
    by_kind = {payload["type"]: payload["data"] for payload in told}
    assert by_kind["effect.done"]["tool"] == "act"
    assert by_kind["approval.decided"]["approval"] == await store.one("select id from approvals")
    assert by_kind["turn.done"]["turn"] == await store.one("select id from turns order by started_at limit 1")


async def test_a_run_that_only_read_or_asked_is_no_effect(store: Store) -> None:
    async with open_webhooks(store, EventKind.EFFECT_DONE):
        await store.say("hello")
        _, turn = await store.claim_turn()
        for number, (effect, status) in enumerate(
            [
                ("read", "COMPLETED"),
                ("once", "WAITING_FOR_APPROVAL"),
                ("once", "WAITING_FOR_INPUT"),
                ("once", "PAUSED"),
                ("idempotent", "COMPLETED"),
            ]
        ):
            await store.admin.execute(
                "insert into steps (tenant_id, turn_id, step, call_index, kind, name, state, effect)"
                " select tenant_id, id, -1, $2, 'agent', 'Helper', 'started', $3 from turns where id = $1",
                turn.turn_id,
                number,
                effect,
            )
            await store.admin.execute(
                "update steps set state = 'done', outcome = 'ok', result = jsonb_build_object('status', $3::text)"
                " where turn_id = $1 and call_index = $2",
                turn.turn_id,
                number,
                status,
            )
        told = await store.column("select data ->> 'effect' from webhook_messages")
    assert told == ["idempotent"]


async def test_only_kinds_that_are_subscribed_to_are_enqueued(store: Store) -> None:
    async with open_webhooks(store, EventKind.DELIVERY_FAILED) as webhooks:
        await store.enqueue("hello")
        assert await webhooks.rows() == []
        await store.admin.execute("update identities set state = 'blocked'")
        await deliver(store, RecordingChannel())
        assert await webhooks.rows() == [("delivery.failed", "waiting", 0, None)]


async def test_nothing_is_invented_when_its_transaction_is_undone(store: Store) -> None:
    async with open_webhooks(store) as webhooks:
        await store.say("hello")
        _, turn = await store.claim_turn()
        undone = store.admin.transaction()
        await undone.start()
        await store.admin.execute("update turns set state = 'done' where id = $1", turn.turn_id)
        assert await webhooks.rows() == [("turn.done", "waiting", 0, None)]
        await undone.rollback()
        assert await webhooks.rows() == []


async def test_a_turn_is_told_once_however_often_its_end_is_written(twice: Store) -> None:
    async with open_webhooks(twice, EventKind.TURN_DONE) as webhooks:
        await twice.enqueue("hello")
        assert await webhooks.rows() == [("turn.done", "waiting", 0, None)]
        assert await webhooks.send() == 1
        assert await webhooks.rows() == [("turn.done", "sent", 1, 200)]
        assert len(webhooks.receiver.calls) == 1
