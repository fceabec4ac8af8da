"""Messages to other people on a person's behalf: consented to, sent once, and their answers."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from onevalet.ability import Ability, calls
from onevalet.foundations import OpeningFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.outreach.outreach import Outreach
    from core.ids import make_id
    from core.tools.message_access import MessageAccess

    outreach = Outreach(foundation.database, foundation.wakeups, make_id, foundation.clock, foundation.channels)
    return {MessageAccess: outreach.for_turn}


# Who is written to is a contact, or an address that the person wrote.
ABILITY = Ability(
    name="outreach",
    needs=("contacts",),
    tools=("abilities.outreach.tools",),
    services=_services,
    answers=calls("abilities.outreach.taking_answers:take_answer"),
)
