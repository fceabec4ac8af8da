"""The person's calendars: events, free time, and events made, moved, cancelled and answered."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from onevalet.ability import Ability
from onevalet.foundations import OpeningFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.calendar.together import CompanionCalendars

    return {CompanionCalendars: lambda tenant_id, turn_id: CompanionCalendars(foundation.accounts)}


# Guests are notified by mail, and invitations come by it; a reminder before an event is a task.
ABILITY = Ability(
    name="calendar",
    needs=("dav", "mail", "moments", "tasks"),
    tools=("abilities.calendar.tools",),
    services=_services,
    access=("calendar.read", "calendar.change"),
)
