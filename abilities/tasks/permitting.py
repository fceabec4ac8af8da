"""The answer to the word about reminders by others."""

from abilities.tasks.chat_words import read_verb
from abilities.tasks.for_others import RemindersForOthers
from core.errors import ToolFailed
from core.language.catalogue import gettext
from core.messaging.chat_words import CommandAnswer
from core.messaging.visible_text import literal
from core.turns.words.asked import Asked


async def decide_permit(asked: Asked) -> CommandAnswer | None:
    """Allow or refuse somebody's reminders; return None for words that are for the assistant."""
    verb, name = read_verb(asked.command.argument)
    try:
        reminders = asked.service(RemindersForOthers)
    except ToolFailed:
        return None
    wanted = name.casefold()
    permits = await reminders.permits()
    found = [one for one in permits if one.name.casefold() == wanted]
    found = found or [one for one in permits if wanted in one.name.casefold().split()]
    if not verb or len(found) != 1:
        return CommandAnswer(gettext("Nobody of that name has asked to set reminders for you."))
    await reminders.decide(found, allowed=verb == "allow")
    who = literal(found[0].name)
    if verb == "allow":
        return CommandAnswer(gettext("{who} may set reminders for you. Each time I tell you so.", who=who))
    return CommandAnswer(gettext("{who} sets no reminders for you, and those that were set are gone.", who=who))
