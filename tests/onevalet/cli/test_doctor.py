"""`doctor` as a command: what stands in its table."""

import base64
import os
from pathlib import Path

from onevalet.cli.doctor import run_checks
from onevalet.settings import load_settings
from tests.core.harness import Store


async def test_what_could_not_be_delivered_is_listed_by_id(store: Store, redis_url: str, tmp_path: Path) -> None:
    await store.enqueue(*(f"answer {number}" for number in range(7)))
    ids = await store.column("select id from outbound order by created_at desc, id")
    await store.db.outbound.change({"state": "failed", "reason": "gone"})
    await store.db.turns.change({"state": "poison"})
    settings = load_settings(
        database_url=store.url,
        redis_url=redis_url,
        onevalet_home=tmp_path / "home",
        onevalet_secret_keys=base64.b64encode(os.urandom(32)).decode(),
    )
    [trouble] = [check for check in await run_checks(settings) if check.what == "trouble"]
    [turn] = await store.db.turns.column("id")
    listed = ", ".join(str(id) for id in ids[:5])
    assert trouble.detail == f"0 ambiguous, 7 not deliverable ({listed} …), 1 set aside ({turn})"
    assert trouble.fix == "see `trace ID` for each"
