"""Answers to the words about approvals: list pending approvals, and ask again for an expired approval."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.approvals.exact_replies import Verb
from core.approvals.outcomes import moment
from core.approvals.types import NOT_BOTH, Approval, ApprovalState
from core.language.catalogue import gettext, gettext_noop, labelled
from core.llm.types import ToolCall
from core.messaging.chat_words import CommandAnswer
from core.messaging.visible_text import literal
from core.turns.types import FirstCall, TurnRequest
from core.turns.words.asked import Asked

NOTHING_TO_ASK = gettext_noop("There is nothing expired under that code. Tell me in your own words what you want.")


async def list_pending(asked: Asked) -> CommandAnswer | None:
    """List the approvals that wait for a decision."""
    if (store := asked.rooms.approvals) is None:
        return None
    tenant, now = asked.request.tenant, asked.rooms.orchestrator.clock.now()
    return CommandAnswer(pending_text(await store.pending(tenant.id), tenant.timezone, now))


async def ask_again(asked: Asked) -> CommandAnswer | TurnRequest | None:
    """Ask again for a pending approval, or begin the turn that asks again if it has expired."""
    if (store := asked.rooms.approvals) is None:
        return None
    tenant, inbound = asked.request.tenant, asked.request.inbound
    approval = await store.find(tenant.id, asked.command.argument)
    if approval is None:
        return CommandAnswer(gettext(NOTHING_TO_ASK))
    # It is replaced already if this very turn did it, and was then taken over by another worker.
    is_open = approval.state in (ApprovalState.PENDING, ApprovalState.REPLACED)
    if (
        is_open
        and inbound
        and await store.decide(
            tenant.id,
            approval.id,
            Verb.EDIT,
            how="again",
            channel=asked.turn.address.channel,
            now=asked.rooms.orchestrator.clock.now(),
            said_in=inbound[-1].id,
            changes={},
        )
    ):
        return CommandAnswer("", reason="again")
    # Asked again by this word, it would be asked of one of two people.
    if approval.state is not ApprovalState.EXPIRED or approval.also or approval.reason == NOT_BOTH:
        return CommandAnswer(gettext(NOTHING_TO_ASK))
    return _asked_again(asked.request, approval)


def pending_text(pending: Sequence[Approval], timezone: str, now: datetime) -> str:
    """Return the approvals that wait for a person's decision, as a text."""
    if not pending:
        return gettext("Nothing is waiting for your decision.")
    lines = [f"- {_waiting(approval, timezone, now)}" for approval in pending]
    how_to = gettext("Reply OK {code} or NO {code}, for example.", code=pending[0].code)
    return "\n".join([gettext("Waiting for your decision:"), *lines, "", how_to])


def _asked_again(request: TurnRequest, old: Approval) -> TurnRequest:
    """Return the turn that begins with the same call again, for an approval that has expired."""
    call = ToolCall(f"again_{old.id}", old.name, json.dumps(old.arguments, ensure_ascii=False))
    asks = request.saying(replace(message, text=f"Please ask me again: {old.summary}") for message in request.inbound)
    return replace(asks, starts=FirstCall(call))


def _waiting(approval: Approval, timezone: str, now: datetime) -> str:
    code, summary = approval.code, literal(approval.summary)
    if approval.expires_at is None:
        return labelled(code, summary)
    until = moment(approval.expires_at, timezone, now)
    return gettext("{code}: {summary}, until {time}", code=code, summary=summary, time=until)
