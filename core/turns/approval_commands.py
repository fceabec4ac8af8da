"""Commands about approvals other than decisions: list what waits, ask again for what has expired. Pure."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.approvals.outcomes import moment
from core.approvals.types import Approval
from core.language.catalogue import gettext, gettext_noop, labelled
from core.llm.types import ToolCall
from core.messaging.visible_text import literal
from core.turns.types import TurnRequest

APPROVAL_COMMANDS = frozenset({"pending", "again"})
NOTHING_TO_ASK = gettext_noop("There is nothing expired under that code. Tell me in your own words what you want.")


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
