"""The view of messages' files for a model, opened in a worker with the model that hears recordings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from abilities.files.hearing import Hearing
from abilities.files.settings import HearingSettings
from abilities.files.showing import FileShowing
from abilities.files.transcribing import BudgetedTranscriber
from abilities.files.vision import Vision
from onevalet.foundations import SensesFoundation
from onevalet.settings import Settings
from providers.models.transcription import PATIENCE, Transcriber


@asynccontextmanager
async def open_showing(foundation: SensesFoundation) -> AsyncIterator[FileShowing]:
    """Yield the view of files, which sees pictures and hears recordings if there are models for that."""
    vision = Vision(foundation.sees, foundation.eye)
    transcriber = build_transcriber(foundation.settings)
    if transcriber is None:
        yield FileShowing(vision)
        return
    try:
        await transcriber.warm_up()
        yield FileShowing(vision, Hearing(BudgetedTranscriber(transcriber, foundation.database, foundation.budgets)))
    finally:
        await transcriber.close()


def build_transcriber(settings: Settings, patience: float = PATIENCE) -> Transcriber | None:
    """Create the client of the transcription model; None if none is set. `patience` as in `Transcriber`.

    A server of the operator's own gets the key in its URL; the key of a provider is as in `Settings.keys_for`.
    """
    named = settings.of(HearingSettings)
    if not (model := named.onevalet_transcription_model):
        return None
    url, key = named.own_server
    key = key if url else next(iter(settings.keys_for(model)), "")
    return Transcriber(model, url=url, key=key, patience=patience)
