"""The text of a recording: a call to a transcription model of litellm's names, or to a server with OpenAI's API."""

import asyncio
from typing import Any

from core.errors import ModelRateLimited, ModelUnavailable
from core.json_types import storable
from core.llm.types import Recording, Transcript
from providers.models import litellm_library, litellm_path
from providers.models.call_meter import CallMeter, Operation
from providers.models.guarded_openai import guarded_client
from providers.models.provider_errors import whole_within

PATIENCE = 30.0
"""Seconds that a call may take beyond those of its recording."""
MOST_PATIENCE = 300.0
MAX_ANSWER = 4 * 1024 * 1024
"""Bytes of an answer as unpacked, with a time for each word."""
_MOST_SECONDS = 24 * 3600.0
"""Seconds of a recording that are believed: its price is counted by them."""
_NO_KEY = "none"
"""The key for an operator's own server if none is set: never the key of another provider."""


class Transcriber:
    """Reach a transcription model.

    `url`: the address of an operator's own server, up to `/v1`; `key`: for the model, or for that server.
    `patience`: seconds beyond the recording's own; `pause`: seconds before a second try.
    """

    def __init__(
        self, model: str, *, url: str = "", key: str = "", patience: float = PATIENCE, pause: float = 1.0
    ) -> None:
        self._model = model
        self._url = url
        self._key = key or (_NO_KEY if url else "")
        self._patience = patience
        self._pause = pause
        self._client: Any = None

    async def warm_up(self) -> None:
        """Load litellm, all that its own calls need, without blocking the event loop: seconds of CPU the first time."""
        await litellm_path.loaded()

    def cost(self, seconds: float) -> float | None:
        """Return the price of a recording in dollars by litellm's map; None if it has none. Loads litellm."""
        known = litellm_library.known(self._model)
        prices = [known.get(name) for name in ("input_cost_per_second", "output_cost_per_second")]
        # If it names both, they are the same price.
        price = max((price for price in prices if isinstance(price, int | float)), default=None)
        return None if price is None else price * seconds

    async def transcribe(self, recording: Recording) -> Transcript:
        """Return the transcript. Raises a `core.errors.ModelError`; a failure that may pass is tried once more."""
        litellm = await litellm_path.loaded()
        if self._client is None:  # loading at the first use does not count as the server's time
            with litellm_path.errors_made_ours(litellm, self._model):
                self._client = guarded_client(self._model, self._key, self._url, MAX_ANSWER)
        async with whole_within(min(self._patience + recording.seconds, MOST_PATIENCE)):
            try:
                return await self._ask(litellm, recording)
            except (ModelRateLimited, ModelUnavailable):
                await asyncio.sleep(self._pause)
                return await self._ask(litellm, recording)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, litellm: Any, recording: Recording) -> Transcript:
        arguments: dict[str, Any] = {
            "model": self._model,
            "file": (recording.name, recording.body),
            "timeout": MOST_PATIENCE,  # `whole_within` keeps the time
            "max_retries": 0,
        }
        if self._client is not None:
            arguments["client"] = self._client
        if self._key:
            arguments["api_key"] = self._key
        if self._url:
            arguments["api_base"] = self._url
        if language := _language(recording.language):
            arguments["language"] = language
        with (
            CallMeter(self._model, operation=Operation.TRANSCRIPTION),
            litellm_path.errors_made_ours(litellm, self._model),
        ):
            response = await litellm.atranscription(**arguments)
            text, seconds = response.text, getattr(response, "duration", None)
        if not isinstance(text, str):
            raise ModelUnavailable(f"{self._model}: no transcript")
        return Transcript(storable(text), _told_seconds(seconds))


def _told_seconds(told: object) -> float:
    """Return the seconds that a server reports; 0 if no recording can have this length."""
    is_time = isinstance(told, int | float) and not isinstance(told, bool) and 0 < told <= _MOST_SECONDS
    return float(told) if is_time else 0.0  # type: ignore[arg-type]


def _language(tag: str | None) -> str:
    """Return a tag's language of two letters, which is all that these servers know."""
    code = (tag or "").replace("_", "-").partition("-")[0].lower()
    return code if len(code) == 2 and code.isalpha() else ""
