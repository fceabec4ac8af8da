"""The charts of a period, each with its numbers as a table."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from functools import partial

from core.language.money import Currency
from operations.console.charts import Chart, bars, lines
from operations.console.reading.usage import NOTHING, Spending, Usage, percentile
from operations.console.rendering import milliseconds, money

_OUTCOMES = {"done": "answered", "interrupted": "interrupted", "failed": "failed", "poison": "set aside"}
"""Endings of turns, in words."""


def draw_usage(usage: Usage, currency: Currency) -> Sequence[Chart]:
    """Return messages and cost a day, times to answer, and outcomes."""
    days = usage.period.days()
    labels = [f"{day:%-d %b}" for day in days]
    draws = (_messages, partial(_costs, currency), _times, _ends)
    return [draw(usage, days, labels) for draw in draws]


def _messages(usage: Usage, days: Sequence[date], labels: Sequence[str]) -> Chart:
    messages = usage.by(lambda row: row.day, "message")
    counts = [messages.get(day, NOTHING).calls for day in days]
    title = "Messages a day"
    drawing = bars(title, labels, {"messages": counts})
    return Chart(title, drawing, ("Day", "Messages"), _cells(labels, counts, show=_count))


def _costs(currency: Currency, usage: Usage, days: Sequence[date], labels: Sequence[str]) -> Chart:
    models = usage.by(lambda row: row.day, "model")
    turns = [models.get(day, NOTHING).cost for day in days]
    by_day = usage.spent_by_day()
    spent = [by_day.get(day, Decimal(0)) for day in days]
    answers = [float(cost) for cost in turns]
    background = [float(max(all_of_it - cost, Decimal(0))) for all_of_it, cost in zip(spent, turns, strict=True)]
    series = {"answers and tasks": answers, "background": background}
    if usage.texts:
        series["SMS"] = [float(usage.spending.get(day, Spending()).texts) for day in days]
    title = f"Cost a day, in {'dollars' if currency.code == 'USD' else currency.code}"
    rate = float(currency.per_dollar)
    drawing = bars(title, labels, {name: [cost * rate for cost in costs] for name, costs in series.items()})
    heads = ("Day", *(f"{name[:1].upper()}{name[1:]}" for name in series))
    return Chart(title, drawing, heads, _cells(labels, *series.values(), show=partial(money, currency=currency)))


def _times(usage: Usage, days: Sequence[date], labels: Sequence[str]) -> Chart:
    answers = usage.answers()
    half, most = ([percentile(answers.get(day, {}), share) for day in days] for share in (0.5, 0.95))
    title = "Time to answer, in seconds"
    drawing = lines(title, labels, {"half": _seconds(half), "95 %": _seconds(most)})
    return Chart(title, drawing, ("Day", "Half within", "95 % within"), _cells(labels, half, most, show=_time))


def _ends(usage: Usage, days: Sequence[date], labels: Sequence[str]) -> Chart:
    ends = usage.by(lambda row: (row.day, row.name), "turn")
    counts = {word: [ends.get((day, state), NOTHING).calls for day in days] for state, word in _OUTCOMES.items()}
    title = "Outcomes"
    heads = ("Day", *(word.capitalize() for word in counts))
    return Chart(title, bars(title, labels, counts), heads, _cells(labels, *counts.values(), show=_count))


def _seconds(times: Iterable[float | None]) -> list[float | None]:
    return [None if time is None else time / 1000 for time in times]


def _count(value: int) -> str:
    return f"{value:,}"


def _time(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)


def _cells[T](labels: Sequence[str], *columns: Iterable[T], show: Callable[[T], str]) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(labels, *(map(show, column) for column in columns), strict=True))
