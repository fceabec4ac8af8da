"""The models that the settings name, and people's budgets for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError
from core.llm.prices import ModelPrice, embedding_price_of, price_of
from onevalet.settings import Settings
from onevalet.wiring.workbench import demo_model
from providers.models.litellm_client import LiteLLMClient
from providers.models.speech import SILENT


@dataclass(frozen=True, slots=True)
class Models:
    """The clients of the models in use: `main` answers, `small` works behind the reply if it is set."""

    main: LiteLLMClient
    small: LiteLLMClient | None = None

    @property
    def behind(self) -> LiteLLMClient:
        """Return the model for work behind the reply."""
        return self.small or self.main

    async def close(self) -> None:
        if self.small is not None:
            await self.small.close()
        await self.main.close()


@dataclass(frozen=True, slots=True)
class BudgetPrices:
    """The prices of the models that budgets limit."""

    models: Sequence[ModelPrice]
    embedding: ModelPrice | None


def build_models(settings: Settings) -> Models:
    """Create the clients of the models that the settings name."""
    return Models(build_client(settings), build_small_client(settings))


def build_client(settings: Settings) -> LiteLLMClient:
    """Create the client of the configured model and its fallbacks; without a model, of the demo model if present."""
    local = demo_model(settings.onevalet_home)
    return LiteLLMClient(
        settings.onevalet_model or (local.model if local else ""),
        settings.onevalet_fallback_models,
        settings.keys_for(settings.onevalet_model),
        reasoning_effort=settings.onevalet_reasoning_effort,
        tool_mode=settings.onevalet_tool_mode,
        local=local,
        vision_model=settings.onevalet_vision_model,
    )


def build_small_client(settings: Settings) -> LiteLLMClient | None:
    """Create the client of the model for work behind the reply; None if the main model does it."""
    model, small = settings.onevalet_model, settings.onevalet_small_model
    if not (model and small):
        return None
    return LiteLLMClient(small, keys=settings.keys_for(small), tool_mode=settings.onevalet_tool_mode)


def check_models(settings: Settings, client: LiteLLMClient) -> None:
    """Raise `ConfigError` for a model that litellm knows no provider of, which could never answer; loads litellm."""
    named = {
        "ONEVALET_MODEL": (settings.onevalet_model,),
        "ONEVALET_SMALL_MODEL": (settings.onevalet_small_model,),
        "ONEVALET_FALLBACK_MODELS": settings.onevalet_fallback_models,
        "ONEVALET_VISION_MODEL": (settings.onevalet_vision_model,),
        **{setting: (model,) for setting, model in (settings.embedders | settings.further_models).items()},
    }
    for setting, models in named.items():
        for model in models:
            if model not in ("", SILENT) and not client.has_provider(model):
                raise ConfigError(
                    f"{setting} cannot be used: litellm knows no provider of {model}; name one, such as openai/{model}."
                )


def build_budgets(settings: Settings, client: LiteLLMClient, database: Database, clock: Clock) -> DailyBudgets | None:
    """Create the budgets; raise `ConfigError` for a model without a known price, which no budget could limit."""
    if (prices := budget_prices(settings, client)) is None:
        return None
    day, task = settings.day_budget, settings.task_budget
    return DailyBudgets(database, clock, day, prices.models, task, settings.tiers, prices.embedding)


def budget_prices(settings: Settings, client: LiteLLMClient) -> BudgetPrices | None:
    """Return the prices for budgets, None without any budget; raise `ConfigError` for an unknown price."""
    tiers = settings.tiers
    if settings.onevalet_daily_budget is None and settings.onevalet_task_budget is None and not tiers.have_budgets:
        return None
    local = demo_model()
    models = {*(layer.model for layer in client.layers), settings.onevalet_vision_model, settings.onevalet_small_model}
    models -= {"", local.model if local else ""}
    prices = {model: price_of(client.known(model)) for model in sorted(models)}
    embeds = next(iter(settings.embedders.values()), "")
    embedding = embedding_price_of(client.known(embeds)) if embeds else None
    unknown = [model for model, price in prices.items() if price is None]
    if unknown := unknown or [model for model in [embeds] if model and embedding is None]:
        raise ConfigError(
            f"ONEVALET_DAILY_BUDGET, or a tier's, cannot be kept: litellm knows no price for {unknown[0]}; "
            "unset it, or name a model that has one."
        )
    return BudgetPrices([price for price in prices.values() if price], embedding)
