"""The answer to the word about reminders by others."""

from collections.abc import Sequence

from abilities.tasks.chat_words import read_verb, typed
from abilities.tasks.for_others import Permit, RemindersForOthers
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
    found = meant(await reminders.permits(), name.casefold())
    if not verb or not found:
        return CommandAnswer(gettext("Nobody with that name has asked to set reminders for you."))
    if verb == "refuse":
        # A name does not say which of several: none of them may.
        await reminders.decide(found, allowed=False)
        names = dict.fromkeys(literal(one.name) for one in found)
        told = [gettext("{who} sets no reminders for you, and those that were set are gone.", who=who) for who in names]
        if len(found) > 1:
            told.append(gettext("That fits several people. To allow one of them, write one of these:"))
            told += await _lines(reminders, found)
        return CommandAnswer("\n".join(told))
    # Of several only the one that the person was asked about: those of one name are asked about in turn.
    chosen = [one for one in found if one.open] or found
    if len(chosen) > 1:
        told = [gettext("Several people with that name have asked to set reminders for you. Write one of these:")]
        return CommandAnswer("\n".join(told + await _lines(reminders, chosen)))
    await reminders.decide(chosen, allowed=True)
    who = literal(chosen[0].name)
    return CommandAnswer(gettext("{who} may set reminders for you. I will tell you each time.", who=who))


def meant(permits: Sequence[Permit], wanted: str) -> list[Permit]:
    """Return whom the words behind the verb mean: a name with or without its mark, or else a part of a name."""
    found = [one for one in permits if wanted in (one.name.casefold(), one.marked.casefold())]
    return found or [one for one in permits if wanted in one.name.casefold().split()]


async def _lines(reminders: RemindersForOthers, permits: Sequence[Permit]) -> list[str]:
    """Return a line for each person: their address, and unambiguous words for them."""
    places = await reminders.places(permits)
    return [f"- {place}: {typed('allow', one.marked)}" for one, place in zip(permits, places, strict=True)]
