"""The person's calendars: events, free time, and events made, moved, cancelled and answered."""

from onevalet.ability import Ability

# Guests are notified by mail, and invitations come by it; a reminder before an event is a task.
ABILITY = Ability(
    name="calendar",
    needs=("dav", "mail", "moments", "tasks"),
    tools=("abilities.calendar.tools",),
    access=("calendar.read", "calendar.change"),
)
