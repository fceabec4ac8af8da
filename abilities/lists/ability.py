"""Lists with entries to tick off, and notes with numbers."""

from onevalet.ability import Ability

ABILITY = Ability(name="lists", tools=("abilities.lists.lists", "abilities.lists.notes"))
