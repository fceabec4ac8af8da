"""The command that adds up the cost of models and texts."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from core.db.database import Database
from core.json_types import Json, JsonObject
from core.language.money import Currency
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import open_database
from onevalet.settings import Settings

_PEOPLE = 30
"""Those for whom most was spent."""
_OPEN_DAYS = 2
"""Days, by UTC, that are not over everywhere."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The spending on models and on texts, in dollars, and the segments of the texts."""

    models: Decimal
    texts: Decimal
    segments: int

    def to_json(self, currency: Currency) -> JsonObject:
        """Return it in the operator's currency."""
        amounts = {"models": self.models, "texts": self.texts, "together": self.models + self.texts}
        shown: dict[str, Json] = {name: float(value * currency.per_dollar) for name, value in amounts.items()}
        return {**shown, "segments": self.segments}


async def print_cost(settings: Settings, days: int, *, as_json: bool) -> None:
    """Print the sums of the last days."""
    currency = settings.onevalet_currency
    async with open_database(settings, "cost") as database:
        last = datetime.now(UTC).date() + timedelta(days=1)  # it is tomorrow already for somebody
        first = last - timedelta(days=days)
        total, people = await _total(database, first, last), await _people(database, first, last)
    if as_json:
        by_person: list[Json] = [
            {"tenant": tenant, "name": name, **cost.to_json(currency)} for tenant, name, cost in people
        ]
        say_json({"days": days, "currency": currency.code, **total.to_json(currency), "people": by_person})
        return
    unpriced = "" if settings.onevalet_sms_price or not total.segments else "; ONEVALET_SMS_PRICE is not set"
    say(f"The last {days} days")
    say(f"models    {currency.said(total.models)}")
    say(f"SMS       {currency.said(total.texts)}, {total.segments:,} segments{unpriced}")
    say(f"together  {currency.said(total.models + total.texts)}")
    for _, name, cost in people:
        spent = currency.said(cost.models + cost.texts)
        say(f"{name}: {spent}, of it {currency.said(cost.texts)} for {cost.segments:,} segments")


async def _total(database: Database, first: date, last: date) -> Cost:
    charged, called, texts = (defaultdict[date, Decimal](Decimal) for _ in range(3))
    segments = 0
    closed = datetime.now(UTC).date() - timedelta(days=_OPEN_DAYS)
    for row in await database.rows("select * from console_usage($1,$2,$3)", first, last, closed):
        match row["kind"]:
            case "spent":
                charged[row["day"]] += row["cost"]
            case "model" | "background":
                called[row["day"]] += row["cost"]
            case "texts":
                texts[row["day"]] += row["cost"]
            case "segment":
                segments += row["calls"]
    # What was charged to a budget, texts included, or the cost of the calls if that is more.
    models = sum((max(charged[day] - texts[day], called[day]) for day in {*charged, *called}), Decimal(0))
    return Cost(models, sum(texts.values(), Decimal(0)), segments)


async def _people(database: Database, first: date, last: date) -> list[tuple[str, str, Cost]]:
    people = []
    for row in await database.rows("select * from console_spenders($1,$2,$3)", first, last, _PEOPLE):
        person = await database.tenant_row(row["tenant_id"], "select name from tenants where tenant_id = $1")
        name = (person["name"] if person else "") or row["tenant_id"]
        people.append((row["tenant_id"], name, Cost(row["spent"] - row["texts"], row["texts"], row["segments"])))
    return people
