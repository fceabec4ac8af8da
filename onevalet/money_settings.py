"""The settings of money: the operator's currency, and the budgets of people and tasks."""

from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from core.language.money import Currency


def _read(value: Currency | str) -> Currency:
    return Currency.read(value) if isinstance(value, str) else value


class MoneySettings(BaseSettings):
    """Amounts as the operator writes them, in their currency; all code counts in dollars."""

    onevalet_currency: Annotated[Currency, NoDecode, BeforeValidator(_read)] = Currency()
    onevalet_daily_budget: Decimal | None = Field(default=None, gt=0)
    onevalet_task_budget: Decimal | None = Field(default=None, gt=0)

    @property
    def day_budget(self) -> Decimal | None:
        """Return the dollars that a person may cost a day."""
        return self.onevalet_currency.to_dollars(self.onevalet_daily_budget)

    @property
    def task_budget(self) -> Decimal | None:
        """Return the dollars that one of a person's tasks may cost a day."""
        return self.onevalet_currency.to_dollars(self.onevalet_task_budget)
