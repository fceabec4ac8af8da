"""Lists with entries to tick off, and notes with numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onevalet.ability import Ability

if TYPE_CHECKING:
    from core.db.database import Database
    from operations.programs.types import ClientTool


def _client_tools(database: "Database") -> "Sequence[ClientTool]":
    from abilities.lists.for_programs import client_tools

    return client_tools(database)


ABILITY = Ability(
    name="lists",
    tools=("abilities.lists.lists", "abilities.lists.notes", "abilities.lists.shared_notes"),
    client_tools=_client_tools,
)
