"""The page of usage and cost."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from aiohttp import web

from operations.console.access import Scope
from operations.console.pages.base import Pages, signed_in
from operations.console.reading.names import read_person, read_titles
from operations.console.reading.usage import PEOPLE_DAYS, SHOWN, Period, Usage, Used, percentile, read_usage
from operations.console.rendering import milliseconds, money, zone_of
from operations.console.sign_in import PATH
from operations.console.usage_charts import draw_usage
from operations.console.visits import Visit

PERIODS = (7, 30, 90)
"""Days that a page may show."""
_USUAL = 30


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table. `cost`: the amount charged, which may exceed the cost of its own calls."""

    name: str
    used: Used
    cost: Decimal
    budget: Decimal | None = None
    segments: int = 0
    texts: Decimal = Decimal(0)


class CostPages(Pages):
    """Show the sums of a period that ends today."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/cost", self._show)]

    @signed_in
    async def _show(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        asked = request.query.get("days", "")
        days = int(asked) if asked in map(str, PERIODS) else _USUAL
        period = Period.until(self.kit.now().astimezone(zone_of(visit.viewer)).date(), days)
        usage = await read_usage(visit.scope, period, self.kit.now())
        return self.kit.page(
            "cost.html",
            visit,
            here="cost",
            days=days,
            periods=PERIODS,
            figures=self._figures(usage),
            # pygal takes a while to load, and webhooks wait for nothing.
            charts=await asyncio.to_thread(draw_usage, usage, self.kit.budgets.currency),
            amount=self._amount,
            people=await self._people(visit.scope, usage),
            people_days=min(days, PEOPLE_DAYS),
            models=_top(usage.by(lambda row: row.name, "model")),
            tools=_top(usage.by(lambda row: row.name, "tool", "agent")),
            background=_top(usage.by(lambda row: row.name, "background")),
            tasks=await self._tasks(visit.scope, usage),
            used=bool(usage.rows or usage.spending),
        )

    def _amount(self, dollars: float) -> str:
        return money(dollars, self.kit.budgets.currency)

    def _figures(self, usage: Usage) -> Sequence[tuple[str, str]]:
        amount = self._amount
        model, priced = usage.total("model"), bool(self.kit.budgets.segments.prices or usage.texts)
        times: Counter[int] = sum(map(Counter, usage.answers().values()), Counter())
        half, most = percentile(times, 0.5), percentile(times, 0.95)
        return (
            ("Spent on models", amount(float(usage.spent))),
            ("for answers and tasks", amount(float(model.cost))),
            ("in the background", amount(float(usage.background))),
            ("Tokens", f"{model.tokens:,}"),
            ("from a cache", f"{model.cached_tokens:,}"),
            ("Messages", f"{usage.total('message').calls:,}"),
            ("Half were answered within", milliseconds(half) if half else "–"),
            ("95 % were answered within", milliseconds(most) if most else "–"),
            ("SMS segments", f"{usage.segments:,}"),
            ("Price of the segments", amount(float(usage.texts)) if priced else "not set"),
            ("Models and segments together", amount(float(usage.spent + usage.texts))),
        )

    async def _people(self, scope: Scope, usage: Usage) -> list[Line]:
        shown = []
        for spender in usage.spenders:
            person = await read_person(scope, spender.tenant_id)
            if person is not None:
                budget = self.kit.budgets.of(person.role, person.tier)
                paid = spender.spending
                shown.append(
                    Line(person.name or "Somebody", spender.used, paid.spent, budget, paid.segments, paid.texts)
                )
        return shown

    async def _tasks(self, scope: Scope, usage: Usage) -> list[Line]:
        titles = await read_titles(scope, usage.tasks)
        return [
            Line(titles.get(key, "A task that is gone"), used, used.cost, self.kit.budgets.task)
            for key, used in usage.tasks.items()
        ]


def _top(sums: dict[str, Used]) -> list[Line]:
    return [Line(name, used, used.cost) for name, used in list(sums.items())[:SHOWN]]
