"""The page of receipts in Chromium: closed and opened, at both widths, light and dark."""

import os
from pathlib import Path

import pytest

from tests.abilities.receipts.test_pages import act
from tests.core.harness import Store, opened
from tests.operations.console.asking import ask
from tests.operations.console.harness import ANN, Console, open_console
from tests.page.chromium import NARROW, WIDE, Page
from tests.page.looks import SCHEMES, flaws, shown

pytestmark = [pytest.mark.timeout(600, func_only=True), pytest.mark.xdist_group("dev"), pytest.mark.slow]
PICTURES = os.environ.get("ONEVALET_PICTURES", "")
"""A folder for pictures of each view; empty for none."""


async def approved(console: Console, store: Store) -> None:
    """Let Ann approve a letter, and let it be sent."""
    approval = await ask(console, ANN)
    await store.admin.execute(
        "update approvals set state = 'approved', decided_how = 'button', decided_channel = 'slack',"
        " decided_at = now(), decided_by = (select id from identities where user_key = $2) where id = $1",
        approval,
        ANN,
    )
    await store.admin.execute(
        "insert into steps (tenant_id, turn_id, step, call_index, kind, name, args_hash, effect, state, result,"
        " finished_at) select tenant_id, turn_id, 0, 1, 'tool', 'send_letter', '', 'once', 'done',"
        ' \'{"text": "Sent to carol@example.org, and a very long answer of the service besides: '
        + "0123456789abcdef" * 12
        + "\"}', now() from approvals where id = $1",
        approval,
    )


async def test_receipts_fit_and_can_be_used_by_everybody(page: Page, database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, local=True) as console:
        place = f"{console.url}/console/receipts"
        await page.visit(place)
        assert "Nothing was done in your name" in await shown(page)
        assert await flaws(page) == []
        await act(store, ANN, "Rang the bell of the garden door.", "Rang again.")
        await act(store, ANN, "", outcome="unknown")
        await approved(console, store)
        await page.visit(place)
        assert "approved by you with a button, Slack" in await shown(page)
        assert await flaws(page) == []
        await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert "carol@example.org" in await shown(page)
        assert await flaws(page) == []
        for size in (NARROW, WIDE) if PICTURES else ():
            await page.resize(size)
            for scheme in SCHEMES:
                await page.colours(scheme)
                await page.screenshot(Path(PICTURES) / f"receipts-{size[0]}-{scheme}.png")
