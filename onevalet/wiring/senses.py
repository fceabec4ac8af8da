"""The model for pictures, if any is set, and the ability that shows files to models."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from core.budgets.budgeted_model import BudgetedModel
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.files.access import Files as Files
from onevalet.ability_registry import all_abilities
from onevalet.foundations import SensesFoundation
from onevalet.settings import Settings
from providers.models.litellm_client import LiteLLMClient


@asynccontextmanager
async def open_senses(
    files: Files, settings: Settings, client: LiteLLMClient, database: Database, budgets: DailyBudgets | None
) -> AsyncIterator[Files]:
    """Yield the files with their view for a model, if an ability provides it; its own models are closed at the end."""
    shows = next((ability.shows for ability in all_abilities() if ability.shows is not None), None)
    if shows is None:
        yield files
        return
    async with AsyncExitStack() as stack:
        eye, own_client = build_eye(settings, client, database, budgets)
        if own_client is not None:
            stack.push_async_callback(own_client.close)
        foundation = SensesFoundation(settings, database, budgets, client.sees, eye)
        yield files.shown_by(await stack.enter_async_context(shows(foundation)))


def build_eye(
    settings: Settings, client: LiteLLMClient, database: Database, budgets: DailyBudgets | None
) -> tuple[BudgetedModel | None, LiteLLMClient | None]:
    """Return the model for pictures, and its own client, if any, which the caller closes."""
    named = settings.onevalet_vision_model
    if not named or named == settings.onevalet_model:
        seeing = client if named or client.sees() else None
        return BudgetedModel(seeing, database, budgets, "pictures") if seeing else None, None
    own = LiteLLMClient(named, keys=settings.keys_for(named), vision_model=named)
    return BudgetedModel(own, database, budgets, "pictures"), own
