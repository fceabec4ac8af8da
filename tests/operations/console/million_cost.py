"""What each page of the console costs with a million messages: `uv run -m tests.operations.console.million_cost`.

docs/measured/costs.md tells the figures; `test_million.py` holds what each page may read.
"""

import asyncio
import sys

import psutil

from core.db.database import Database
from onevalet.migrating import migrate
from tests.core.harness import opened
from tests.million import fill
from tests.operations.console.browser import Browser
from tests.operations.console.harness import ANN, Console, open_console
from tests.operations.console.test_million import OF_OPERATORS
from tests.services import private_postgres

WARMING, LOADS = 6, 10
"""Loads of a page: plans are kept from the sixth on, and CPU is told in ticks of 10 ms."""


async def main() -> None:
    """Print the milliseconds of each page."""
    async with private_postgres() as postgres:
        await migrate(postgres.url)
        await fill(postgres.url)
        async with (
            opened(postgres.url, Database(postgres.url)) as store,
            open_console(store, texts=True) as console,
            console.browser(ANN) as browser,
        ):
            for page, path in OF_OPERATORS.items():
                sys.stdout.write(f"{page}: {await _cpu(console, browser, path):.0f} ms\n")


async def _cpu(console: Console, browser: Browser, path: str) -> float:
    for _ in range(WARMING):
        await browser.get(path)
    ours = "select pid from pg_stat_activity where application_name = 'onevalet' and datname = current_database()"
    backends = [psutil.Process(row["pid"]) for row in await console.store.admin.fetch(ours)]
    before = sum(sum(backend.cpu_times()[:2]) for backend in backends)
    for _ in range(LOADS):
        await browser.get(path)
    return (sum(sum(backend.cpu_times()[:2]) for backend in backends) - before) / LOADS * 1000


if __name__ == "__main__":
    asyncio.run(main())
