"""The model of a running `dev`: a choice is tried, kept, and put to work; the demo model steps back for it."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from core.errors import OneValetError, RequestRefused
from onevalet.init.local_servers import LOCAL_SECONDS, LocalServer, find_servers, short_of_context, values_for
from onevalet.init.presets import PRESETS, Preset
from onevalet.settings import Settings
from onevalet.wiring.logs import set_up_logs
from operations.doctor.models import MODEL_SECONDS
from workbench.dev.model.choice import Baseline, Choice, keep_choice
from workbench.dev.model.proof import Proof, prove
from workbench.dev.processes.assistant import Assistant

log = structlog.get_logger()
FIXED = "ONEVALET_MODEL names the model, in .env or the environment: empty it there to choose one here."
_WRONG = {
    "ModelAuthError": "{where} refuses this key, or the key may not use {model}: see whether it was copied whole.",
    "ModelOutOfQuota": "The key is right, but its account at {where} has no credit left: top it up there.",
    "ModelRateLimited": "{where} lets this key ask no more for the moment: wait a minute, and try again.",
    "ModelTimeout": "{model} gave no answer within {seconds:g} seconds: see whether {where} can be reached.",
    "ModelRejected": "{where} answers, but not with {model}: see whether that is the name of a model for chat.",
    "ModelUnavailable": "{where} cannot be reached, or fails now: see whether it is up, and the address right.",
}


@dataclass(slots=True)
class ModelChooser:
    """Chooses the model. `told` gets the settings after each change; `fixed`: the operator's settings name a model."""

    baseline: Baseline
    choice: Choice
    assistant: Assistant
    told: Callable[[Settings], None]
    fixed: bool = False
    _trying: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def choose_key(self, preset: Preset, model: str, key: str, further: dict[str, str]) -> Proof:
        """Choose a model at a provider. Raises `RequestRefused` with a sentence for people."""
        names = {asked.name for asked in preset.asks}
        values = {name: value.strip() for name, value in further.items() if name in names}
        for asked in preset.asks:
            if not values.setdefault(asked.name, asked.default):
                raise RequestRefused(f"Say also: {asked.question[0].lower()}{asked.question[1:]}.")
        if (base := values.get("OPENAI_API_BASE")) and not base.startswith(("http://", "https://")):
            raise RequestRefused("The address begins with http:// or https://.")
        if not model:
            raise RequestRefused("Say also the name of the model.")
        if not key and preset.key == "server":
            key = "none"  # its client wants a key, even if the server does not
        if not key or not key.isprintable() or re.search(r"[\s,]", key):
            raise RequestRefused("A key is one word, without spaces or commas: paste it as the provider shows it.")
        prefix = {"server": "openai", "azure": "azure"}.get(preset.key, preset.model.partition("/")[0])
        named = model if preset.key != "server" and model.startswith(f"{prefix}/") else f"{prefix}/{model}"
        return await self._try(Choice(values | {"ONEVALET_MODEL": named, "ONEVALET_MODEL_KEYS": key}), MODEL_SECONDS)

    async def choose_local(self, url: str, model: str) -> Proof:
        """Choose a model of a server on this machine. Raises `RequestRefused` with a sentence for people."""
        found = await find_servers([url])
        server = next((one for one in found if model in one.models), None)
        if server is None:
            raise RequestRefused(f"No server with {model} answers at {url} any more: look again.")
        return await self._try(Choice(server.asked_for(model)), LOCAL_SECONDS, server)

    async def demo(self) -> None:
        """Go back to the demo model."""
        if self._trying.locked():
            raise RequestRefused("A model is being tried: wait for the result.")
        async with self._trying:
            self._check_free()
            await self._put_to_work(Choice())

    async def _try(self, choice: Choice, seconds: float, server: LocalServer | None = None) -> Proof:
        if self._trying.locked():
            raise RequestRefused("A model is being tried: wait for the result.")
        async with self._trying:
            self._check_free()
            environment = self.baseline.environment(choice)
            proof = await prove(choice.values, environment, seconds, server.url if server else "")
            if proof.failed:
                log.warning("model_not_chosen", model=choice.model, cause=proof.failed)
                raise RequestRefused(_sentence(proof, choice, seconds))
            if server is not None:
                if short := short_of_context(server.kind, proof.context):
                    raise RequestRefused(short)
                choice = Choice({**choice.values, **values_for(proof.context)})
            await self._put_to_work(choice)
        return proof

    async def _put_to_work(self, choice: Choice) -> None:
        before = self.choice
        try:
            await self._switch(choice)
        except OneValetError as error:
            await self._switch(before)
            raise RequestRefused(f"The assistant does not start with that model: {error}") from error
        keep_choice(self.assistant.wanted.settings.onevalet_home, choice)
        log.info("model_chosen", model=choice.model or "demo")

    async def _switch(self, choice: Choice) -> None:
        settings = self.baseline.with_choice(self.assistant.wanted.settings, choice)
        set_up_logs(settings.onevalet_log, settings.secrets())  # redacts the new key from its first use
        await self.assistant.renew(settings, lambda: self.baseline.export(choice))
        self.choice = choice
        self.told(settings)

    def _check_free(self) -> None:
        if self.fixed:
            raise RequestRefused(FIXED)


def preset_of(key: str) -> Preset:
    """Return a preset that wants a key. Raises `RequestRefused`."""
    found = next((preset for preset in PRESETS if preset.key == key and preset.has_key), None)
    if found is None:
        raise RequestRefused("There is no such provider: choose one of those offered.")
    return found


def _sentence(proof: Proof, choice: Choice, seconds: float) -> str:
    wording = _WRONG.get(proof.failed)
    if wording is None:
        return proof.detail or f"{choice.where} gave an answer that cannot be used."
    return wording.format(where=choice.where, model=choice.name, seconds=seconds)
