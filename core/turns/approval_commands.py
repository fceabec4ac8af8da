"""Commands about approvals other than decisions: list what waits, ask again for what has expired. Pure."""

import json
from collections.abc import Sequence
from dataclasses import replace

from core.approvals.types import Approval
from core.clock import zone_or_utc
from core.llm.types import ToolCall
from core.messaging.visible_text import literal
from core.turns.types import TurnRequest

APPROVAL_COMMANDS = frozenset({"pending", "again"})
NOTHING_TO_ASK = "There is nothing expired under that code. Tell me in your own words what you want."


def pending_text(pending: Sequence[Approval], timezone: str) -> str:
    """Return what waits for a person's decision."""
    if not pending:
        return "Nothing is waiting for your decision."
    lines = [f"- {approval.code}: {literal(approval.summary)}{_until(approval, timezone)}" for approval in pending]
    first = pending[0].code
    return "\n".join(["Waiting for your decision:", *lines, "", f"Reply OK {first} or NO {first}, for example."])


def asked_again(request: TurnRequest, old: Approval) -> TurnRequest:
    """Return the turn that begins with the same call again, for an approval that has expired."""
    call = ToolCall(f"again_{old.id}", old.name, json.dumps(old.arguments, ensure_ascii=False))
    inbound = tuple(replace(message, text=f"Please ask me again: {old.summary}") for message in request.inbound)
    return replace(request, inbound=inbound, starts=call)


def _until(approval: Approval, timezone: str) -> str:
    if approval.expires_at is None:
        return ""
    return f", until {approval.expires_at.astimezone(zone_or_utc(timezone)):%H:%M}"
