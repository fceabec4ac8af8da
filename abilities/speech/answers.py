"""The answer to the word that has the last answer spoken, and its service."""

from dataclasses import dataclass

from abilities.speech.chat_words import SILENT
from abilities.speech.store import SpokenAnswers
from abilities.speech.types import Asking
from core.language.catalogue import gettext
from core.messaging.chat_words import CommandAnswer
from core.turns.words.asked import Asked


@dataclass(frozen=True, slots=True)
class Voice:
    """The voice for a person's turn. `speaks`: whether a speech model is set."""

    answers: SpokenAnswers
    tenant_id: str
    turn_id: str
    speaks: bool

    async def ask(self, conversation_id: str) -> Asking:
        """Queue a conversation's last answer to be spoken."""
        return await self.answers.ask(self.tenant_id, conversation_id, self.turn_id)


async def say_aloud(asked: Asked) -> CommandAnswer | None:
    """Have the last answer spoken; the recording is the answer. None without a conversation."""
    here, voice = asked.request.place.conversation_id, asked.service(Voice)
    if not here:
        return None
    if not voice.speaks:
        return CommandAnswer(gettext(SILENT))
    match await voice.ask(here):
        case Asking.WAITING:
            return CommandAnswer("", reason="spoken")
        case Asking.SPOKEN:
            return CommandAnswer(gettext("I have said that aloud already: it is above."))
    return CommandAnswer(gettext("There is no answer yet that I could say aloud."))
