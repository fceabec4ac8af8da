"""Commands about approvals other than decisions: list what waits, ask again for what has expired."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.approvals.exact_replies import Verb
from core.approvals.outcomes import moment
from core.approvals.store import ApprovalStore
from core.approvals.types import Approval, ApprovalState
from core.language.catalogue import gettext, gettext_noop, labelled
from core.llm.types import ToolCall
from core.messaging.messages import Command
from core.messaging.visible_text import literal
from core.turns.orchestrator import Orchestrator
from core.turns.types import BegunTurn, TurnRequest, TurnResult, TurnState

APPROVAL_COMMANDS = frozenset({"pending", "again"})
NOTHING_TO_ASK = gettext_noop("There is nothing expired under that code. Tell me in your own words what you want.")


async def about_approvals(
    store: ApprovalStore, orchestrator: Orchestrator, command: Command, turn: BegunTurn
) -> TurnResult:
    """List what waits for a decision, or ask again for an approval that is expired or pending."""
    tenant = turn.request.tenant
    if command.name == "pending":
        pending = await store.pending(tenant.id)
        reply = pending_text(pending, tenant.timezone, orchestrator.clock.now())
        return TurnResult(TurnState.DONE, reply=reply)
    approval = await store.find(tenant.id, command.argument)
    if approval is None:
        return TurnResult(TurnState.DONE, reply=gettext(NOTHING_TO_ASK))
    # It is replaced already where this very turn did it, and was then taken over by another worker.
    is_open = approval.state in (ApprovalState.PENDING, ApprovalState.REPLACED)
    if (
        is_open
        and turn.request.inbound
        and await store.decide(
            tenant.id,
            approval.id,
            Verb.EDIT,
            how="again",
            channel=turn.address.channel,
            now=orchestrator.clock.now(),
            said_in=turn.request.inbound[-1].id,
            changes={},
        )
    ):
        return TurnResult(TurnState.DONE, reason="again")
    if approval.state is not ApprovalState.EXPIRED:
        return TurnResult(TurnState.DONE, reply=gettext(NOTHING_TO_ASK))
    return await orchestrator.handle_message(asked_again(turn.request, approval))


def pending_text(pending: Sequence[Approval], timezone: str, now: datetime) -> str:
    """Return what waits for a person's decision."""
    if not pending:
        return gettext("Nothing is waiting for your decision.")
    lines = [f"- {_waiting(approval, timezone, now)}" for approval in pending]
    how_to = gettext("Reply OK {code} or NO {code}, for example.", code=pending[0].code)
    return "\n".join([gettext("Waiting for your decision:"), *lines, "", how_to])


def asked_again(request: TurnRequest, old: Approval) -> TurnRequest:
    """Return the turn that begins with the same call again, for an approval that has expired."""
    call = ToolCall(f"again_{old.id}", old.name, json.dumps(old.arguments, ensure_ascii=False))
    inbound = tuple(replace(message, text=f"Please ask me again: {old.summary}") for message in request.inbound)
    return replace(request, inbound=inbound, starts=call)


def _waiting(approval: Approval, timezone: str, now: datetime) -> str:
    code, summary = approval.code, literal(approval.summary)
    if approval.expires_at is None:
        return labelled(code, summary)
    until = moment(approval.expires_at, timezone, now)
    return gettext("{code}: {summary}, until {time}", code=code, summary=summary, time=until)
