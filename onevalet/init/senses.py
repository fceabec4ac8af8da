"""The further models: for memory's search, and for voice notes. Each is tried before it is saved."""

import asyncio
from collections.abc import Mapping, Sequence

from core.messaging.channels import Check
from onevalet.environment import exported
from onevalet.init.dialogue import Dialogue, Wrong
from onevalet.init.draft import Draft
from onevalet.settings import Settings, is_setting
from operations.doctor.every import all_probes
from operations.doctor.models import check_embedding
from operations.doctor.types import Installation

EMBEDDING = "ONEVALET_EMBEDDING_MODEL"
TRANSCRIPTION, URL = (f"ONEVALET_TRANSCRIPTION_{name}" for name in ("MODEL", "URL"))
TRANSCRIPTION_NAMES = (TRANSCRIPTION, URL)
_SECONDS = 20.0
_EMBEDDERS = {
    "openai": "openai/text-embedding-3-small",
    "gemini": "gemini/gemini-embedding-001",
    "mistral": "mistral/mistral-embed",
}
_LISTENERS = {"openai": "openai/whisper-1", "groq": "groq/whisper-large-v3-turbo"}
_READ = ("ONEVALET_MODEL", "ONEVALET_MODEL_KEYS")
_EXPORTED = ("OPENAI_API_BASE", "AZURE_API_BASE", "AZURE_API_VERSION")


def set_up_embedding(talk: Dialogue, draft: Draft) -> None:
    """Ask until a model has embedded a word, then save it."""
    talk.say("  Memory finds by meaning with the encoder that ships, offline; a provider's model knows more languages.")
    talk.say("  Its key is that of the model where both are of one provider, else the provider's own variable.")
    known = draft.value(EMBEDDING) or _EMBEDDERS.get(_provider(draft), "")

    def prove(answer: str) -> str:
        _try(talk, draft, {name: draft.value(name) for name in _READ} | {EMBEDDING: answer})
        return answer

    draft.save({EMBEDDING: talk.ask_until(EMBEDDING, "Embedding model", prove, default=known)[1]})


def set_up_transcription(talk: Dialogue, draft: Draft) -> None:
    """Ask until a model has listened to a second of silence, then save it."""
    talk.say(
        "  Voice notes are heard by a model for transcription; without one the assistant says that it cannot listen."
    )
    model = draft.value(TRANSCRIPTION) or _LISTENERS.get(_provider(draft), "openai/whisper-1")
    url = talk.ask(URL, "") if talk.is_given(URL) else draft.value(URL)
    while True:
        model = talk.ask(TRANSCRIPTION, "Model for voice notes", default=model)
        values = {TRANSCRIPTION: model} | ({URL: url} if url else _provider_key(talk, draft, model))
        try:
            _try(talk, draft, {name: draft.value(name) for name in _READ} | values)
        except Wrong as wrong:
            talk.refuse(TRANSCRIPTION, wrong)
            continue
        draft.save(values)
        return


def _try(talk: Dialogue, draft: Draft, values: Mapping[str, str]) -> None:
    """Try a model once; raise `Wrong` if it fails."""
    settings = draft.settings(values)
    model = values.get(EMBEDDING) or values[TRANSCRIPTION]
    talk.say(f"  Trying {model} …")
    foreign = {name: value for name in _EXPORTED if (value := draft.value(name))}
    with exported(foreign | {name: value for name, value in values.items() if not is_setting(name)}):
        if EMBEDDING in values:
            [check] = asyncio.run(check_embedding(settings, model, _SECONDS))
        else:
            [check] = asyncio.run(_look(settings, "voice notes"))
    if not check.ok:
        raise Wrong(f"{check.detail}: {check.fix}.")
    talk.say(f"  {check.detail}.")


async def _look(settings: Settings, probe: str) -> Sequence[Check]:
    """Return the findings of a probe of `doctor`'s, such as an ability's."""
    [found] = [one for one in all_probes() if one.name == probe]
    return await found.look(Installation(settings))


def _provider(draft: Draft) -> str:
    return draft.value("ONEVALET_MODEL").partition("/")[0]


def _provider_key(talk: Dialogue, draft: Draft, model: str) -> dict[str, str]:
    """Ask for the variable that holds the key of a model's provider, unless it is that of the answering model."""
    provider = model.partition("/")[0]
    if provider == _provider(draft) and draft.value("ONEVALET_MODEL_KEYS"):
        return {}
    name = f"{provider.upper()}_API_KEY"
    return {name: talk.ask(name, f"Key ({name})", default=draft.value(name), secret=True)}
