"""Each preset of a model, played through in a terminal against its provider's format, with a wrong answer before."""

import asyncio
import stat
from pathlib import Path

import pytest

from core.json_types import JsonObject
from onevalet.init.local_servers import PLACES
from onevalet.init.presets import PRESETS
from tests.onevalet.init.providers_of_models import KEY, WRONG_KEY, ModelProviders, model_providers
from tests.onevalet.init.terminal import Terminal, opened, saved

BASES = {
    "openai": ("OPENAI_API_BASE", "/v1"),
    "anthropic": ("ANTHROPIC_API_BASE", ""),
    "gemini": ("GEMINI_API_BASE", ""),
    "mistral": ("MISTRAL_AZURE_API_BASE", "/v1"),
    "groq": ("GROQ_API_BASE", "/v1"),
    "deepseek": ("DEEPSEEK_API_BASE", ""),
    "openrouter": ("OPENROUTER_API_BASE", "/api/v1"),
}
LOCAL: dict[str, tuple[str, dict[str, JsonObject], str]] = {
    "Ollama": ("library", {"/api/version": {"version": "0.9"}}, "/api/ps"),
    "llama.cpp": ("llamacpp", {}, "/props"),
    "vLLM": ("vllm", {}, ""),
    "LM Studio": ("organization_owner", {}, "/api/v0/models"),
}
CONTEXT = 40_960


def test_every_preset_is_played_here() -> None:
    assert {preset.key for preset in PRESETS} == {*BASES, "azure", "server", "demo"}
    assert len(PLACES) == len(LOCAL)


@pytest.mark.whole("it starts `init`")
@pytest.mark.parametrize(
    "preset", ["openai", *(pytest.param(key, marks=pytest.mark.slow) for key in BASES if key != "openai")]
)
async def test_a_provider_is_chosen_and_a_wrong_key_asked_again(preset: str, tmp_path: Path) -> None:
    name, path = BASES[preset]
    suggested = next(found.model for found in PRESETS if found.key == preset)

    def play(terminal: Terminal) -> None:
        reach_the_models(terminal)
        terminal.reply("Number", preset)
        terminal.see("Keys: https://")
        terminal.reply("Model", "")
        terminal.see("Key: ")
        terminal.type(WRONG_KEY)
        terminal.see(f"Asking {suggested} for one word", "the provider refuses the key", "correct ONEVALET_MODEL_KEYS")
        terminal.reply(f"Model [{suggested}]", "")
        terminal.reply("Key (Enter keeps the present one): ", KEY)
        terminal.see("It answered in")
        leave_the_channels(terminal)
        assert KEY not in terminal.shown
        assert WRONG_KEY not in terminal.shown

    async with model_providers() as providers:
        with opened(tmp_path, settings={name: providers.url + path}) as terminal:
            await asyncio.to_thread(play, terminal)
    assert saved(tmp_path) == {"ONEVALET_MODEL": suggested, "ONEVALET_MODEL_KEYS": KEY}
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert len(providers.asked) == 2


@pytest.mark.slow
async def test_a_deployment_at_azure_is_asked_for_by_its_name(tmp_path: Path) -> None:
    def play(terminal: Terminal, url: str) -> None:
        reach_the_models(terminal)
        terminal.reply("Number", "azure")
        terminal.reply("Endpoint", url)
        terminal.reply("Version of the API [2024-10-21]", "")
        terminal.reply("Name of the deployment", "valet")
        terminal.reply("Key: ", KEY)
        terminal.see("Asking azure/valet", "It answered in")
        leave_the_channels(terminal)

    async with model_providers() as providers:
        with opened(tmp_path) as terminal:
            await asyncio.to_thread(play, terminal, providers.url)
    assert saved(tmp_path) == {
        "ONEVALET_MODEL": "azure/valet",
        "ONEVALET_MODEL_KEYS": KEY,
        "AZURE_API_BASE": providers.url,
        "AZURE_API_VERSION": "2024-10-21",
    }
    assert "/openai/deployments/valet/chat/completions" in providers.asked


@pytest.mark.slow
async def test_any_server_is_named_by_its_address_and_a_wrong_one_asked_again(tmp_path: Path) -> None:
    def play(terminal: Terminal, url: str) -> None:
        reach_the_models(terminal)
        terminal.reply("Number", "server")
        terminal.reply("Its address", "http://127.0.0.1:9/v1")
        terminal.reply("The server's name of the model", "qwen/qwen3")
        terminal.reply("Key (Enter if it wants none): ", "")
        terminal.see("does not answer", "OPENAI_API_BASE")
        terminal.reply("Its address", f"{url}/v1")
        terminal.reply("model [qwen/qwen3]", "")
        terminal.reply("Key (Enter if it wants none): ", KEY)
        terminal.see("Asking openai/qwen/qwen3", "It answered in")
        leave_the_channels(terminal)

    async with model_providers() as providers:
        with opened(tmp_path) as terminal:
            await asyncio.to_thread(play, terminal, providers.url)
    assert saved(tmp_path)["ONEVALET_MODEL"] == "openai/qwen/qwen3"
    assert saved(tmp_path)["OPENAI_API_BASE"] == f"{providers.url}/v1"


@pytest.mark.slow
@pytest.mark.parametrize("kind", LOCAL)
async def test_a_server_on_this_machine_is_found_and_its_context_kept_to(kind: str, tmp_path: Path) -> None:
    def play(terminal: Terminal, providers: ModelProviders) -> None:
        reach_the_models(terminal)
        terminal.reply(f"{kind} at {providers.url}: 2 models", "local")
        terminal.reply("Which of its models?", "big:latest")
        if kind != "vLLM":
            terminal.see("holds 4,096 tokens", "start it again with")
            serve(providers, kind, CONTEXT)
            terminal.reply("Number", "local")
            terminal.reply("Which of its models?", "2")
        terminal.see("Asking openai/big:latest", "It answered in")
        leave_the_channels(terminal)

    async with model_providers() as providers:
        providers.any_key = True
        serve(providers, kind, 4_096 if kind != "vLLM" else CONTEXT)
        with opened(tmp_path, "--look-at", providers.url) as terminal:
            await asyncio.to_thread(play, terminal, providers)
    assert saved(tmp_path) == {
        "ONEVALET_MODEL": "openai/big:latest",
        "OPENAI_API_BASE": f"{providers.url}/v1",
        "ONEVALET_MODEL_KEYS": "none",
        "ONEVALET_LOOP_CONTEXT_TOKEN_LIMIT": str(CONTEXT),
        "ONEVALET_MEMORY": "rules",
    }


@pytest.mark.whole("it starts `init`")
def test_the_demo_model_empties_what_another_choice_has_set(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# mine\nONEVALET_MODEL=openai/old\nOPENAI_API_BASE=http://old\nONEVALET_NAME=Otto\n"
    )
    with opened(tmp_path) as terminal:
        terminal.reply("Where will OneValet run?", "dev")
        terminal.reply("Model: openai/old is set. Change it? [y/N]", "y")
        terminal.see("Number")
        terminal.type("42")
        terminal.see("There is no '42': answer with a number from 1 to 10")
        terminal.type("demo")
        leave_the_channels(terminal, has_model=False)
    assert (tmp_path / ".env").read_text() == "# mine\nONEVALET_MODEL=\nOPENAI_API_BASE=\nONEVALET_NAME=Otto\n"


def serve(providers: ModelProviders, kind: str, context: int) -> None:
    """Let the server be of a kind, with two models, the second with this context."""
    owner, told, asked = LOCAL[kind]
    names = ["small:latest", "big:latest"]
    providers.models = [{"id": name, "owned_by": owner} for name in names]
    if kind == "vLLM":
        providers.models = [model | {"max_model_len": context} for model in providers.models]
    answers: dict[str, JsonObject] = {
        "/api/ps": {"models": [{"name": name, "context_length": context} for name in names]},
        "/props": {"default_generation_settings": {"n_ctx": context}},
        "/api/v0/models": {"data": [{"id": name, "loaded_context_length": context} for name in names]},
    }
    providers.told = told | ({asked: answers[asked]} if asked else {})


def reach_the_models(terminal: Terminal) -> None:
    """Answer what comes before the model."""
    terminal.reply("Where will OneValet run?", "1")
    terminal.reply("Set up a model? [Y/n]", "")
    terminal.see("Looking for model servers", "Which model shall answer?", "At a provider, with a key of yours:")


def leave_the_channels(terminal: Terminal, *, has_model: bool = True) -> None:
    """Want no other model and no channel, and see the end."""
    for further in ("an embedding model", "a model for voice notes") if has_model else ():
        terminal.reply(f"Set up {further}? [y/N]", "")
    for channel in ("Telegram", "SMS", "Slack", "Email"):
        terminal.reply(f"Set up {channel}?", "n")
    terminal.see("Saved to .env", "Now run", "bin/dev", "pair CODE --role owner")
    assert terminal.end() == 0
