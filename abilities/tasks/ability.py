"""What makes the assistant write first: reminders, tasks that recur, wait for an event, or watch a value."""

from onevalet.ability import Ability

ABILITY = Ability(name="tasks", needs=("events",), tools=("abilities.tasks.tools",))
