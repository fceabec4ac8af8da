"""Voice notes in a turn: a command that is spoken, and what was heard, said back with the answer."""

from dataclasses import replace

from core.agents.standard_agent import AgentStatus
from core.language.catalogue import gettext
from core.messaging.chat_reader import chat_words
from core.messaging.messages import Command, Origin
from core.messaging.visible_text import literal
from core.turns.types import TurnRequest, TurnResult

MAX_SHOWN = 200
"""Characters of what was heard that are said back: enough to see what was misheard."""


def spoken_command(request: TurnRequest) -> Command | None:
    """Return the command that a turn's one message is, where it is nothing but a voice note that says one.

    Nothing is a command that may answer an agent which waits here for an answer.
    """
    if len(request.inbound) != 1:
        return None
    (message,) = request.inbound
    if message.origin is not Origin.OWN or not message.heard or message.text != message.heard:
        return None
    if any(
        entry.conversation_id == request.place.conversation_id and entry.status is AgentStatus.WAITING_FOR_INPUT
        for entry in request.kept.pool
    ):
        return None
    return chat_words().spoken(message.heard, request.channel or "")


def with_heard(result: TurnResult, request: TurnRequest) -> TurnResult:
    """Return a result whose reply begins with what was heard, or could not be, in the turn's voice notes.

    What was heard is said back where the channel has room.
    History keeps the answer alone: a model that read such lines as its own would write more of them.
    """
    messages = [*request.inbound, *result.joined]
    voices = [file for message in messages for file in message.files if file.is_voice]
    lines = list(dict.fromkeys(file.failure for file in voices if file.failure and file.failure not in result.reply))
    if request.place.says_heard and (words := " ".join(" ".join(file.words for file in voices).split())):
        shown = words if len(words) <= MAX_SHOWN else f"{words[: MAX_SHOWN - 1].rstrip()}…"
        lines.append(gettext("I heard: “{words}”", words=literal(shown)))
    if not lines or not (result.reply or result.approvals or result.media):
        return result
    return replace(result, reply="\n\n".join(part for part in ("\n".join(lines), result.reply) if part))
