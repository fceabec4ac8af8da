"""What a removed write returns has the names that its caller reads."""

from pathlib import Path

import asyncpg

from tests.faults.crashing import DROPPED

ROOTS = ("core", "abilities", "channels", "jobs", "providers")
_COLUMNS = """
select array_agg(name) filter (where name is not null) as names
from pg_proc f left join unnest(f.proargnames, f.proargmodes) as a(name, mode) on mode in ('t', 'o')
where f.proname = $1
"""


SOURCES = [path.read_text(encoding="utf-8") for root in ROOTS for path in Path(root).rglob("*.py")]


async def test_a_removed_write_returns_names_that_its_caller_reads(database_url: str) -> None:
    admin = await asyncpg.connect(database_url)
    unknown = set()
    for function, rows in DROPPED.items():
        columns = await admin.fetchval(_COLUMNS, function) or ()
        for name in rows[0] if rows else ():
            named = any(f"{function}(" in source and f" as {name}" in source for source in SOURCES)
            if name not in columns and not named:
                unknown.add((function, name))
    await admin.close()
    assert unknown == set()
