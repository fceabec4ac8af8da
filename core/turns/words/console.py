"""Answers to the words about the console, and about the programs that people let in there."""

from core.language.catalogue import gettext
from core.messaging.chat_words import CommandAnswer
from core.turns.words.asked import Asked


async def to_console(asked: Asked) -> CommandAnswer | None:
    """Reply with a link to the console; return None if there is no console."""
    console = asked.rooms.console
    if console is None or not console.public_url:
        return None
    link = await console.link(asked.request.tenant.id, asked.rooms.orchestrator.clock.now())
    if not link:
        return CommandAnswer(gettext("You have had too many links today. Ask me again tomorrow."))
    minutes = int(console.valid.total_seconds() // 60)
    return CommandAnswer(
        gettext("Open this within {number} minutes, in one browser: {link}", number=minutes, link=link)
    )


async def about_clients(asked: Asked) -> CommandAnswer | None:
    """Answer about programs that ask by a token; return None if the words are for the assistant."""
    if (programs := asked.rooms.programs) is None:
        return None
    reply = await programs.answer(asked.command.argument, asked.request.tenant, slash=asked.slash)
    return None if reply is None else CommandAnswer(reply)
