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
    if not verb or not found:
        return CommandAnswer(gettext("Nobody of that name has asked to set reminders for you."))
    if verb == "refuse":
        # A name does not say which of several: none of them may.
        await reminders.decide(found, allowed=False)
        names = dict.fromkeys(literal(one.name) for one in found)
        told = [gettext("{who} sets no reminders for you, and those that were set are gone.", who=who) for who in names]
        return CommandAnswer("\n".join(told))
    # Of several only the one that the person was asked about: those of one name are asked about in turn.
    chosen = [one for one in found if one.open] or found
    if len(chosen) > 1:
        return CommandAnswer(
            gettext(
                "Several people of that name have asked to set reminders for you, and I do not know which one you "
                "mean. One of them has to take another name first."
            )
        )
    await reminders.decide(chosen, allowed=True)
    who = literal(chosen[0].name)
    return CommandAnswer(gettext("{who} may set reminders for you. Each time I tell you so.", who=who))
