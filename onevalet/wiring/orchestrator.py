"""The assistant of a worker: model, tools and orchestrator, built from the settings."""

import types
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields
from pathlib import Path
from typing import Union, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from core.agents.registry import AgentRegistry, read_exposed
from core.agents.valet import valet_of
from core.approvals.store import ApprovalStore
from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.errors import ConfigError
from core.hooks.hooks import Hook
from core.hooks.judge_checks import CheckingJudge
from core.hooks.judge_model import ModelJudge
from core.hooks.rules_file import read_rules
from core.http.client import GuardedClient
from core.ids import make_id
from core.llm.litellm_client import LiteLLMClient
from core.llm.prices import price_of
from core.llm.types import ModelClient
from core.loop.config import ReactLoopConfig
from core.people.people import People
from core.people.rate_limit import Rates
from core.tools.files import Files
from core.tools.storage import Storage
from core.triggers.engine import TriggerEngine
from core.turns.checks import ordered_checks
from core.turns.orchestrator import Orchestrator
from onevalet.demo.model import DEMO_MODEL
from onevalet.settings import LOOP_PREFIX, Settings
from onevalet.wiring.memory import build_momex
from onevalet.wiring.plugins import load_plugins

AGENT_REGISTRY = Path("agent_registry.yaml")
"""Where an operator overrides which agents the model is offered."""


@asynccontextmanager
async def build_orchestrator(
    settings: Settings,
    clock: Clock,
    storage: Storage,
    credentials: CredentialStore,
    approvals: ApprovalStore | None = None,
    engine: TriggerEngine | None = None,
    files: Files | None = None,
) -> AsyncIterator[Orchestrator]:
    """Load the plugins and make the orchestrator; without a configured model the demo model speaks."""
    plugins = load_plugins(settings.onevalet_plugins)
    if engine is not None:
        engine.add_executors(plugins.executors)
    config = loop_config(settings.loop)
    client = LiteLLMClient(
        settings.onevalet_model or DEMO_MODEL.model,
        settings.onevalet_fallback_models,
        [key.get_secret_value() for key in settings.onevalet_model_keys],
        tool_mode=settings.onevalet_tool_mode,
        local=DEMO_MODEL,
    )
    hooks = (*built_in_hooks(settings, config, client, storage), *plugins.hooks)
    http = _guarded_client(settings)
    known = {tool.name for tool in plugins.tools} | {one.name for agent in plugins.agents if (one := valet_of(agent))}
    settings.tiers.check_tools(frozenset(known))
    tiers, rates = settings.tiers, Rates(settings.redis_url.get_secret_value() if settings.redis_url else "")
    # Seconds of CPU, before the first lease is taken: nobody waits for it then.
    await client.warm_up()
    budgets = build_budgets(settings, client, storage.database, clock)
    momex = build_momex(settings, client, storage.database, clock, budgets)
    try:
        yield plugins.orchestrator(
            client,
            settings.system_prompt,
            momex,
            trigger_engine=engine,
            tools=plugins.tools,
            agents=AgentRegistry(plugins.agents, read_exposed(AGENT_REGISTRY)),
            hooks=hooks,
            checks=ordered_checks(settings.access, rates, tiers, safety=plugins.checks),
            tiers=tiers,
            config=config,
            storage=storage,
            budgets=budgets,
            credentials=credentials,
            approvals=approvals,
            http=http,
            settings=settings.for_tools,
            clock=clock,
            people=People(storage.database, make_id, clock),
            files=files,
        )
    finally:
        if momex is not None:
            await momex.close()
        await rates.close()
        await http.close()
        await client.close()


def _guarded_client(settings: Settings) -> GuardedClient:
    try:
        named = (settings.onevalet_weather_url, settings.onevalet_flights_url)
        return GuardedClient(
            allowed_hosts=[*settings.onevalet_fetch_hosts, *(urlsplit(url).netloc for url in named if url)]
        )
    except ValueError as error:
        raise ConfigError(f"ONEVALET_FETCH_HOSTS cannot be used: {str(error).rstrip('.')}.") from error


def build_budgets(settings: Settings, client: LiteLLMClient, database: Database, clock: Clock) -> DailyBudgets | None:
    """Make everybody's budget; a price that is not known would make it bottomless, and is an error."""
    tiers = settings.tiers
    if settings.onevalet_daily_budget is None and settings.onevalet_task_budget is None and not tiers.have_budgets:
        return None
    models = {layer.model for layer in client.layers} - {DEMO_MODEL.model}
    prices = {model: price_of(client.known(model)) for model in sorted(models)}
    if unknown := [model for model, price in prices.items() if price is None]:
        raise ConfigError(
            f"ONEVALET_DAILY_BUDGET, or a tier's, cannot be kept: litellm knows no price for {unknown[0]}; "
            "unset it, or name a model that has one."
        )
    known = [one for one in prices.values() if one]
    day, task = settings.onevalet_daily_budget, settings.onevalet_task_budget
    return DailyBudgets(database, clock, day, known, task, tiers)


def built_in_hooks(
    settings: Settings, config: ReactLoopConfig, client: ModelClient, storage: Storage | None = None
) -> list[Hook]:
    """Make the hooks that the settings ask for: rules from the file, and judges."""
    hooks: list[Hook] = []
    if settings.onevalet_rules:
        hooks.append(read_rules(settings.onevalet_rules, storage))
    if settings.onevalet_judge != "off":
        hooks.append(CheckingJudge(config.max_repeated_calls, config.max_idle_steps))
    if settings.onevalet_judge == "model":
        hooks.append(ModelJudge(client))
    return hooks


def loop_config(values: dict[str, str]) -> ReactLoopConfig:
    """Read `ONEVALET_LOOP_<NAME>`; raises `ConfigError` for a name or a number that does not exist."""
    hints = get_type_hints(ReactLoopConfig)
    known = {one.name: hints[one.name] for one in fields(ReactLoopConfig)}
    read: dict[str, object] = {}
    for name, text in values.items():
        if name not in known:
            names = ", ".join(sorted(f"{LOOP_PREFIX}{one}".upper() for one in known))
            raise ConfigError(f"{LOOP_PREFIX.upper()}{name.upper()} does not exist; there are {names}.")
        read[name] = _value(name, text, known[name])
    return ReactLoopConfig(**read)  # type: ignore[arg-type]


def _value(name: str, text: str, kind: object) -> object:
    if get_origin(kind) in (Union, types.UnionType):
        if text.lower() == "none":
            return None
        kind = next(one for one in get_args(kind) if one is not type(None))
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ConfigError(f"{LOOP_PREFIX.upper()}{name.upper()} is {text!r}; write true or false.")
        return text.lower() in ("true", "1")
    try:
        return int(text) if kind is int else float(text)
    except ValueError as error:
        raise ConfigError(f"{LOOP_PREFIX.upper()}{name.upper()} is {text!r}; write a number.") from error
