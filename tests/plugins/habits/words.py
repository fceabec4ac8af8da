"""The answer to the word about habits."""

from core.language.catalogue import gettext
from core.messaging.chat_words import CommandAnswer
from core.messaging.visible_text import literal
from core.turns.words.asked import Asked
from tests.plugins.habits.habits import Habits


async def list_habits(asked: Asked) -> CommandAnswer:
    """List the habits."""
    habits, today = await asked.service(Habits).all(), asked.service(Habits).today(asked.request.tenant.timezone)
    if not habits:
        return CommandAnswer(gettext("You have no habits yet: tell me of one."))
    done = gettext("done today")
    lines = (f"- {literal(habit.name)}" + (f", {done}" if habit.done_on == today else "") for habit in habits)
    return CommandAnswer("\n".join(lines))
