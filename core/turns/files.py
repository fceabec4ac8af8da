"""The files of a turn: those of its messages, taken in before the loop and while it runs, and those of its reply."""

from dataclasses import replace

from core.agents.pending_answers import PendingAnswers
from core.files.access import Files
from core.llm.types import ChatMessage, Role
from core.loop.control import TurnMessage
from core.turns.context import TurnContext
from core.turns.types import TurnRequest, TurnResult, TurnState


async def taken_in(request: TurnRequest, files: Files | None) -> TurnRequest:
    """Return a turn whose messages have their files. A repeat fetches nothing a second time."""
    if files is None or not any(message.media_count for message in request.inbound):
        return request
    return request.saying([await take_in(files, request, message) for message in request.inbound])


async def take_in(
    files: Files | None, request: TurnRequest, message: TurnMessage, waiting: PendingAnswers | None = None
) -> TurnMessage:
    """Return a message with its files. `waiting`: the agents of a running turn that takes it in."""
    if waiting is not None and message.powerless:
        waiting.powerless = True
    if files is None or not message.media_count or message.files:
        return message
    tenant = request.tenant
    seen = await files.take_in(tenant.id, request.turn_id, message.id, request.channel, tenant.language)
    taken = replace(message, files=seen)
    return replace(taken, text="\n".join(part for part in (message.text, taken.heard) if part))


async def with_files(files: Files | None, request: TurnRequest, context: TurnContext, result: TurnResult) -> TurnResult:
    """Return a turn's result with the files that its calls attached, each in the reply after its call."""
    due = context.agents.scope.files.due(request.go_on_at or 0, result.waiting_step)
    if files is None or not due:
        return result
    return replace(result, media=await files.media(request.tenant.id, due))


def only_unreadable(request: TurnRequest, context: TurnContext) -> TurnResult | None:
    """Return the result of a turn with nothing but files, all of them unusable; None if there is more."""
    files = [file for message in request.inbound for file in message.files]
    if not files or any(message.text for message in request.inbound) or not all(file.failure for file in files):
        return None
    said = "\n".join(dict.fromkeys(file.failure for file in files))
    history = (*context.said, ChatMessage(Role.ASSISTANT, said))
    return TurnResult(TurnState.DONE, said, "file_not_usable", history=history)
