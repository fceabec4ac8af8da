"""The words of voice notes and of changed messages: a command may be spoken, and the reply says back what was read."""

from dataclasses import replace

from core.language.catalogue import gettext
from core.loop.control import TurnMessage
from core.messaging.chat_reader import chat_words
from core.messaging.messages import Command, Origin
from core.messaging.pointed import Whose
from core.messaging.visible_text import literal
from core.turns.types import TurnRequest, TurnResult
from core.turns.waiting_agents import waits_here

_MAX_SHOWN = 200
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


def with_heard(result: TurnResult, request: TurnRequest) -> TurnResult:
    """Return a result whose reply begins with the heard words of voice notes, or the reason why there are none.

    The words are said back if the channel has room. So is a person's edit of a message that was read before.
    History keeps the answer alone: a model that read such lines as its own would write more of them.
    """
    messages = [*request.inbound, *result.joined]
    voices = [file for message in messages for file in message.files if file.is_voice]
    lines = list(dict.fromkeys(file.failure for file in voices if file.failure and file.failure not in result.reply))
    lines += [line for message in request.inbound if message.points and (line := _corrected(message))]
    if request.place.says_heard and (words := " ".join(" ".join(file.words for file in voices).split())):
        lines.append(gettext("I heard: “{words}”", words=literal(_short(words))))
    if not lines or not (result.reply or result.approvals or result.media):
        return result
    return replace(result, reply="\n\n".join(part for part in ("\n".join(lines), result.reply) if part))


def _corrected(message: TurnMessage) -> str:
    """Return the line about the person's edit; empty if they edited nothing that was read before."""
    before = next((point.text for point in message.points if point.whose is Whose.CHANGED), "")
    if not before or not message.text:
        return ""
    old, new = (literal(_short(text)) for text in (before, message.text))
    return gettext("You changed “{old}” to “{new}”.", old=old, new=new)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MAX_SHOWN else f"{words[: _MAX_SHOWN - 1].rstrip()}…"
