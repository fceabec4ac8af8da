"""The choice of the model: it is asked for a single word, and saved if it answers."""

import asyncio
import time
from collections.abc import Mapping, Sequence

from core.errors import ConfigError
from onevalet.environment import exported
from onevalet.init.dialogue import KEEPS, Dialogue, Option, Wrong
from onevalet.init.draft import Draft
from onevalet.init.local_servers import (
    LOCAL_SECONDS,
    LocalServer,
    find_servers,
    loaded_context,
    places,
    short_of_context,
    values_for,
)
from onevalet.init.presets import NAMES, PRESETS, Group, Preset
from onevalet.settings import Settings
from operations.doctor.models import MODEL_SECONDS, check_model

PRESET = "preset"
"""The name of the question about the preset."""


def set_up_model(talk: Dialogue, draft: Draft, further: Sequence[str]) -> None:
    """Ask until a model has answered, then save it. `further`: more addresses at which to look for servers."""
    talk.say("The model. Looking for model servers on this machine …")
    servers = asyncio.run(find_servers(places(further)))
    if not servers:
        talk.say("  None was found: Ollama, llama.cpp, vLLM and LM Studio are seen when they run.")
        if not talk.interactive and talk.given(PRESET).startswith("local"):
            raise ConfigError("No model server was found on this machine: start it, or say where it is with --look-at.")
    options = [Option(preset.key, preset.title, preset.group) for preset in PRESETS]
    at = [option.group for option in options].index(Group.HERE)
    options[at:at] = [_option(number, server) for number, server in enumerate(servers, start=1)]
    while True:
        chosen = talk.choose(PRESET, "Which model shall answer?", options, "local" if servers else "openai")
        known = {preset.key: preset for preset in PRESETS}
        server = None if chosen in known else servers[int(chosen.removeprefix("local") or 1) - 1]
        try:
            values = _ask_server(talk, draft, server) if server else _ask_preset(talk, draft, known[chosen])
        except Wrong as wrong:
            talk.refuse(PRESET, wrong)
            continue
        draft.save(dict.fromkeys(NAMES, "") | values)
        return


def _option(number: int, server: LocalServer) -> Option:
    count = f"{len(server.models)} models" if len(server.models) > 1 else server.models[0]
    return Option("local" if number == 1 else f"local{number}", f"{server.kind} at {server.url}: {count}", Group.HERE)


def _ask_preset(talk: Dialogue, draft: Draft, preset: Preset) -> dict[str, str]:
    """Return the settings of a preset whose model answered."""
    if preset.key == "demo":
        talk.say("  The demo model answers a few phrases under `bin/dev`; `worker` refuses to start without a model.")
        return {}
    if preset.key_page:
        talk.say(f"  Keys: {preset.key_page}")
    model, key = preset.model, ""
    told = {asked.name: asked.default or draft.value(asked.name) for asked in preset.asks}
    is_whole_name = talk.is_given("ONEVALET_MODEL") or bool(preset.model)
    while True:
        for asked in preset.asks:
            told[asked.name] = talk.ask(asked.name, asked.question, default=told[asked.name])
        model = talk.ask("ONEVALET_MODEL", _model_question(preset), default=model)
        # Its client wants a key even if the server needs none.
        free = preset.key == "server"
        enter = "Enter if it wants none" if free else KEEPS
        key = key or ("none" if free else "")
        key = talk.ask("ONEVALET_MODEL_KEYS", "Key", default=key, secret=True, enter=enter)
        name = model if is_whole_name else f"{'azure' if preset.key == 'azure' else 'openai'}/{model}"
        values = told | {"ONEVALET_MODEL": name, "ONEVALET_MODEL_KEYS": key}
        try:
            _prove(talk, draft, values, MODEL_SECONDS)
        except Wrong as wrong:
            talk.refuse("ONEVALET_MODEL", wrong)
            continue
        return values


def _ask_server(talk: Dialogue, draft: Draft, server: LocalServer) -> dict[str, str]:
    """Return the settings of a server on this machine after any of its models answered."""
    options = [Option(model, model) for model in server.models]
    first = server.models[0]
    name = first if len(options) == 1 else talk.choose("model", "Which of its models?", options, first)
    values = server.asked_for(name)
    _prove(talk, draft, values, LOCAL_SECONDS)
    context = asyncio.run(loaded_context(server, name))
    if short := short_of_context(server.kind, context):
        raise Wrong(f"{short[:-1]}, then choose it again.")
    talk.say("  A local model takes its time: what is remembered is found by rules, which saves it further calls.")
    return values | values_for(context)


def _prove(talk: Dialogue, draft: Draft, values: Mapping[str, str], seconds: float) -> None:
    """Ask the model for a single word; raise `Wrong` if it does not answer."""
    settings = draft.settings(values)
    talk.say(f"  Asking {settings.onevalet_model} for one word …")
    begun = time.monotonic()
    with exported({name: value for name, value in values.items() if name.lower() not in Settings.model_fields}):
        check, *_ = asyncio.run(check_model(settings, seconds))
    if not check.ok:
        raise Wrong(f"{check.detail}: {check.fix}.")
    talk.say(f"  It answered in {time.monotonic() - begun:.1f} s.")


def _model_question(preset: Preset) -> str:
    return {"azure": "Name of the deployment", "server": "The server's name of the model"}.get(preset.key, "Model")
