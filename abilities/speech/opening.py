"""Answers by voice in a worker: the service of words and tools, and the work that has answers spoken."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

from abilities.speech.answers import Voice
from abilities.speech.recording import BudgetedSpeaker
from abilities.speech.settings import SpeechSettings
from abilities.speech.store import SpokenAnswers
from abilities.speech.types import ClaimedSpeech
from abilities.speech.voicing import Places, Voicing
from core.ids import make_id
from core.queue.claims import ClaimedWork
from core.turns.services import ForTurn
from onevalet.foundations import OpeningFoundation, WorkFoundation
from onevalet.settings import Settings
from providers.models.speech import PATIENCE, SILENT, SilentSpeaker, Speaker, load

DUE = "speech"
QUEUE = "onevalet:wake:speech"
SLOTS = 2
_POLL = timedelta(minutes=1)
"""The watch over due work finds answers sooner."""


def build_speaker(settings: Settings, patience: float = PATIENCE) -> Speaker | SilentSpeaker | None:
    """Create the client of the speech model; None if none is set. `patience` as in `Speaker`.

    Its key is that of the model where both are of one provider, else the provider's own variable.
    """
    named = settings.of(SpeechSettings)
    if not (model := named.speech_model):
        return None
    if model == SILENT:
        return SilentSpeaker()
    return Speaker(model, named.speech_voice, key=next(iter(settings.keys_for(model)), ""), patience=patience)


def load_model(settings: Settings) -> None:
    """Load the library of the speech model, if one is set that needs it."""
    if settings.of(SpeechSettings).speech_model not in ("", SILENT):
        load()


def open_services(foundation: OpeningFoundation) -> Mapping[type, ForTurn]:
    """Return the service of words and tools."""
    speaks = bool(foundation.settings.of(SpeechSettings).speech_model)
    answers = SpokenAnswers(foundation.database, make_id)
    return {Voice: lambda tenant_id, turn_id: Voice(answers, tenant_id, turn_id, speaks)}


def open_work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[ClaimedWork[ClaimedSpeech]]:
    """Return the work that speaks answers; without a model, it records why answers are not spoken."""
    services, settings = foundation.orchestrator.services, foundation.settings
    speaker, paid = build_speaker(settings), None
    if speaker is not None:
        stack.push_async_callback(speaker.close)
        paid = BudgetedSpeaker(speaker, foundation.database, foundation.orchestrator.budgets)
    voicing = Voicing(
        SpokenAnswers(foundation.database, make_id),
        Places(foundation.channels, links=bool(settings.public_url)),
        paid,
        services.files,
        foundation.wakeups,
        foundation.worker,
    )
    return [ClaimedWork("speech", QUEUE, DUE, voicing.claim, voicing.run, SLOTS, _POLL, awaited=True)]
