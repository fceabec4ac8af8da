"""The files of a turn: those of its messages, voice notes among them, and those of its reply.

They are taken in before the loop and while it runs. A command may be spoken, and the heard words are said back.
"""

from dataclasses import replace

from core.agents.pending_answers import PendingAnswers
from core.files.access import Files
from core.language.catalogue import gettext
from core.llm.types import ChatMessage, Role
from core.loop.control import TurnMessage
from core.messaging.chat_reader import chat_words
from core.messaging.messages import Command, Origin
from core.messaging.pointed import Whose
from core.messaging.visible_text import literal
from core.turns.context import TurnContext
from core.turns.types import TurnRequest, TurnResult, TurnState
from core.turns.waiting_agents import waits_here


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


MAX_SHOWN = 200
"""Characters of heard or changed words that are said back: enough to notice a mistake."""


def spoken_command(request: TurnRequest) -> Command | None:
    """Return the command of a turn whose single message is a voice note with nothing but that command.

    While an agent waits here for an answer, no voice note counts as a command.
    """
    if len(request.inbound) != 1:
        return None
    (message,) = request.inbound
    if message.origin is not Origin.OWN or not message.heard or message.text != message.heard:
        return None
    return None if waits_here(request) else chat_words().spoken(message.heard, request.channel or "")


def corrected(message: TurnMessage) -> str:
    """Return the line about the person's edit; empty if they edited nothing that was read before."""
    before = next((point.text for point in message.points if point.whose is Whose.CHANGED), "")
    if not before or not message.text:
        return ""
    old, new = (literal(_short(text)) for text in (before, message.text))
    return gettext("You changed “{old}” to “{new}”.", old=old, new=new)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_SHOWN else f"{words[: MAX_SHOWN - 1].rstrip()}…"


def with_heard(result: TurnResult, request: TurnRequest) -> TurnResult:
    """Return a result whose reply begins with the heard words of voice notes, or the reason why there are none.

    The words are said back if the channel has room. So is a person's edit of a message that was read before.
    History keeps the answer alone: a model that read such lines as its own would write more of them.
    """
    messages = [*request.inbound, *result.joined]
    voices = [file for message in messages for file in message.files if file.is_voice]
    lines = list(dict.fromkeys(file.failure for file in voices if file.failure and file.failure not in result.reply))
    lines += [line for message in request.inbound if message.points and (line := corrected(message))]
    if request.place.says_heard and (words := " ".join(" ".join(file.words for file in voices).split())):
        lines.append(gettext("I heard: “{words}”", words=literal(_short(words))))
    if not lines or not (result.reply or result.approvals or result.media):
        return result
    return replace(result, reply="\n\n".join(part for part in ("\n".join(lines), result.reply) if part))
