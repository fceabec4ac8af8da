"""The readers of pictures and recordings: their models, if any are set, and the ability that uses them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from core.budgets.budgeted_model import BudgetedModel
from core.budgets.budgeted_transcriber import BudgetedTranscriber
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.files.access import Files as Files
from onevalet.ability import SensesFoundation
from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings
from providers.models.litellm_client import LiteLLMClient
from providers.models.transcription import PATIENCE, Transcriber


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
        transcriber = build_transcriber(settings)
        if transcriber is not None:
            stack.push_async_callback(transcriber.close)
            await transcriber.warm_up()
        ear = BudgetedTranscriber(transcriber, database, budgets) if transcriber else None
        yield files.shown_by(shows(SensesFoundation(client.sees, eye, ear)))


def build_eye(
    settings: Settings, client: LiteLLMClient, database: Database, budgets: DailyBudgets | None
) -> tuple[BudgetedModel | None, LiteLLMClient | None]:
    """Return the model for pictures, and its own client, if any, which the caller closes."""
    named = settings.onevalet_vision_model
    if not named or named == settings.onevalet_model:
        seeing = client if named or client.sees() else None
        return BudgetedModel(seeing, database, budgets, "pictures") if seeing else None, None
    own = LiteLLMClient(
        named,
        keys=[key.get_secret_value() for key in settings.onevalet_model_keys] if _same_provider(settings) else (),
        direct=settings.onevalet_model_transport == "direct",
        vision_model=named,
    )
    return BudgetedModel(own, database, budgets, "pictures"), own


def build_transcriber(settings: Settings, patience: float = PATIENCE) -> Transcriber | None:
    """Create the client of the transcription model; None if none is set. `patience` as in `Transcriber`."""
    key = settings.onevalet_transcription_key
    if not settings.onevalet_transcription_model:
        return None
    return Transcriber(
        settings.onevalet_transcription_model,
        url=settings.onevalet_transcription_url,
        key=key.get_secret_value() if key else "",
        patience=patience,
    )


def _same_provider(settings: Settings) -> bool:
    return settings.onevalet_vision_model.split("/", 1)[0] == settings.onevalet_model.split("/", 1)[0]
