"""Decisions that Python makes by facts from SQL: written in one transaction, and only if the facts are still so.

Two calls, so that no lock waits for Python, and that each is a transaction of its own wherever the function runs, also
behind a router of partitions: the first returns the facts, the second locks, compares them and writes.
"""

from collections.abc import Callable
from typing import Any

import asyncpg

from core.db.database import Database
from core.errors import FactsChanged, StoreUnavailable
from core.json_types import JsonObject

MOST_DECISIONS = 20
"""How often a decision is made anew because its facts changed, before its caller has to try again."""

type Statement = tuple[str, tuple[object, ...]]
"""A repeatable statement and its arguments."""
type Facts = dict[str, Any]


async def decide_and_write[Made](
    database: Database,
    read: Statement,
    decide: Callable[[Facts], Made],
    write: Callable[[JsonObject, Made], Statement],
) -> tuple[Made, asyncpg.Record]:
    """Decide by the facts in the column `facts`; return the decision and the row of its write.

    The write raises `FactsChanged` if the facts that it is handed are no longer so.
    """
    statement, arguments = read
    for _ in range(MOST_DECISIONS):
        facts = (await database.one(statement, *arguments))["facts"]
        made = decide(facts)
        writing, values = write(facts, made)
        try:
            return made, await database.one(writing, *values)
        except FactsChanged:
            continue
    raise StoreUnavailable("facts that keep changing")
