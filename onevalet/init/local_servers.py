"""Model servers on this machine, found at their default addresses and recognized by their answers.

Sources: docs.ollama.com/api, llama.cpp's tools/server/README.md, docs.vllm.ai (OpenAI-compatible server),
lmstudio.ai/docs.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp

from core.json_types import Json, JsonObject, object_of, objects_in, read_json
from onevalet.settings import is_setting

PLACES = ("http://127.0.0.1:11434", "http://127.0.0.1:8080", "http://127.0.0.1:8000", "http://127.0.0.1:1234")
"""Ollama, llama.cpp, vLLM, LM Studio."""
_LOOK = aiohttp.ClientTimeout(total=1.5, connect=0.7)
LOCAL_SECONDS = 120.0
"""A model that runs here may have to be loaded first."""
_LEAST_CONTEXT = 16_384
"""Tokens that hold the prompt with its tools, and a conversation behind it."""
_USUAL_CONTEXT = 131_072
"""Upper limit of the context in use: a longer prompt costs a local model minutes for each answer."""
_CURES = {
    "Ollama": "OLLAMA_CONTEXT_LENGTH=32768",
    "llama.cpp": "--ctx-size 32768",
    "vLLM": "--max-model-len 32768",
}
_OWNERS = {"llamacpp": "llama.cpp", "vllm": "vLLM", "organization_owner": "LM Studio", "library": "Ollama"}
"""The `owned_by` value of each server's models."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server with OpenAI's API. `url` is its origin; `contexts` has the tokens of each model that it tells of."""

    kind: str
    url: str
    models: tuple[str, ...]
    contexts: tuple[tuple[str, int], ...] = ()

    @property
    def base(self) -> str:
        """Return the value for OPENAI_API_BASE."""
        return f"{self.url}/v1"

    def asked_for(self, model: str) -> dict[str, str]:
        """Return the settings that select a model of this server."""
        return {"ONEVALET_MODEL": f"openai/{model}", "OPENAI_API_BASE": self.base, "ONEVALET_MODEL_KEYS": "none"}


def places(further: Sequence[str]) -> list[str]:
    """Return the origins to try: the default addresses, OLLAMA_HOST, and further addresses."""
    told = os.environ.get("OLLAMA_HOST", "").replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    if told and "://" not in told:
        told = f"http://{told if ':' in told else f'{told}:11434'}"
    named = [*further, *([told] if told else []), *PLACES]
    return list(dict.fromkeys(place.rstrip("/").removesuffix("/v1") for place in named))


async def find_servers(origins: Sequence[str]) -> list[LocalServer]:
    """Return the servers that answer at these origins and have a model, in the same order."""
    async with aiohttp.ClientSession(timeout=_LOOK) as session:
        found = await asyncio.gather(*(_look(session, origin) for origin in origins))
    return [server for server in found if server]


async def loaded_context(server: LocalServer, model: str) -> int:
    """Return the context size in tokens of a model that has just answered; 0 if the server does not say."""
    async with aiohttp.ClientSession(timeout=_LOOK) as session:
        match server.kind:
            case "Ollama":
                told = _by_name(await _get(session, f"{server.url}/api/ps"), "models", "name")
                return _number(told.get(model, {}).get("context_length"))
            case "llama.cpp":
                props = await _get(session, f"{server.url}/props")
                defaults = props.get("default_generation_settings")
                return _number(defaults.get("n_ctx")) if isinstance(defaults, dict) else 0
            case "LM Studio":
                told = _by_name(await _get(session, f"{server.url}/api/v0/models"), "data", "id")
                return _number(told.get(model, {}).get("loaded_context_length"))
    return dict(server.contexts).get(model, 0)


def short_of_context(kind: str, context: int) -> str:
    """Return a sentence if a model's context is too small; empty if it is large enough or unknown."""
    if not 0 < context < _LEAST_CONTEXT:
        return ""
    cure = _CURES.get(kind, "a context of 32,768 tokens")
    return (
        f"{kind} holds {context:,} tokens of a conversation there, too few for the tools: start it again with {cure}."
    )


def values_for(context: int) -> dict[str, str]:
    """Return the settings for a model on this machine: its context size, and no calls besides the answer's."""
    values = {
        "ONEVALET_LOOP_CONTEXT_TOKEN_LIMIT": str(min(context or 32_768, _USUAL_CONTEXT)),
        "ONEVALET_MEMORY": "rules",
    }
    return {name: value for name, value in values.items() if is_setting(name)}


async def _look(session: aiohttp.ClientSession, origin: str) -> LocalServer | None:
    listed = _by_name(await _get(session, f"{origin}/v1/models"), "data", "id")
    if not listed:
        return None
    kind = _OWNERS.get(str(next(iter(listed.values())).get("owned_by")), "")
    if not kind or kind == "Ollama":
        told = await _get(session, f"{origin}/api/version")
        kind = "Ollama" if told.get("version") else kind or "A server with OpenAI's API"
    contexts = {name: _number(model.get("max_model_len")) for name, model in listed.items()}
    return LocalServer(kind, origin, tuple(listed), tuple((name, size) for name, size in contexts.items() if size))


async def _get(session: aiohttp.ClientSession, url: str) -> JsonObject:
    try:
        async with session.get(url) as answer:
            told = read_json(await answer.read()) if answer.status == 200 else None
    except (aiohttp.ClientError, TimeoutError, ValueError, OSError):
        return {}  # no server, or another program
    return object_of(told)


def _by_name(answer: JsonObject, listing: str, name: str) -> dict[str, JsonObject]:
    return {str(entry[name]): entry for entry in objects_in(answer.get(listing)) if entry.get(name)}


def _number(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
