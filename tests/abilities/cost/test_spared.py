"""What quiet hours spare is counted by its work, and shown with an estimate: people see their own."""

import re
from collections.abc import AsyncIterator
from functools import partial

import pytest

from abilities.cost.spared import count_spared
from core.budgets.budgeted_model import BudgetedModel
from core.budgets.self_started import NotNow, OutsideQuietHours, SelfStarted, SparedCalls, check_self_started
from core.journal.types import StepKey
from core.llm.types import ChatMessage, ModelRequest, Role
from tests.core.builders import FakeModel, says
from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console

PAGE = "/console/spared"
REQUEST = ModelRequest((ChatMessage(Role.USER, "What is new?"),))
ALWAYS = "update tenants set quiet_from = '00:00', quiet_until = '23:59', timezone = 'UTC' where tenant_id = $1"


@pytest.fixture
async def console(database_url: str) -> AsyncIterator[Console]:
    async with opened(database_url) as store, open_console(store) as console:
        yield console


async def spare(console: Console, sender: str, work: str, times: int) -> None:
    """Let work of a person's ask a model in their quiet hours, so many times."""
    store, tenant = console.store, await console.tenant(sender)
    await store.admin.execute(ALWAYS, tenant)
    gate = OutsideQuietHours(store.database, console.clock, SparedCalls(partial(count_spared, store.database)))
    budgeted = BudgetedModel(FakeModel([says("no")] * times), store.database, work=work)
    for number in range(times):
        with pytest.raises(NotNow):
            await SelfStarted(gate, budgeted.ask)(tenant, "look", StepKey(0, number), REQUEST)
    with pytest.raises(NotNow):
        await SelfStarted(gate, check_self_started)(tenant)  # a look that names no work is no call


async def priced(console: Console, sender: str, work: str, calls: int, dollars: str) -> None:
    """Let a work of a person's have made calls for this much together."""
    await console.store.admin.execute(
        "insert into usage_days (tenant_id, day, kind, name, calls, cost)"
        " values ($1, current_date, 'background', $2, $3, $4::text::numeric)",
        await console.tenant(sender),
        work,
        calls,
        dollars,
    )


async def test_what_was_spared_is_shown_by_work_with_an_estimate(console: Console) -> None:
    await spare(console, BOB, "memory", 3)
    await spare(console, BOB, "embeddings", 1)
    await priced(console, BOB, "memory", 10, "0.5")
    await spare(console, ANN, "memory", 4)
    async with console.browser(BOB) as browser:
        await browser.get(PAGE)
        assert _rows(browser.page) == [["memory", "3", "about $0.1500"], ["embeddings", "1", "not known"]]
    async with console.browser(ANN) as browser:
        await browser.get(PAGE)
        assert _rows(browser.page)[0][:2] == ["memory", "7"], "an operator sees the sums of all"


async def test_old_days_are_not_shown(console: Console) -> None:
    await spare(console, BOB, "memory", 1)
    await console.store.admin.execute("update spared_calls set day = day - 40")
    async with console.browser(BOB) as browser:
        await browser.get(PAGE)
        assert "Nothing was spared yet" in browser.text


def _rows(page: str) -> list[list[str]]:
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("</tr>")[:-1]]
