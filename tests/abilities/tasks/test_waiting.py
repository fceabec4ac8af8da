"""A task that needs the person's consent: its run is pending, goes on when they decide, and tells what came of it."""

import pytest

from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.runs.executors import RunExecutors
from core.agents.fields import InputField
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, StandardAgent
from core.agents.valet import valet
from core.approvals.exact_replies import Verb
from core.approvals.store import ApprovalStore
from core.questions.types import Question
from core.tools.context import ToolExecutionContext
from core.tools.tool import tool
from core.turns.failures import RUN_FAILED, fail_turn
from core.turns.orchestrator import Orchestrator
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from tests.abilities.tasks.harness import Harness, make_harness
from tests.core.builders import FakeModel, says, wants
from tests.core.harness import Store, message

SENT: list[str] = []


@valet(name="SendMail")
class SendMail(StandardAgent):
    """Send a mail on the person's behalf."""

    to = InputField("To whom?")

    def needs_approval(self) -> bool:
        """Ask first."""
        return True

    async def on_running(self, msg: str) -> AgentResult:
        """Send it."""
        SENT.append(self.to)
        return self.make_result(raw_message=f"Sent to {self.to}.")


PAINTED: list[str | None] = []


@tool(name="paint", effect="idempotent")
async def paint(context: ToolExecutionContext) -> str:
    """Paint the wall."""
    [colour] = await context.ask(Question("Which colour?", ("red", "green")))
    PAINTED.append(colour)
    return f"Painted {colour}."


async def mailing(store: Store, model: FakeModel) -> tuple[Harness, ApprovalStore]:
    """Return a harness whose model asks for a mail to be sent, or a wall to be painted."""
    harness = await make_harness(store)
    approvals = ApprovalStore(store.database, store.wakeups)
    orchestrator = Orchestrator(
        model,
        tools=[paint],
        agents=AgentRegistry([SendMail]),
        trigger_engine=harness.engine,
        approvals=approvals,
        clock=harness.clock,
    )
    runs = RunExecutors(harness.engine, orchestrator, harness.notifier, harness.runner.notices)
    harness.turns = TurnRunner(
        store.turns, orchestrator, store.wakeups, {}, store.make_id, "w1", TurnFeatures(runs=runs, approvals=approvals)
    )
    SENT.clear()
    PAINTED.clear()
    return harness, approvals


@pytest.mark.parametrize("decided", ["approve", "expire"])
async def test_a_tasks_action_waits_for_consent_in_chat_and_reports_its_end(store: Store, decided: str) -> None:
    model = FakeModel([wants(("SendMail", {"to": "team@example.org"})), says("The team has its mail.")])
    harness, approvals = await mailing(store, model)
    task = await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ScheduleTrigger(interval_minutes=60 * 24),
        action={"instruction": "Mail the team"},
    )
    harness.clock.move(days=1)
    await harness.work()
    assert await harness.states(task) == ["PENDING_APPROVAL"]
    assert SENT == []
    [card] = await store.db.outbound.column("conversation_id", kind="card")
    assert card == await store.db.conversations.one("id")
    [pending] = await approvals.pending(harness.tenant)
    listed = await approvals.list_pending(harness.tenant)
    assert [(answer.agent_name, answer.source, answer.task_id) for answer in listed] == [
        ("SendMail", "trigger", task.id)
    ]
    # What the person writes meanwhile is theirs, and what fires meanwhile is no answer.
    if decided == "approve":
        now = harness.clock.now()
        assert await approvals.decide(
            harness.tenant, pending.id, Verb.APPROVE, how="operator", channel="sms", now=now, said_in="op"
        )
        await harness.work()
        assert (SENT, await harness.states(task)) == (["team@example.org"], ["COMPLETED"])
        assert (await harness.sent())[-1].startswith("The team has its mail.")
    else:
        # Its time began when the card was sent.
        await store.db.approvals.change({"hash": "sealed", "expires_at": harness.clock.now()})
        harness.clock.move(seconds=1)
        assert await approvals.expire(harness.clock.now()) == 1
        await harness.work()
        assert (SENT, await harness.states(task)) == ([], ["EXPIRED"])


async def test_a_run_that_waited_and_cannot_go_on_has_failed(store: Store) -> None:
    harness, approvals = await mailing(store, FakeModel([wants(("SendMail", {"to": "team@example.org"}))]))
    task = await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ScheduleTrigger(interval_minutes=60 * 24),
        action={"instruction": "Mail the team"},
    )
    harness.clock.move(days=1)
    await harness.work()
    [pending] = await approvals.pending(harness.tenant)
    now = harness.clock.now()
    await approvals.decide(
        harness.tenant, pending.id, Verb.CANCEL, how="operator", channel="sms", now=now, said_in="op"
    )
    lease = await harness.turns.claim(None)
    assert lease is not None
    await fail_turn(store.database, (lease.tenant_id, lease.lane_id, lease.fence), None, store.make_id("out"))
    assert await harness.states(task) == ["FAILED"]
    assert await store.db.run_notices.column("text", kind="end") == [RUN_FAILED]


async def test_a_tasks_question_is_answered_in_chat_and_its_run_goes_on_once(store: Store) -> None:
    model = FakeModel([wants(("paint", {})), says("The wall is painted.")])
    harness, _ = await mailing(store, model)
    task = await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ScheduleTrigger(interval_minutes=60 * 24),
        action={"instruction": "Paint the wall"},
    )
    harness.clock.move(days=1)
    await harness.work()
    assert (PAINTED, await harness.states(task)) == ([], ["PENDING_APPROVAL"])
    asked = (await harness.sent())[-1]
    assert "Which colour?" in asked
    assert "2: green" in asked
    for _ in range(2):  # the same message, delivered twice
        await store.inbox.accept(message("2", "+15550000001", "SM_answer"))
        await harness.work()
    assert (PAINTED, await harness.states(task)) == (["green"], ["COMPLETED"])
    told = [text for text in await harness.sent() if text.startswith("The wall is painted.")]
    assert len(told) == 1
    assert model.script == []
