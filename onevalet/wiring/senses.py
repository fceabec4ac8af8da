"""What sees pictures and hears recordings: the models for it, if any are set."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from core.budgets.budgeted_model import BudgetedModel
from core.budgets.budgeted_transcriber import BudgetedTranscriber
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.files.access import Files as Files
from core.files.hearing import Hearing
from core.files.vision import Vision
from core.llm.litellm_client import LiteLLMClient
from core.llm.transcription import PATIENCE, Transcriber
from onevalet.settings import Settings


@asynccontextmanager
async def open_senses(
    files: Files, settings: Settings, client: LiteLLMClient, database: Database, budgets: DailyBudgets | None
) -> AsyncIterator[Files]:
    """Yield the files with what sees and hears them; their own models' clients are closed at the end."""
    async with AsyncExitStack() as stack:
        vision, own_client = build_vision(settings, client, database, budgets)
        if own_client is not None:
            stack.push_async_callback(own_client.close)
        transcriber = build_transcriber(settings)
        if transcriber is not None:
            stack.push_async_callback(transcriber.close)
            await transcriber.warm_up()
        hearing = Hearing(BudgetedTranscriber(transcriber, database, budgets) if transcriber else None)
        yield files.seeing(vision, hearing)


def build_vision(
    settings: Settings, client: LiteLLMClient, database: Database, budgets: DailyBudgets | None
) -> tuple[Vision, LiteLLMClient | None]:
    """Return what sees pictures, and the client of a model of its own, which is to be closed."""
    named = settings.onevalet_vision_model
    if not named or named == settings.onevalet_model:
        seeing = client if named or client.sees() else None
        return Vision(client.sees, BudgetedModel(seeing, database, budgets, "pictures") if seeing else None), None
    own = LiteLLMClient(
        named,
        keys=[key.get_secret_value() for key in settings.onevalet_model_keys] if _same_provider(settings) else (),
        direct=settings.onevalet_model_transport == "direct",
        vision_model=named,
    )
    return Vision(client.sees, BudgetedModel(own, database, budgets, "pictures")), own


def build_transcriber(settings: Settings, patience: float = PATIENCE) -> Transcriber | None:
    """Create the client of the transcription model; None where none is set. `patience` as in `Transcriber`."""
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
