"""The parts of litellm that its documentation does not promise, as they are used by name and by argument."""

import importlib
import inspect
from typing import Any

import pytest

from providers.models import litellm_library

pytestmark = pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough

PARTS = {
    "litellm.utils:ProviderConfigManager.get_provider_chat_config": ("model", "provider"),
    "litellm.utils:get_optional_params": ("model", "custom_llm_provider", "stream", "stream_options", "tools"),
    "litellm.main:responses_api_bridge_check": (
        "model",
        "custom_llm_provider",
        "tools",
        "reasoning_effort",
        "api_base",
    ),
    "litellm.llms.vertex_ai.gemini.transformation:transform_request_body": (
        "messages",
        "model",
        "optional_params",
        "custom_llm_provider",
        "litellm_params",
        "cached_content",
    ),
    "litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini:VertexLLM.get_token_and_url": (
        "model",
        "auth_header",
        "gemini_api_key",
        "vertex_project",
        "vertex_location",
        "vertex_credentials",
        "stream",
        "custom_llm_provider",
        "api_base",
    ),
    "litellm.anthropic_beta_headers_manager:update_request_with_filtered_beta": ("headers", "request_data", "provider"),
    "litellm.litellm_core_utils.exception_mapping_utils:exception_type": (
        "model",
        "original_exception",
        "custom_llm_provider",
    ),
    "litellm.litellm_core_utils.core_helpers:map_finish_reason": ("finish_reason",),
    "litellm.llms.custom_httpx.http_handler:get_ssl_configuration": (),
    "litellm.llms.custom_httpx.aiohttp_transport:LiteLLMAiohttpTransport.handle_async_request": ("request",),
    "litellm.llms.custom_httpx.http_handler:AsyncHTTPHandler.should_use_aiohttp_transport": (),
    "litellm.llms.custom_httpx.async_client_cleanup:close_litellm_async_clients": (),
    "litellm.caching.llm_caching_handler:LLMClientCache.flush_cache": (),
    "litellm.cost_calculator:completion_cost": ("completion_response", "model", "custom_llm_provider"),
}
METHODS = {
    "validate_environment": (
        "headers",
        "model",
        "messages",
        "optional_params",
        "litellm_params",
        "api_key",
        "api_base",
    ),
    "get_complete_url": ("api_base", "api_key", "model", "optional_params", "litellm_params", "stream"),
    "transform_request": ("model", "messages", "optional_params", "litellm_params", "headers"),
    "transform_response": ("model", "raw_response", "model_response", "logging_obj", "request_data", "encoding"),
    "get_error_class": ("error_message", "status_code", "headers"),
    "should_fake_stream": ("model", "stream", "custom_llm_provider"),
}


def _find(path: str) -> Any:
    module, _, names = path.partition(":")
    found = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    """Load litellm as we do: loaded otherwise, it fetches a list of prices from the Internet."""
    litellm_library.load_calls()


@pytest.mark.parametrize(("path", "arguments"), PARTS.items())
def test_a_part_is_there_with_its_arguments(path: str, arguments: tuple[str, ...]) -> None:
    assert set(arguments) <= set(inspect.signature(_find(path)).parameters)


@pytest.mark.parametrize(
    "path",
    [
        "litellm.llms.openai.chat.gpt_transformation:OpenAIGPTConfig",
        "litellm.llms.openrouter.chat.transformation:OpenrouterConfig",
        "litellm.llms.groq.chat.transformation:GroqChatConfig",
        "litellm.llms.mistral.chat.transformation:MistralConfig",
        "litellm.llms.deepseek.chat.transformation:DeepSeekChatConfig",
        "litellm.llms.hosted_vllm.chat.transformation:HostedVLLMChatConfig",
        "litellm.llms.anthropic.chat.transformation:AnthropicConfig",
        "litellm.llms.gemini.chat.transformation:GoogleAIStudioGeminiConfig",
    ],
)
def test_a_transformation_has_the_methods_that_are_used(path: str) -> None:
    config = _find(path)
    for name, arguments in METHODS.items():
        assert set(arguments) <= set(inspect.signature(getattr(config, name)).parameters), name


def test_gemini_says_which_endings_are_filtered() -> None:
    config = _find("litellm.llms.gemini.chat.transformation:GoogleAIStudioGeminiConfig")()
    assert "SAFETY" in config.get_flagged_finish_reasons()
