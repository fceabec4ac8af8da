"""A turn whose model stayed away: it is tried again later, or ends with a sentence about the reason."""

from dataclasses import replace
from datetime import timedelta

import structlog

from core import replies
from core.errors import ContextOverflow, ModelAuthError, ModelAway, ModelError, ModelOutOfQuota, ModelRejected
from core.language.catalogue import gettext
from core.llm.types import ChatMessage, Role
from core.loop.loop import LoopFailed
from core.turns.context import TurnContext
from core.turns.endings import turn_result
from core.turns.outage import may_pass
from core.turns.types import TurnRequest, TurnResult, TurnState

_log = structlog.get_logger()


async def without_model(
    request: TurnRequest, context: TurnContext, failed: LoopFailed, patience: timedelta
) -> TurnResult:
    """Return the turn's result. Raises `ModelAway` if it is tried again later, for `patience` at most."""
    await _postpone(request, failed.error, patience)
    reason, reply = _explain(failed.error, request.channel)
    cause, detail = type(failed.error).__name__, str(failed.error)
    _log.error("turn_failed", turn=request.turn_id, reason=reason, cause=cause, detail=detail)
    result = turn_result(request, context.said, failed.partial)
    context.waiting.replay(failed.partial.messages, context.tools)
    return replace(
        result,
        state=TurnState.FAILED,
        reply=reply,
        reason=reason,
        history=(*result.history, ChatMessage(Role.ASSISTANT, reply)),
        pool=context.waiting.entries,
    )


async def _postpone(request: TurnRequest, error: ModelError, patience: timedelta) -> None:
    if request.work.outage is None or not patience or not may_pass(error):
        return
    if postponed := await request.work.outage.postpone(error, patience):
        raise ModelAway(type(error).__name__, told=postponed.told, due=postponed.due) from error


def _explain(error: ModelError, channel: str | None) -> tuple[str, str]:
    """Return the recorded reason for a model's failure, and the message to the person."""
    match error:
        case ContextOverflow():
            return "context_overflow", replies.too_long(channel)
        case ModelOutOfQuota():
            return "model_quota", gettext(replies.MODEL_QUOTA)
        case ModelAuthError():
            return "model_auth", gettext(replies.MODEL_AUTH)
        case ModelRejected():
            return "model_rejected", gettext(replies.MODEL_REFUSED)
        case _:
            return "model_down", gettext(replies.MODEL_DOWN)
