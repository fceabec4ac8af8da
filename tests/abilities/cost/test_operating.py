"""The command that sums up models and texts, and the settings behind it."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pydantic import SecretStr

from abilities.cost.operating import print_cost
from core.language.catalogue import speaking
from core.language.money import Currency
from core.messaging.capabilities import SegmentBudget, read_prices
from onevalet.settings import Settings
from tests.core.harness import Store


async def spend(store: Store, tenant: str, name: str, spent: str, texts: str, segments: int) -> None:
    """Let a person have cost something today."""
    today = datetime.now(UTC).date()
    await store.db.tenants.add(tenant_id=tenant, name=name)
    for statement, *values in (
        ("insert into spending (tenant_id, day, spent) values ($1,$2,$3)", Decimal(spent) + Decimal(texts)),
        ("insert into spending (tenant_id, day, task_id, spent) values ($1,$2,'texts',$3)", Decimal(texts)),
        ("insert into segment_days (tenant_id, day, segments) values ($1,$2,$3)", segments),
    ):
        await store.admin.execute(str(statement), tenant, today, *values)


async def test_cost_sums_up_models_and_texts_together_and_by_person(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    await spend(store, "ann", "Ann", "1.5", "0.5", 60)
    await spend(store, "bob", "", "0.25", "0", 3)
    settings = Settings(
        _env_file=None,
        database_url=SecretStr(store.url),
        onevalet_currency="EUR=0.5",
        onevalet_sms_price=("0.01",),
    )
    await print_cost(settings, 30, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "The last 30 days",
        "models    €0.88",
        "SMS       €0.25, 63 segments",
        "together  €1.12",
        "Ann: €1.00, of it €0.25 for 60 segments",
        "bob: €0.12, of it €0.00 for 3 segments",
    ]
    await print_cost(settings, 30, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["currency"], told["models"], told["texts"], told["together"]) == ("EUR", 0.875, 0.25, 1.125)
    assert [(person["tenant"], person["segments"]) for person in told["people"]] == [("ann", 60), ("bob", 3)]


async def test_cost_says_that_no_price_of_texts_is_known(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    await spend(store, "ann", "Ann", "0", "0", 7)
    settings = Settings(_env_file=None, database_url=SecretStr(store.url))
    await print_cost(settings, 7, as_json=False)
    assert "SMS       US$0.00, 7 segments; ONEVALET_SMS_PRICE is not set" in capsys.readouterr().out


def test_the_longest_beginning_of_a_number_has_its_price() -> None:
    budget = SegmentBudget(prices=read_prices(["0.2", "+1=0.01", "+1415=0.02"], Decimal(2)))
    prices = {number: budget.price_of(number, 2) for number in ("+14155550100", "+12125550100", "+4930123456")}
    assert prices == {
        "+14155550100": Decimal("0.02"),
        "+12125550100": Decimal("0.01"),
        "+4930123456": Decimal("0.2"),
    }
    assert SegmentBudget(prices=read_prices(["+1=0.01"])).price_of("+4930123456", 2) is None


@pytest.mark.parametrize("wrong", ["free", "+1", "1=0.1", "+1=0.1=2", "+1=-0.1", "0.1x", "+01=0.1"])
def test_a_wrong_price_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="no price of a segment"):
        read_prices([wrong])


def test_two_prices_for_the_same_beginning_are_refused() -> None:
    with pytest.raises(ValueError, match="no price of a segment"):
        read_prices(["+1=0.1", "+1=0.2"])


@pytest.mark.parametrize("wrong", ["EUR", "EUR=", "EUR=0", "EUR=x", "XYZ=1", "eur=1", "EUR=nan", "EUR=1,USD=1"])
def test_a_wrong_currency_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="such as EUR=0"):
        Currency.read(wrong)


def test_amounts_are_said_in_the_currency_and_language() -> None:
    euro = Currency.read("EUR=0.5")
    with speaking("de"):
        assert euro.said(Decimal("2.5")) == "1,25\u00a0€"
        assert euro.said(Decimal("0.001")) == "weniger als 0,01\u00a0€"
    assert euro.said(Decimal(0)) == "€0.00"
    assert Currency.read("JPY=150").said(Decimal("0.001")) == "less than JP¥1"
