"""The sound of a text: a call to a speech model of litellm's names."""

import asyncio
from typing import Any

from core.errors import ModelRateLimited, ModelUnavailable
from core.files.kinds import FileKind, kind_of
from providers.models import litellm_library, litellm_path
from providers.models.call_meter import CallMeter, Operation
from providers.models.guarded_openai import guarded_client
from providers.models.litellm_hearing import hearing
from providers.models.provider_errors import whole_within
from providers.models.silent_speech import recorded

SILENT = "demo/voice"
"""The voice of `dev` without a model: its recordings have no sound."""

PATIENCE = 30.0
"""The time limit of a call, in seconds, beyond the length of its speech."""
MAX_ANSWER = 4 * 1024 * 1024
"""Bytes of a recording as unpacked: minutes of any format that is asked for."""
A_SECOND = 14
"""Characters that are said in a second."""
_MOST_PATIENCE = 120.0


def load() -> None:
    """Load litellm, all that its own calls need: seconds of CPU the first time."""
    litellm_library.load_calls()


class Speaker:
    """Reach a speech model.

    `voice`: one of the model's; `key`: empty for that of the provider's own variable. `patience`: seconds beyond the
    text's own; `pause`: seconds before a second try.
    """

    def __init__(self, model: str, voice: str, key: str = "", patience: float = PATIENCE, pause: float = 1.0) -> None:
        self._model = model
        self._voice = voice
        self._key = key
        self._patience = patience
        self._pause = pause
        self._client: Any = None

    def cost(self, characters: int, seconds: float) -> float | None:
        """Return the price of a text, or of its recording, in dollars by litellm's map; None if it has none."""
        known = litellm_library.known(self._model)
        prices = [
            price * amount
            for name, amount in (("input_cost_per_character", characters), ("output_cost_per_second", seconds))
            if isinstance(price := known.get(name), int | float)
        ]
        return sum(prices) if prices else None

    async def speak(self, text: str, sound: str) -> bytes:
        """Return a recording. `sound`: the requested format, in OpenAI's words, such as `opus` in an Ogg container.

        Raises a `core.errors.ModelError`; a failure that may pass is tried once more.
        """
        litellm = await litellm_path.loaded()
        if self._client is None:  # loading at the first use does not count as the server's time
            with litellm_path.errors_made_ours(litellm, self._model):
                self._client = guarded_client(self._model, self._key, "", MAX_ANSWER)
        async with whole_within(min(self._patience + len(text) / A_SECOND, _MOST_PATIENCE)):
            try:
                return await self._ask(litellm, text, sound)
            except (ModelRateLimited, ModelUnavailable):
                await asyncio.sleep(self._pause)
                return await self._ask(litellm, text, sound)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, litellm: Any, text: str, sound: str) -> bytes:
        arguments: dict[str, Any] = {
            "model": self._model,
            "input": text,
            "voice": self._voice,
            "response_format": sound,
            "timeout": _MOST_PATIENCE,  # `whole_within` keeps the time
            "max_retries": 0,
        }
        if self._client is not None:
            arguments["client"] = self._client
        if self._key:
            arguments["api_key"] = self._key
        with (
            CallMeter(self._model, operation=Operation.SPEECH),
            litellm_path.errors_made_ours(litellm, self._model),
            hearing(MAX_ANSWER),
        ):
            body = (await litellm.aspeech(**arguments)).content
        if kind_of(body) is not FileKind.AUDIO:
            raise ModelUnavailable(f"{self._model}: no recording")
        return bytes(body)


class SilentSpeaker:
    """Speak as `SILENT`, without a server: the way of a spoken answer is there to be seen, and costs nothing."""

    def cost(self, characters: int, seconds: float) -> float | None:
        return 0.0

    async def speak(self, text: str, sound: str) -> bytes:
        return recorded(text, sound)

    async def close(self) -> None: ...
