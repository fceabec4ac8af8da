"""The files of a turn: those of its messages, taken in before the loop and while it runs, and those of its reply."""

from dataclasses import replace

from core.files.access import Files
from core.loop.control import TurnMessage
from core.turns.context import TurnContext
from core.turns.types import TurnRequest, TurnResult


async def taken_in(request: TurnRequest, files: Files | None) -> TurnRequest:
    """Return a turn whose messages have their files. A repeat fetches nothing a second time."""
    if files is None or not any(message.media_count for message in request.inbound):
        return request
    return replace(request, inbound=tuple([await take_in(files, request, message) for message in request.inbound]))


async def take_in(files: Files | None, request: TurnRequest, message: TurnMessage) -> TurnMessage:
    """Return one message with its files."""
    if files is None or not message.media_count or message.files:
        return message
    seen = await files.take_in(request.tenant.id, request.turn_id, message.id, request.channel)
    return replace(message, files=seen)


async def with_files(files: Files | None, request: TurnRequest, context: TurnContext, result: TurnResult) -> TurnResult:
    """Return a turn's result with the files that its calls attached, each in the reply after its call."""
    due = context.agents.files.due(request.go_on_at or 0, result.waiting_step)
    if files is None or not due:
        return result
    return replace(result, media=await files.media(request.tenant.id, due))
