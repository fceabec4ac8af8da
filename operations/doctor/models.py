"""The check that the model answers, within bounded time."""

import asyncio

from core.errors import (
    ConfigError,
    ModelAuthError,
    ModelError,
    ModelOutOfQuota,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    OneValetError,
)
from core.llm.types import ChatMessage, ModelRequest, Role
from core.messaging.channels import Check
from onevalet.settings import Settings
from onevalet.wiring.models import build_client, check_models
from onevalet.wiring.workbench import has_workbench
from providers.models.litellm_client import LiteLLMClient

MODEL_SECONDS = 20.0
"""Time limit of the model's answer of a single word."""
_QUESTION = "Answer with the one word: ready"


async def check_model(settings: Settings, seconds: float = MODEL_SECONDS) -> list[Check]:
    """Ask the model and the embedding models once; without a model, ask none."""
    model = settings.onevalet_model
    if not model:
        here = "the demo model" if has_workbench() else "none"
        return [Check("model", has_workbench(), here, "set ONEVALET_MODEL and its key; `worker` needs one")]
    client = build_client(settings)
    try:
        # In sequence, by the same client: closing it closes all connections of litellm.
        answers = await _ask(settings, client, seconds)
        return [answers, *[await _embed_once(model, client, seconds) for model in settings.embedders.values()]]
    finally:
        await client.close()


async def check_embedding(settings: Settings, model: str, seconds: float = MODEL_SECONDS) -> list[Check]:
    """Embed a word with a model."""
    client = build_client(settings)
    try:
        await client.warm_up()  # loading does not count as the provider's time
        return [await _embed_once(model, client, seconds)]
    finally:
        await client.close()


async def ask_once(settings: Settings, client: LiteLLMClient, seconds: float) -> None:
    """Ask the model for a single word. Raises `ModelError`, and `ConfigError` for a model of no known provider."""
    request = ModelRequest((ChatMessage(Role.USER, _QUESTION),), timeout=seconds, max_output_tokens=1024)
    await client.warm_up()
    check_models(settings, client)
    try:
        async with asyncio.timeout(seconds):
            await client.answer(request)
    except TimeoutError as error:
        raise ModelTimeout("The model gave no answer in time.") from error


async def _ask(settings: Settings, client: LiteLLMClient, seconds: float) -> Check:
    model = settings.onevalet_model
    try:
        await ask_once(settings, client, seconds)
    except (ModelError, ConfigError) as error:
        return _failed(model, error, seconds)
    return Check("model", True, f"{model} answers")


async def _embed_once(model: str, client: LiteLLMClient, seconds: float) -> Check:
    try:
        if not client.has_provider(model):
            raise ConfigError(f"litellm knows no provider of {model}; name one, such as openai/{model}")
        async with asyncio.timeout(seconds):
            embedded = await client.embed(model, ["ready"])
    except TimeoutError:
        return _failed(model, ModelTimeout(""), seconds, "embedding")
    except (ModelError, ConfigError) as error:
        return _failed(model, error, seconds, "embedding")
    return Check("embedding", True, f"{model} answers, with {len(embedded.vectors[0]):,} dimensions")


def _failed(model: str, error: OneValetError, seconds: float, name: str = "model") -> Check:
    match error:
        case ConfigError():
            what, fix = "cannot be asked", str(error)
        case ModelOutOfQuota():
            what, fix = "its account is used up", "top up the account at the provider, or give another key"
        case ModelAuthError():
            key = "ONEVALET_MODEL_KEYS or the provider's own variable, such as OPENAI_API_KEY"
            what, fix = (
                "the provider refuses the key, or this key may not use it",
                f"correct {key}, or the model's name",
            )
        case ModelTimeout():
            what = f"no answer within {seconds:g} s"
            fix = "see whether the provider, or the address in its variable such as OPENAI_API_BASE, can be reached"
        case ModelRateLimited():
            what, fix = "the provider limits us now", "wait and try again, or give another key"
        case ModelRejected():
            kind = {"model": "chat"}.get(name, name)
            what, fix = "the provider refuses a plain question", f"see whether this is a model for {kind}"
        case _:
            what, fix = "does not answer", "see whether the provider is away, or its address wrong (OPENAI_API_BASE)"
    return Check.failed(name, error, f"{model}: {what}", fix)
