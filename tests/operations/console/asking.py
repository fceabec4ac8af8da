"""What turns of the console's people do: cards and questions that wait for them, and steps."""

from datetime import UTC, datetime, timedelta

from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentStatus
from core.approvals.cards import card
from core.approvals.consent import Described
from core.approvals.rendering import render_arguments
from core.approvals.seal import seal
from core.approvals.types import HIGH, NewApproval
from core.journal.types import Lease
from core.json_types import JsonObject
from core.llm.types import TokenUsage
from core.messaging.messages import FormField
from tests.core.harness import Store
from tests.operations.console.harness import Console

LETTER: JsonObject = {"to": "carol@example.org", "text": "See you at noon."}
FORM = (FormField("to", "To", "carol@example.org"), FormField("text", "Text", "See you at noon."))


async def ask(
    console: Console, sender: str, *, code: str = "7K", high: bool = False, summary: str = "send letter"
) -> str:
    """Have a turn of a person ask for consent, and send its card; return the approval's id."""
    store = console.store
    await store.say("Write to Carol.", sender=sender)
    lease, turn = await store.claim_turn()
    tenant = lease.tenant_id
    approval = NewApproval(
        id=store.make_id("apr"), call_id="0.1/send_letter", generation=1, name="send_letter", summary=summary,
        arguments=LETTER, rendered=render_arguments(LETTER, Described(summary, LETTER)), form=FORM,
        risk=HIGH if high else "", source="message", code=code, token=f"{code:t>22}", seconds=1800,
        sealed=seal(tenant, tenant, "send_letter", LETTER), created_at=datetime.now(UTC),
    )  # fmt: skip
    shown = card(approval, store.make_id("out"))
    await store.finish(lease, turn, state="waiting", outbound=[], cards=[shown])
    await store.send(await store.claim_sending(shown.message.text))
    await store.admin.execute("select start_approval($1, $2, now())", tenant, approval.id)  # as a sender does
    return approval.id


async def question(console: Console, sender: str, asked: str = "Who should get it?") -> str:
    """Have an agent of a person's turn ask for a field; return the agent's id."""
    store = console.store
    await store.say("Write a letter.", sender=sender)
    lease, turn = await store.claim_turn()
    entry = PoolEntry(
        agent_id=store.make_id("agent"), agent_type="LetterAgent", conversation_id=None, turn_id=turn.turn_id,
        agent_path="0.1", tool_call_id="c1", status=AgentStatus.WAITING_FOR_INPUT, schema_version="1",
        expires_at=datetime.now(UTC) + timedelta(hours=1), asked=("to",), question=asked,
    )  # fmt: skip
    await store.finish(lease, turn, state="waiting", pool=[entry])
    return entry.agent_id


async def take_step(
    store: Store, lease: Lease, turn: str, kind: str, name: str, index: int, result: object, within: str = ""
) -> None:
    """Record a step that a turn has taken; an agent's own is `within` the call that asked for it."""
    usage = TokenUsage(1200, 34, 1000, 0.0021) if kind == "model" else TokenUsage()
    step = {
        "agent_path": within, "step": -1 if within else 0, "call_index": index, "kind": kind, "name": name,
        "args_hash": "",
        "effect": "read", "state": "done", "outcome": "ok", "idempotency_key": "", "result": result,
        "usage": usage.to_json(), "duration_ms": 250,
    }  # fmt: skip
    await store.database.call(
        "select record_step($1,$2,$3,$4,$5)",
        lease.tenant_id,
        lease.lane_id,
        lease.fence,
        turn,
        step,
    )
