"""The briefing: weather, calendar, unread mail, reminders and waiting entries, in a message each morning."""

from onevalet.ability import Ability

ABILITY = Ability(
    name="briefing",
    needs=("calendar", "mail", "moments", "tasks", "weather"),
    tools=("abilities.briefing.tools",),
)
