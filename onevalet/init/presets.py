"""The models that `init` offers by name, in groups. Names and key pages are the providers' own."""

from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    """Kinds of model providers, in the order in which they are offered."""

    PROVIDER = "At a provider, with a key of yours"
    BROKER = "At a broker of many providers, with one key"
    CLOUD = "In your own cloud"
    HERE = "On a machine of yours"
    NONE = "Not yet"


@dataclass(frozen=True, slots=True)
class Asked:
    """A setting besides model and key that a preset needs."""

    name: str
    question: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset for a model. `model` is litellm's name of a suggestion; empty if only the server knows its models."""

    key: str
    title: str
    group: Group
    model: str = ""
    key_page: str = ""
    asks: tuple[Asked, ...] = ()
    has_key: bool = True
    key_looks: str = ""
    """Format of its keys, as a regular expression that Python and browsers read alike; empty for any format."""


PRESETS = (
    Preset(
        "openai",
        "OpenAI",
        Group.PROVIDER,
        "openai/gpt-5-mini",
        "https://platform.openai.com/api-keys",
        key_looks="^sk-(?!ant-|or-|[0-9a-f]{32}$)",
    ),
    Preset(
        "anthropic",
        "Anthropic",
        Group.PROVIDER,
        "anthropic/claude-sonnet-4-5",
        "https://console.anthropic.com/settings/keys",
        key_looks="^sk-ant-",
    ),
    Preset(
        "gemini",
        "Google Gemini",
        Group.PROVIDER,
        "gemini/gemini-2.5-flash",
        "https://aistudio.google.com/apikey",
        key_looks="^(AIza|AQ\\.)",
    ),
    Preset(
        "mistral",
        "Mistral",
        Group.PROVIDER,
        "mistral/mistral-medium-latest",
        "https://console.mistral.ai/api-keys",
        key_looks="^[0-9A-Za-z]{32}$",
    ),
    Preset(
        "groq",
        "Groq",
        Group.PROVIDER,
        "groq/openai/gpt-oss-120b",
        "https://console.groq.com/keys",
        key_looks="^gsk_",
    ),
    Preset(
        "deepseek",
        "DeepSeek",
        Group.PROVIDER,
        "deepseek/deepseek-chat",
        "https://platform.deepseek.com/api_keys",
        key_looks="^sk-[0-9a-f]{32}$",
    ),
    Preset(
        "openrouter",
        "OpenRouter",
        Group.BROKER,
        "openrouter/openai/gpt-5-mini",
        "https://openrouter.ai/settings/keys",
        key_looks="^sk-or-",
    ),
    Preset(
        "azure",
        "Azure OpenAI: a deployment of yours",
        Group.CLOUD,
        key_page="https://portal.azure.com: your resource, Keys and Endpoint",
        asks=(
            Asked("AZURE_API_BASE", "Endpoint (such as https://yours.openai.azure.com)"),
            Asked("AZURE_API_VERSION", "Version of the API", "2024-10-21"),
        ),
    ),
    Preset(
        "server",
        "Another server with OpenAI's API, by its address",
        Group.HERE,
        asks=(Asked("OPENAI_API_BASE", "Its address (such as http://192.168.1.20:8000/v1)"),),
    ),
    Preset("demo", "The demo model: a few phrases, for `bin/dev` only", Group.NONE, has_key=False),
)
"""All but the servers that are found by looking."""

NAMES = (
    "ONEVALET_MODEL",
    "ONEVALET_MODEL_KEYS",
    "OPENAI_API_BASE",
    "AZURE_API_BASE",
    "AZURE_API_VERSION",
    "ONEVALET_LOOP_CONTEXT_TOKEN_LIMIT",
    "ONEVALET_MEMORY",
)
"""All settings of any choice; the next choice empties those that it does not set itself."""
