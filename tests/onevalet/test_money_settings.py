"""Amounts are in the operator's currency wherever they are set; all code counts in dollars."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from core.language.money import Currency
from core.people.access_policy import PersonRole
from onevalet.settings import Settings


def test_every_amount_that_is_set_is_in_the_currency(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "ONEVALET_CURRENCY": "EUR=0.5",
        "ONEVALET_DAILY_BUDGET": "2",
        "ONEVALET_TASK_BUDGET": "0.1",
        "ONEVALET_SMS_PRICE": "+1=0.01,0.2",
        "ONEVALET_TIERS": '{"guest": {"budget_a_day": 1}}',
    }.items():
        monkeypatch.setenv(name, value)
    settings = Settings(_env_file=None)
    assert (settings.day_budget, settings.task_budget) == (Decimal(4), Decimal("0.2"))
    assert settings.sms_budget.price_of("+15550001111", 1) == Decimal("0.02")
    guest = settings.tiers.of(PersonRole.GUEST)
    assert guest is not None
    assert guest.dollars_a_day == Decimal(2)
    assert settings.onevalet_currency.said(Decimal(4)) == "€2.00"


def test_without_a_currency_amounts_are_dollars() -> None:
    settings = Settings(_env_file=None, onevalet_daily_budget=Decimal(2))
    assert settings.onevalet_currency == Currency()
    assert (settings.day_budget, settings.task_budget) == (Decimal(2), None)


@pytest.mark.parametrize("wrong", ["EUR", "EUR=0", "EUR=-1", "EUR=x", "XXQ=2", "0.92", "EUR=0.92,GBP=2", "EUR=NaN"])
def test_what_is_no_currency_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError, match="such as EUR=0"):
        Settings(_env_file=None, onevalet_currency=wrong)


def test_a_currency_among_prices_is_refused() -> None:
    with pytest.raises(ValidationError, match="is no price of a segment"):
        Settings(_env_file=None, onevalet_sms_price=("EUR=0.92", "0.2"))
