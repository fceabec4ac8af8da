"""Lists with entries to tick off, and notes with numbers."""

from typing import TYPE_CHECKING

from onevalet.ability import Ability, calls

if TYPE_CHECKING:
    pass


ABILITY = Ability(
    name="lists",
    tools=("abilities.lists.lists", "abilities.lists.notes", "abilities.lists.shared_notes"),
    client_tools=calls("abilities.lists.for_programs:client_tools"),
)
