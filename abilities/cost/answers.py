"""The answers to the words about long answers."""

from abilities.cost.held import HeldAnswers, Way
from core.language.catalogue import gettext, ngettext
from core.messaging.chat_words import CommandAnswer
from core.messaging.holding import FEW
from core.people.chat_names import channel_name
from core.turns.words.asked import Asked


async def send(asked: Asked) -> CommandAnswer | None:
    """Send all of the answer that is held back; None if none is."""
    return await _queued(asked, Way.SEND)


async def shorten(asked: Asked) -> CommandAnswer | None:
    """Send it shortened; None likewise."""
    return await _queued(asked, Way.SHORT)


async def read(asked: Asked) -> CommandAnswer | None:
    """Reply with a link to it; None likewise."""
    here = asked.request.place.conversation_id
    chosen = await asked.service(HeldAnswers).choose(here, asked.turn.turn_id, Way.READ) if here else None
    return CommandAnswer(gettext("All of it, for seven days: {link}", link=chosen.url)) if chosen else None


async def elsewhere(asked: Asked) -> CommandAnswer | None:
    """Send it to the person's other chat; None likewise, or without another chat."""
    here = asked.request.place.conversation_id
    chosen = await asked.service(HeldAnswers).choose(here, asked.turn.turn_id, Way.CHAT) if here else None
    if chosen is None:
        return None
    said = gettext("You will find it in {channel}.", channel=channel_name(chosen.channel))
    return CommandAnswer(said, queued=(chosen.conversation_id,))


async def ask_above(asked: Asked) -> CommandAnswer:
    """Ask before answers of fewer texts than usual."""
    answers, wanted = asked.service(HeldAnswers), int(asked.command.argument)
    if wanted < FEW:
        text = gettext("An answer of {number} texts is sent without asking: write {number} or more.", number=FEW)
        return CommandAnswer(text)
    kept = await answers.ask_above(wanted)
    said = ngettext(
        "By SMS I ask before an answer of more than {number} text.",
        "By SMS I ask before an answer of more than {number} texts.",
        kept,
    )
    if kept < wanted:
        most = gettext("That is the maximum here.")
        said = f"{said} {most}"
    return CommandAnswer(said)


async def _queued(asked: Asked, way: Way) -> CommandAnswer | None:
    here = asked.request.place.conversation_id
    chosen = await asked.service(HeldAnswers).choose(here, asked.turn.turn_id, way) if here else None
    return CommandAnswer("", reason=asked.command.name, queued=(chosen.conversation_id,)) if chosen else None
