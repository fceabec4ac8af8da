"""What was used and what it cost: sums by day as turns end, and the page that shows them."""

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from xml.etree import ElementTree

import pytest

from core.budgets.budgeted_model import BudgetedModel
from core.journal.types import Lease, StepKey
from core.language.money import Currency
from core.llm.types import ModelAnswer, ModelRequest, TokenUsage
from operations.console.charts import bars, lines
from operations.console.reading.usage import Period, Spending, Usage, percentile
from operations.console.rendering import money
from operations.console.usage_charts import draw_usage
from tests.core.builders import FakeModel
from tests.core.harness import Store
from tests.operations.console.harness import ANN, BOB, Console


@dataclass
class _Step:
    kind: str
    name: str
    usage: TokenUsage = field(default_factory=TokenUsage)
    outcome: str = "ok"
    path: str = ""


async def _turn(store: Store, sender: str, *steps: _Step) -> None:
    await store.say("Is it raining?", sender=sender)
    lease, turn = await store.claim_turn()
    for number, step in enumerate(steps):
        await _record(store, lease, turn.turn_id, number, step)
    await store.finish(lease, turn, "Yes.")
    await store.send(await store.claim_sending("Yes."))


async def _record(store: Store, lease: Lease, turn: str, number: int, step: _Step) -> None:
    row = {
        "agent_path": step.path, "step": number, "call_index": 0, "kind": step.kind, "name": step.name, "args_hash": "",
        "effect": "read", "state": "done", "outcome": step.outcome, "idempotency_key": "", "result": {},
        "usage": step.usage.to_json(), "duration_ms": 250,
    }  # fmt: skip
    await store.database.call(
        "select record_step($1,$2,$3,$4,$5)", lease.tenant_id, lease.lane_id, lease.fence, turn, row
    )


_STEPS = (
    _Step("model", "gpt-5", TokenUsage(1200, 34, 1000, 0.25)),
    _Step("tool", "get_weather", outcome="error"),
    _Step("model", "gpt-5-mini", TokenUsage(100, 10, 0, 0.5), path="2.1/EmailAgent"),
)


async def test_an_ended_turn_is_in_the_sums_of_its_day_once(console: Console) -> None:
    store = console.store
    await _turn(store, BOB, *_STEPS)
    await store.admin.execute("update turns set state = state, reason = 'again'")
    rows = await store.admin.fetch(
        "select kind, name, calls, failed, input_tokens, cached_tokens, cost, took_ms from usage_days"
        " where tenant_id = $1 and kind in ('model', 'tool', 'agent') order by kind, name",
        await console.tenant(BOB),
    )
    assert [tuple(row) for row in rows] == [
        ("agent", "EmailAgent", 0, 0, 100, 0, Decimal("0.5"), 0),
        ("model", "gpt-5", 1, 0, 1200, 1000, Decimal("0.25"), 250),
        ("model", "gpt-5-mini", 1, 0, 100, 0, Decimal("0.5"), 250),
        ("tool", "get_weather", 1, 1, 0, 0, Decimal(0), 250),
    ]
    counts = await store.admin.fetch(
        "select kind, name, sum(calls)::int from usage_days where tenant_id = $1 and kind in ('message', 'turn')"
        " group by kind, name order by kind",
        await console.tenant(BOB),
    )
    assert [tuple(row) for row in counts] == [("message", "received", 2), ("turn", "done", 2)]
    answers = await store.one(
        "select sum(calls)::int from usage_days where kind = 'answer' and tenant_id = $1", await console.tenant(BOB)
    )
    assert answers == 2


async def test_work_in_the_background_is_counted_without_a_budget(console: Console) -> None:
    store, bob = console.store, await console.tenant(BOB)
    await _turn(store, BOB, *_STEPS, _Step("judge", "off topic", TokenUsage(50, 5, 0, 0.125)))
    answer = ModelAnswer("Noted.", usage=TokenUsage(200, 20, 0, 0.5))
    reading = BudgetedModel(FakeModel([answer, answer]), store.database)
    for number in range(2):
        await reading.ask(bob, f"ask{number}", StepKey(0, 0, "memory"), ModelRequest(()))
    async with console.browser(BOB) as browser:
        await browser.get("/console/cost")
        for part in (
            "Spent on models $1.88",
            "in the background $1.12",
            "memory $1.00 2 0 400 0 40",
            "judging $0.1250 1 0 50 0 5",
        ):
            assert part in browser.text, part
    async with console.browser(ANN) as browser:
        await browser.get("/console/cost")
        assert "Somebody $1.88 none 0 $0.00 5 0 1,750" in browser.text, "of each person, too"


async def test_a_day_that_is_over_is_summed_once_for_operators(console: Console) -> None:
    bob, day = await console.tenant(BOB), datetime.now(UTC).date() - timedelta(days=10)
    for statement in (
        "insert into usage_days (tenant_id, day, kind, name, calls, cost)"
        " values ($1, $2, 'model', 'gpt-4', 7, 3), ($1, $2, 'message', 'received', 5, 0)",
        "insert into spending (tenant_id, day, spent) values ($1, $2, 4)",
        "insert into segment_days (tenant_id, day, segments) values ($1, $2, 6)",
    ):
        await console.store.admin.execute(statement, bob, day)
    async with console.browser(ANN) as browser:
        for _ in range(2):
            await browser.get("/console/cost")
            for part in ("Spent on models $4.00", "in the background $1.00", "SMS segments 6", "gpt-4 $3.00 7"):
                assert part in browser.text, part
    names = await console.store.db.usage_totals.column("kind", order="kind")
    assert names == ["message", "model", "segment", "spent"]


async def test_a_zone_that_postgres_does_not_know_ends_turns(console: Console) -> None:
    await console.store.db.tenants.change({"timezone": "Mars/Olympus"})
    await _turn(console.store, BOB, *_STEPS)
    assert await console.store.db.usage_days.count(name="gpt-5") == 1


async def test_the_page_shows_what_it_cost_to_whom_it_belongs(console: Console) -> None:
    await _turn(console.store, BOB, *_STEPS, _Step("model", ""))
    bob = await console.tenant(BOB)
    await console.store.admin.execute(
        "insert into spending (tenant_id, day, spent) values ($1, (now() at time zone 'UTC')::date, 1.5)", bob
    )
    async with console.browser(BOB) as browser:
        await browser.get("/console/cost")
        for part in ("Spent on models $1.50", "for answers and tasks $0.7500", "in the background $0.7500"):
            assert part in browser.text, part
        assert "gpt-5 $0.2500 1 0 1,200 1,000 34 250 ms" in browser.text
        assert "get_weather $0.00 1 1" in browser.text
        assert "Person Cost" not in browser.text
        assert browser.page.count("<svg") == 4
        assert '<th scope="row"></th>' not in browser.page, "no model was asked"
        forbidden = r'<style|<script(?! type="module" src=)| style=|xlink|https?://(?!www\.w3\.org)'
        assert not re.search(forbidden, browser.page)
    async with console.browser(ANN) as browser:
        await browser.get("/console/cost?days=7")
        assert "Person Cost Budget a day SMS segments Of it for SMS" in browser.text
        assert "gpt-5 $0.2500" in browser.text, "an operator sees everybody's"
        assert await browser.get("/console/cost?days=99999999999") == 200
    await console.store.db.tenants.change({"role": "member"})
    async with console.browser(ANN) as browser:
        await browser.get("/console/cost")
        assert "gpt-5" not in browser.text
        assert "Cost a day, in dollars Nothing in these days." in browser.text


@pytest.mark.parametrize("draw", [bars, lines])
def test_a_chart_is_an_image_that_the_policy_allows(draw: object) -> None:
    svg = draw("<b>Cost", ["1 Nov", "<i>"], {"<u>": [1.0, 2.5]})  # type: ignore[operator]
    root = ElementTree.fromstring(str(svg))  # noqa: S314 - our own drawing
    assert (root.get("role"), root.get("viewBox")) == ("img", "0 0 560 220")
    for node in root.iter():
        assert not {"style", "id", "onclick"} & node.attrib.keys()
        assert str(node.tag).rpartition("}")[2] not in ("style", "script", "desc")
    assert "<b>" not in svg
    assert "<i>" not in svg


def test_a_chart_without_values_is_none_and_one_of_a_day_has_columns() -> None:
    assert lines("Time to answer", ["1 Nov", "2 Nov"], {"half": [None, None]}) is None
    assert bars("Messages a day", ["1 Nov"], {"messages": [0]}) is None
    [one, two] = [lines("Time to answer", ["1 Nov", "2 Nov"], {"half": half}) for half in ([None, 2.0], [1.0, 2.0])]
    assert ('class="rect' in str(one), 'class="rect' in str(two)) == (True, False)


def test_a_chart_of_few_counts_has_whole_numbers_beside_it() -> None:
    drawn = str(bars("Outcomes", ["1 Nov", "2 Nov"], {"answered": [0, 1], "failed": [0, 1]}))
    assert re.findall(r"<text[^>]*>([\d.]+)</text>", drawn) == ["0", "1", "2"]


def test_percentiles_are_at_most_a_fifth_too_long() -> None:
    counts = {36: 90, 48: 9, 60: 1}
    assert percentile(counts, 0.5) == 512
    assert percentile(counts, 0.95) == 4096
    assert percentile(counts, 1) == 32768
    assert percentile({}, 0.5) is None


def test_a_period_has_its_last_day() -> None:
    assert Period.until(date(2026, 11, 3), 3).days() == [date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 3)]


async def test_texts_are_a_part_of_what_was_spent_and_are_shown_as_such(console: Console) -> None:
    bob, today = await console.tenant(BOB), datetime.now(UTC).date()
    for day in (today, today - timedelta(days=10)):
        await console.store.admin.execute(
            "insert into spending (tenant_id, day, task_id, spent) values ($1, $2, '', 3), ($1, $2, 'texts', 1)",
            bob,
            day,
        )
    for viewer in (ANN, BOB):
        async with console.browser(viewer) as browser:
            await browser.get("/console/cost")
            for part in (
                "Spent on models $4.00",
                "Price of the segments $2.00",
                "Models and segments together $6.00",
            ):
                assert part in browser.text, (viewer, part)
    async with console.browser(ANN) as browser:
        await browser.get("/console/cost")
        assert "Somebody $6.00 none 0 $2.00" in browser.text


def test_amounts_are_in_the_operators_currency() -> None:
    euro = Currency.read("EUR=0.5")
    assert (money(3, euro), money(0.5, euro), money(3)) == ("EUR 1.50", "EUR 0.2500", "$3.00")
    day = date(2026, 1, 2)
    chart = draw_usage(Usage(Period(day, day), (), {day: Spending(Decimal(3), 2, Decimal(1))}), euro)[1]
    assert chart.title == "Cost a day, in EUR"
    assert chart.heads == ("Day", "Answers and tasks", "Background", "SMS")
    assert chart.cells == (("2 Jan", "EUR 0.00", "EUR 1.00", "EUR 0.5000"),)
