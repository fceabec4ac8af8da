"""The outcome of a call whose answer was lost: noted by its worker, looked up at the provider, or unknown."""

import asyncio
from datetime import timedelta

import structlog

from core.errors import DeliveryError
from core.messaging.calls import PartEnd
from core.messaging.channels import NotificationChannel, Target
from core.messaging.due_messages import DueMessage, KeptPart
from core.messaging.states import CallOutcome, SendState
from jobs.delivery.backoff import CHECK_AFTER, GIVE_UP_AFTER, LONGEST, RESEND_AFTER, after_look_up, resend_patience
from jobs.delivery.provider_calls import SEND_TIMEOUT, sends_unknown_again
from jobs.delivery.receipt_notes import ReceiptNotes
from jobs.reports import count_lost_answer

LOOK_UP_WITHIN = GIVE_UP_AFTER
"""The time for which an unknown outcome is looked up while the provider cannot tell. Later messages do not wait so
long: `claim_outbound` lets them pass."""
MAX_RESENT = len(RESEND_AFTER)
"""Repeats of a part with an unknown outcome on a channel without a look-up."""

_log = structlog.get_logger()


async def end_of_lost_call(
    notes: ReceiptNotes | None, due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target
) -> PartEnd | None:
    """Return the end of a part whose call was left open. Return None if the part is to be sent again."""
    receipt = await notes.find(part.ref) if notes else None
    if receipt is not None:
        found: PartEnd | None = PartEnd(SendState.SENT, CallOutcome.FOUND, receipt)
    else:
        found = await _look_up(due, channel, part, target)
    if found is not None:
        count_lost_answer(due.address.channel, found)
    return found


async def _look_up(due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target) -> PartEnd | None:
    if part.lost_since is None:
        return None
    patience = resend_patience(part.lost) if sends_unknown_again(due, channel) else CHECK_AFTER
    if part.state is SendState.SENDING and part.silent_for < patience:
        return PartEnd(
            SendState.CHECKING, CallOutcome.AMBIGUOUS, reason="the sender died", delay=patience - part.silent_for
        )
    if not channel.can_find:
        if sends_unknown_again(due, channel) and part.lost <= MAX_RESENT:
            _log.warning("unknown_part_sent_again", outbound=due.message.id, part=part.number)
            return None
        return PartEnd(SendState.AMBIGUOUS, CallOutcome.LEFT, reason="the outcome is unknown and cannot be looked up")
    try:
        async with asyncio.timeout(SEND_TIMEOUT):
            receipt = await channel.find(part.part, target, part.lost_since)
    except (TimeoutError, DeliveryError) as error:
        return _still_unknown(part, type(error).__name__)
    except Exception as error:
        # A bug in the adapter gives no answer either, and must not block the conversation.
        _log.exception("look_up_failed", outbound=due.message.id)
        return _still_unknown(part, type(error).__name__)
    return after_look_up(receipt, part.lost if channel.resend_unknown else 0)


def _still_unknown(part: KeptPart, cause: str) -> PartEnd:
    if part.silent_for > LOOK_UP_WITHIN:
        return PartEnd(SendState.AMBIGUOUS, CallOutcome.LEFT, reason=f"the look-up failed: {cause}")
    delay = min(max(CHECK_AFTER, part.silent_for / 4), timedelta(seconds=LONGEST))
    return PartEnd(SendState.CHECKING, CallOutcome.AMBIGUOUS, reason=cause, delay=delay)
