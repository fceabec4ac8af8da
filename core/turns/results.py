"""How turns begin and end, in words and records: what the orchestrator makes of what its loop gives back."""

from collections.abc import Sequence
from dataclasses import replace

from core import replies
from core.approvals.types import NewApproval
from core.errors import ContextOverflow, ModelAuthError, ModelError, ModelOutOfQuota, ModelRejected
from core.journal.types import Journal, StepKey, StepKind, StepRecord, StepState
from core.language.catalogue import gettext
from core.llm.types import ChatMessage, Marker, ModelAnswer, Role, TokenUsage, ToolCall
from core.loop.context_window import Messages
from core.loop.conversation_state import carrying
from core.loop.result import Ended, ReactLoopResult
from core.loop.steering import spoken
from core.questions.wording import in_words
from core.tools.registry import ToolRegistry
from core.turns.context import TurnContext
from core.turns.decide_tool import open_to_words
from core.turns.types import TurnRequest, TurnResult, TurnState
from core.turns.waiting_agents import Stopped, answered, notice


def said_in(request: TurnRequest) -> Messages:
    """Return what a turn begins with: the person's messages, or what a trigger brings, which is marked as ours."""
    if request.trigger is not None and request.go_on_at is None:
        return (ChatMessage(Role.USER, request.trigger.content, internal=True),)
    return tuple(message for inbound in request.inbound for message in spoken(inbound))


def turn_result(request: TurnRequest, user_messages: Messages, result: ReactLoopResult) -> TurnResult:
    """Return the result of a turn whose loop has ended; `user_messages` are the person's messages of the turn."""
    state = TurnState.INTERRUPTED if result.ended in (Ended.INTERRUPTED, Ended.SUPERSEDED) else TurnState.DONE
    return TurnResult(
        state,
        reply=result.response,
        history=carrying((*user_messages, *result.messages), result.state, request.kept.history),
        usage=result.token_usage,
        turns=result.turns,
        absorbed=result.absorbed,
        joined=result.joined,
        reason="" if result.ended is Ended.ANSWERED else result.ended.value,
    )


def waiting_result(
    request: TurnRequest,
    user_messages: Messages,
    result: ReactLoopResult,
    reply: str,
    left: Stopped,
    usage: TokenUsage,
    cards: Sequence[NewApproval] = (),
) -> TurnResult:
    """Return the result of a turn whose loop waits: history gets its questions, not its unanswered calls."""
    parts = [reply, *(replies.CARD_SHOWN.format(code=card.code, summary=card.summary) for card in cards)]
    parts += [in_words([asked.asked for asked in left.cards])]
    asked = [ChatMessage(Role.ASSISTANT, "\n\n".join(part for part in parts if part))] if any(parts) else []
    return TurnResult(
        TurnState.WAITING,
        reply=reply,
        reason="" if reply or cards or left.cards else "waiting",
        history=carrying((*user_messages, *result.messages, *asked), result.state, request.kept.history),
        usage=usage,
        turns=result.turns,
        absorbed=result.absorbed,
        joined=result.joined,
        pool=left.entries,
        approvals=tuple(cards),
        questions=left.cards,
        waiting_step=result.turns - 1,
    )


async def used_tokens(journal: Journal) -> TokenUsage:
    """Return what all model calls of a turn have used, those of its agents included."""
    return sum((record.usage for record in await journal.recorded()), TokenUsage())


def with_reply(result: TurnResult, reply: str) -> TurnResult:
    """Change the reply in history too: the model must know what the person read."""
    history = result.history
    if reply and history and history[-1].role is Role.ASSISTANT and not history[-1].tool_calls:
        history = (*history[:-1], replace(history[-1], text=reply))
    return replace(result, reply=reply, history=history)


def explain(error: ModelError, channel: str | None) -> tuple[str, str]:
    """Return the reason that is recorded for a model's failure, and what the person is told."""
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


def with_person(messages: Messages) -> Messages:
    """Add a user's message to a turn that has none: providers demand that a conversation has one."""
    if any(message.role is Role.USER and message.marker is not Marker.CONTEXT for message in messages):
        return messages
    return (*messages, ChatMessage(Role.USER, replies.GO_ON, internal=True))


def first_step(call: ToolCall, tools: ToolRegistry) -> StepRecord:
    """Write down a model answer that was never asked for: the call with which a turn begins."""
    answer = ModelAnswer(tool_calls=(call,))
    return StepRecord(
        StepKey(0, 0), StepKind.MODEL, "", StepState.DONE, arguments_hash=tools.hash, result=answer.to_json()
    )


def answered_plainly(request: TurnRequest, context: TurnContext) -> TurnResult | None:
    """Return the result of a turn whose message answers what waits for it; None where the loop has to look."""
    # Words may as well be about what waits for an approval.
    by_words = not open_to_words(request, request.kept.approvals)
    taken = context.waiting.answer_exactly(request.inbound, by_words=by_words)
    plainly = context.waiting.answer_plainly(request.inbound) if by_words and not taken else None
    taken = (plainly,) if plainly is not None else taken
    if not taken:
        return None
    reply, entries = notice(context.waiting), context.waiting.entries
    return TurnResult(TurnState.DONE, reply, answered(taken), history=context.said, pool=entries)


def only_unreadable(request: TurnRequest, context: TurnContext) -> TurnResult | None:
    """Return the result of a turn in which only files came, none of which can be used; None where there is more."""
    files = [file for message in request.inbound for file in message.files]
    if not files or any(message.text for message in request.inbound) or not all(file.failure for file in files):
        return None
    said = "\n".join(dict.fromkeys(file.failure for file in files))
    history = (*context.said, ChatMessage(Role.ASSISTANT, said))
    return TurnResult(TurnState.DONE, said, "file_not_usable", history=history)
