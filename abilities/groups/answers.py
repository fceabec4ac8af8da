"""Answers to the word for groups, without a model."""

from abilities.groups import sentences
from abilities.groups.chat_words import ALLOW, FORBID, read_argument
from abilities.groups.groups import Groups
from core.errors import ToolFailed
from core.messaging.chat_words import CommandAnswer
from core.turns.words.asked import Asked


async def about_groups(asked: Asked) -> CommandAnswer | None:
    """Show the groups to the installation's owner, or change one by their word; tell anybody else whom to ask."""
    try:
        groups = asked.service(Groups)
    except ToolFailed:
        return None
    verb, number = read_argument(asked.command.argument)
    found = await groups.all()
    if found is None or (verb and verb not in (ALLOW, FORBID)):
        return CommandAnswer(sentences.how_to())
    if not verb:
        return CommandAnswer(sentences.overview(found))
    group = found[number - 1] if 0 < number <= len(found) else None
    done = await groups.allow(str(group["id"]), allow=verb == ALLOW) if group else None
    return CommandAnswer(sentences.settled(done) if done else sentences.no_such())
