"""The assistant is built from the settings: budgets among them."""

from decimal import Decimal
from typing import Literal

import pytest

from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError
from onevalet.settings import Settings
from onevalet.wiring.models import build_budgets
from providers.models.litellm_client import LiteLLMClient


def test_a_budget_over_a_model_without_a_price_fails_at_start() -> None:
    settings = Settings(_env_file=None, onevalet_daily_budget=Decimal("1.50"))
    database = Database("postgresql://nobody@127.0.0.1:1/none")
    priced = build_budgets(settings, LiteLLMClient("openai/gpt-4o-mini"), database, Clock())
    assert priced is not None
    assert (priced.cap, len(priced.prices)) == (Decimal("1.50"), 1)
    with pytest.raises(ConfigError, match="litellm knows no price for openai/mine; unset it"):
        build_budgets(settings, LiteLLMClient("openai/gpt-4o-mini", ["openai/mine"]), database, Clock())
    assert build_budgets(Settings(_env_file=None), LiteLLMClient("openai/mine"), database, Clock()) is None


def test_a_budget_knows_the_embedding_models_price_or_the_start_fails() -> None:
    database, client = Database("postgresql://nobody@127.0.0.1:1/none"), LiteLLMClient("openai/gpt-4o-mini")

    def budgets(embedding_model: str, memory: Literal["on", "off"] = "on") -> DailyBudgets | None:
        settings = Settings(
            _env_file=None,
            onevalet_daily_budget=Decimal(1),
            onevalet_embedding_model=embedding_model,
            onevalet_memory=memory,
        )
        return build_budgets(settings, client, database, Clock())

    priced = budgets("openai/text-embedding-3-small")
    assert priced is not None
    assert priced.embedding_price is not None
    assert priced.embedding_price.input > 0
    assert len(priced.prices) == 1
    with pytest.raises(ConfigError, match="litellm knows no price for openai/my-embedder; unset it"):
        budgets("openai/my-embedder")
    assert budgets("openai/my-embedder", memory="off") is not None
