"""Promise 5, seen from the receipts: workers die by `kill -9`, and each effect still has exactly one receipt."""

import json
from datetime import UTC
from functools import partial
from pathlib import Path

import pytest

from abilities.receipts.store import ReceiptReader
from abilities.receipts.types import ReceiptOutcome
from core.db.database import Database
from tests.abilities.receipts.acting import ALWAYS
from tests.forker import Forker
from tests.kills.harness import INSIDE, MARKS, run_kills

BETWEEN = ("begun", "0.0", "1.1")


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_each_effect_has_one_receipt_under_kill_9(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    fates = await run_kills(tmp_path, database_url, redis_url, [*BETWEEN, *INSIDE], forker)
    database = Database(database_url)
    try:
        tenants = [row["tenant_id"] for row in await database.rows("select tenant_id from find_tenants(100)")]
        told: dict[str, list[tuple[int, ReceiptOutcome]]] = {}
        for tenant in tenants:
            reader = ReceiptReader(partial(database.tenant_rows, tenant), UTC)
            async for receipt in reader.in_order(ALWAYS):
                asked = json.loads(receipt.asked)
                told.setdefault(asked["turn"], []).append((asked["number"], receipt.outcome))
    finally:
        await database.close()
    assert len(told) == len(fates)
    for number, fate in enumerate(fates):
        lost = int(fate.plan.split()[1][0]) if fate.plan in INSIDE else None
        wanted = [(mark, ReceiptOutcome.UNKNOWN if mark == lost else ReceiptOutcome.DONE) for mark in range(MARKS)]
        assert told[f"k{number:02}"] == wanted, fate
        assert {mark for mark, outcome in wanted if outcome is ReceiptOutcome.DONE} <= set(fate.marks)
