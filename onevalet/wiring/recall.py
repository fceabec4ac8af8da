"""The memory that turns search, from the ability that declares it."""

from contextlib import AsyncExitStack
from functools import partial

from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.turns.services import Recall
from onevalet.ability_registry import all_abilities
from onevalet.foundations import RecallFoundation
from onevalet.settings import Settings
from onevalet.wiring.extras import require_extras
from onevalet.wiring.http import guarded_client
from onevalet.wiring.models import Models


def open_recall(
    stack: AsyncExitStack,
    settings: Settings,
    database: Database,
    clock: Clock,
    models: Models,
    budgets: DailyBudgets | None = None,
) -> Recall | None:
    """Return the memory that turns search, which `stack` closes; None if no ability has any."""
    for ability in all_abilities():
        if ability.recall is not None:
            require_extras(ability, settings)
            foundation = RecallFoundation(
                settings,
                database,
                partial(guarded_client, settings),
                clock=clock,
                model=models.behind if settings.onevalet_model else None,
                embeddings=models.main,
                budgets=budgets,
            )
            return ability.recall(stack, foundation)
    return None
