"""People's memories in a process without a model, from the ability that declares them."""

from collections.abc import Callable
from functools import partial

from core.clock import Clock
from core.db.database import Database
from core.tools.memory_access import MemoryAccess
from onevalet.ability_registry import all_abilities
from onevalet.foundations import Foundation
from onevalet.settings import Settings
from onevalet.wiring.http import guarded_client


def open_memories(settings: Settings, database: Database, clock: Clock) -> Callable[[str], MemoryAccess] | None:
    """Return an opener of a person's memory; None if no ability has a memory."""
    foundation = Foundation(settings, database, partial(guarded_client, settings))
    for ability in all_abilities():
        if ability.memories is not None:
            return ability.memories(foundation, clock)
    return None
