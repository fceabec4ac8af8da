"""Answers to the words about the conversation itself."""

from core.language.catalogue import gettext
from core.messaging.chat_words import CommandAnswer
from core.messaging.help_text import help_text, where_help_is
from core.turns.words.asked import Asked


async def afresh(asked: Asked) -> CommandAnswer:
    """Set the earlier conversation aside."""
    return CommandAnswer(gettext("A fresh start. What can I do for you?"), new_session=True)


async def nothing_runs(asked: Asked) -> CommandAnswer:
    """Reply that there was nothing to stop: a running turn is stopped by the word itself, when it comes in."""
    return CommandAnswer(gettext("Nothing is running at the moment."))


async def hello(asked: Asked) -> CommandAnswer:
    """Greet, and name the word for the list of words."""
    words = gettext("Hello! I am your assistant: write to me in your own words.")
    return CommandAnswer(f"{words} {where_help_is(asked.turn.address.channel)}")


async def the_list(asked: Asked) -> CommandAnswer:
    """List the words."""
    return CommandAnswer(help_text(asked.turn.address.channel))


async def the_rest(asked: Asked) -> CommandAnswer | None:
    """Owe the rest of a long text; None if none of it is left."""
    request = asked.request
    here = request.place.conversation_id
    if here is None or not await asked.rooms.turns.say_more(request.tenant.id, here, request.turn_id):
        return None
    return CommandAnswer("", reason=asked.command.name, queued=(here,))
