"""The assistant is built from the settings: rules and judges among them."""

from decimal import Decimal
from pathlib import Path
from typing import Literal

import pytest

from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError
from core.hooks.rules import RuleBook
from core.llm.litellm_client import LiteLLMClient
from core.loop.config import ReactLoopConfig
from onevalet.settings import Settings
from onevalet.wiring.loop import built_in_hooks
from onevalet.wiring.models import build_budgets
from tests.core.builders import FakeModel


def names(**given: object) -> list[str]:
    settings = Settings(_env_file=None, **given)  # type: ignore[arg-type]
    return [type(hook).__name__ for hook in built_in_hooks(settings, ReactLoopConfig(), FakeModel([]))]


@pytest.mark.parametrize(
    ("judge", "expected"), [("off", []), ("checks", ["CheckingJudge"]), ("model", ["CheckingJudge", "ModelJudge"])]
)
def test_the_judges_are_those_of_the_setting(judge: str, expected: list[str]) -> None:
    assert names(onevalet_judge=judge) == expected


def test_the_rules_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('[[rules]]\nname = "a"\ndecision = "deny"')
    [book, _] = built_in_hooks(Settings(_env_file=None, onevalet_rules=path), ReactLoopConfig(), FakeModel([]))
    assert isinstance(book, RuleBook)
    assert [rule.name for rule in book.rules] == ["a"]


def test_without_a_rules_file_there_are_no_rules_and_a_missing_one_fails() -> None:
    assert names() == ["CheckingJudge"]
    with pytest.raises(ConfigError, match=r"ONEVALET_RULES names nowhere\.toml"):
        names(onevalet_rules="nowhere.toml")


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
