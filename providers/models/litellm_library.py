"""The only module that uses litellm: loading it, and the parts of it that are used apart from a call.

Importing litellm takes seconds, so it happens at the first call or in `warm_up`, in a thread, and only as far as direct
calls need it (`lean_litellm`). The parts here that litellm's documentation does not promise are pinned by
`tests/providers/models/test_litellm_parts.py`.
"""

import importlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.errors import ConfigError
from core.json_types import JsonObject
from providers.models import cloud_tokens, lean_litellm, litellm_hearing, no_mcp

if TYPE_CHECKING:
    import ssl
    from types import ModuleType

_loaded: "ModuleType | None" = None
_calls_loaded = False
_LOADING = threading.RLock()
_NEEDED = (
    "litellm.cost_calculator",
    "litellm.exceptions",
    "litellm.litellm_core_utils.exception_mapping_utils",
    "litellm.litellm_core_utils.get_llm_provider_logic",
    "litellm.litellm_core_utils.get_supported_openai_params",
    "litellm.utils",
)
"""The modules that every direct call needs."""
_CALLS_NEED = (
    "litellm.litellm_core_utils.prompt_templates.common_utils",
    "litellm.proxy.openai_files_endpoints.common_utils",
    "openai.resources.audio",
    "openai.resources.chat",
    "openai.resources.embeddings",
)
"""Modules that its own calls load at the first of them, on the event loop, which would stand still for a second."""
_AT_A_TERMINAL = frozenset({"chatgpt", "github_copilot"})
_SETTINGS = {
    "telemetry": False,
    "suppress_debug_info": True,
    "drop_params": True,
    "_async_client_cleanup_registered": True,  # its clients are closed with ours, not at the exit
}


def check_name(model: str) -> None:
    """Raise `ConfigError` for a model that litellm signs in for at a terminal: it waits for that on the event loop."""
    if model.partition("/")[0] in _AT_A_TERMINAL:
        raise ConfigError(f"{model} cannot be used: litellm signs in for it at a terminal; name a model with a key.")


def has_provider(model: str) -> bool:
    """Return whether litellm can tell whom to ask for a model."""
    litellm = load()
    try:
        return bool(litellm.get_llm_provider(model))
    except litellm.exceptions.BadRequestError:
        return False


def load() -> "ModuleType":
    """Import litellm's parts for direct calls, with its own price map, without telemetry and terminal output."""
    if _loaded is not None:
        return _loaded
    with _LOADING:  # a second thread would find its modules half imported
        return _loaded or _load()


def _load() -> "ModuleType":
    global _loaded
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    # It searches the text of each failure for keys, half a second of the event loop if a server answers with garbage,
    # for a log that is off.
    os.environ["LITELLM_DISABLE_REDACT_SECRETS"] = "true"
    no_mcp.replace_gateway()
    litellm = lean_litellm.import_lean()
    if _loaded is None:
        vars(litellm).update(_SETTINGS)
        # Its own log repeats requests and providers' words; ours tells errors without them (promise 14).
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
        # pydantic builds these when they are first used, and warns of litellm's annotations.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            litellm.ModelResponse()
            litellm.ModelResponseStream()
            for name in _NEEDED:
                importlib.import_module(name)
        # A tokenizer of 20 MB, which it keeps as text as well.
        sys.modules["litellm.utils"].__dict__.pop("json_data", None)
        _loaded = litellm
    return litellm


def load_calls() -> "ModuleType":
    """Load the other parts for litellm's own calls: all of it, which otherwise blocks the first call for seconds."""
    global _calls_loaded
    with _LOADING:
        litellm = load()
        lean_litellm.complete()
        from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport
        from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

        for name in _CALLS_NEED:
            importlib.import_module(name)
        litellm_hearing.attend(LiteLLMAiohttpTransport)
        # Regardless of DISABLE_AIOHTTP_TRANSPORT and LITELLM_HTTP2: answers over another transport are not counted.
        AsyncHTTPHandler.should_use_aiohttp_transport = staticmethod(lambda: True)  # type: ignore[method-assign]
        cloud_tokens.bound_tokens()
        _calls_loaded = True
    return litellm


def calls_loaded() -> bool:
    """Return whether `load_calls` has nothing left to do."""
    return _calls_loaded


async def close_clients() -> None:
    """Close the connections of litellm's own calls, and forget them: it would reuse closed clients."""
    if _calls_loaded:
        litellm = load()
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()
        # It closes those of its cache only. This client, which several providers share, opens its connections again.
        if (shared := vars(litellm).get("module_level_aclient")) is not None:
            await shared.client.aclose()


def known(model: str) -> dict[str, Any]:
    """Return litellm's entry of a model; empty if it has none."""
    costs = load().model_cost
    return costs.get(model) or costs.get(model.split("/", 1)[-1]) or {}


def chat_config(model: str, provider: str) -> Any:
    """Return litellm's transformation between OpenAI's chat format and a provider's; None if it has none."""
    from litellm.types.utils import LlmProviders
    from litellm.utils import ProviderConfigManager

    return ProviderConfigManager.get_provider_chat_config(model=model, provider=LlmProviders(provider))


def provider_options(model: str, provider: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call as the provider names them, without those that it does not know."""
    from litellm.utils import get_optional_params

    made: dict[str, Any] = get_optional_params(model=model, custom_llm_provider=provider, **options)
    return made


def speaks_responses(model: str, provider: str, options: Mapping[str, Any], base: str | None) -> bool:
    """Return whether litellm would reach a model through OpenAI's Responses API instead of chat completions."""
    if not may_speak_responses(model, provider):
        return False
    from litellm.main import responses_api_bridge_check

    effort = options.get("reasoning_effort")
    told, _ = responses_api_bridge_check(
        model=model,
        custom_llm_provider=provider,
        tools=options.get("tools"),
        reasoning_effort=effort,
        api_base=base,
    )
    return bool(told.get("mode") == "responses")


def may_speak_responses(model: str, provider: str) -> bool:
    """Return whether litellm must be asked how it would reach a model, which takes all that its own calls need."""
    litellm = load()
    if litellm.route_all_chat_openai_to_responses or model.startswith("responses/"):
        return True
    if provider == "openai" and litellm.OpenAIGPT5Config.is_model_gpt_5_model(model):
        return True
    return any(known(name).get("mode") == "responses" for name in (model, f"{provider}/{model}"))


def gemini_body(model: str, messages: list[Any], options: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request to Gemini, whose transformation is no method of its configuration."""
    from litellm.llms.vertex_ai.gemini.transformation import transform_request_body

    body: dict[str, Any] = transform_request_body(  # type: ignore[assignment]
        messages=messages,
        model=model,
        optional_params=options,
        custom_llm_provider="gemini",
        litellm_params=parameters,
        cached_content=None,
    )
    return body


def anthropic_request(headers: dict[str, Any], body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the headers and body of a request to Anthropic, without the beta features that it does not know."""
    from litellm.anthropic_beta_headers_manager import update_request_with_filtered_beta

    told: tuple[dict[str, Any], dict[str, Any]] = update_request_with_filtered_beta(
        headers=headers, request_data=body, provider="anthropic"
    )
    return told


def typed_error(error: Exception, model: str, provider: str) -> Exception:
    """Return litellm's exception for a provider's answer."""
    from litellm.litellm_core_utils.exception_mapping_utils import exception_type

    try:
        made: Exception = exception_type(model, error, provider)  # type: ignore[no-untyped-call]
    except Exception as raised:  # it raises most of the exceptions that it makes
        return raised
    return made


def openai_server(model: str, key: str, url: str) -> tuple[str, str | None] | None:
    """Return the address of a model with OpenAI's API, and its key; None for another provider."""
    from litellm.constants import OPENAI_AUDIO_TRANSCRIPTION_PROVIDERS
    from litellm.secret_managers.main import get_secret_str

    _, provider, told_key, base = load().get_llm_provider(model=model, api_base=url or None, api_key=key or None)
    if provider not in OPENAI_AUDIO_TRANSCRIPTION_PROVIDERS:
        return None
    server = url or base or get_secret_str("OPENAI_BASE_URL") or get_secret_str("OPENAI_API_BASE")
    return server or "https://api.openai.com/v1", key or told_key or get_secret_str("OPENAI_API_KEY")


def tls_context() -> "ssl.SSLContext | bool":
    """Return the TLS context for servers, or True, by litellm's own variables (`SSL_VERIFY`, `SSL_CERT_FILE`)."""
    from litellm.llms.custom_httpx.http_handler import get_ssl_configuration

    made: ssl.SSLContext | bool | str = get_ssl_configuration()
    return made if not isinstance(made, str) else True


def gemini_endpoint(model: str, key: str, base: str | None, *, stream: bool) -> tuple[dict[str, str], str]:
    """Return the headers with the key, and the address, of a call to Gemini."""
    from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import VertexLLM

    headers, url = VertexLLM().get_token_and_url(
        model=model,
        auth_header=None,
        gemini_api_key=key,
        vertex_project=None,
        vertex_location=None,
        vertex_credentials=None,
        stream=stream,
        custom_llm_provider="gemini",
        api_base=base,
    )
    return headers if isinstance(headers, dict) else {}, str(url)


def finish_reason(told: str) -> str:
    """Return a provider's reason for ending an answer in OpenAI's words."""
    from litellm.litellm_core_utils.core_helpers import map_finish_reason

    return str(map_finish_reason(told))


_COUNTED_AS = "gpt-4o"
"""Whose tokens are counted: for models of some names litellm would fetch a tokenizer from the internet."""


def counted_usage(sent: Sequence[JsonObject], text: str) -> JsonObject:
    """Return the usage of a stream that reported none, as litellm counts it."""
    litellm = load()
    prompt = litellm.token_counter(model=_COUNTED_AS, messages=sent)
    answer = litellm.token_counter(model=_COUNTED_AS, text=text, count_response_tokens=True)
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
