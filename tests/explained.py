"""What the statements of our connections did in Postgres, by auto_explain: also those inside of functions."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import asyncpg

from core.db.database import Acquired, Database

# Times of single nodes are left out: to take them costs more than the work.
_SETTINGS = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
}


@dataclass(frozen=True, slots=True)
class Scan:
    """A table that a statement read. `rows`: all that were looked at, those left out by a condition included."""

    table: str
    how: str
    rows: int
    statement: str
    indexes: frozenset[str]


class ExplainedDatabase(Database):
    """A database that keeps what its statements read, once it was told to `explain`.

    `scans` may be a list that several databases share.
    """

    def __init__(self, url: str, *, scans: list[Scan] | None = None, **options: Any) -> None:
        super().__init__(url, **options)
        self.scans = [] if scans is None else scans

    async def _connection(self) -> Acquired:
        acquired = await super()._connection()
        acquired[1].add_log_listener(self._heard)
        return acquired

    def _heard(self, _: object, message: Any) -> None:
        _, found, plan = str(message.message).partition("plan:\n")
        if found:
            explained = json.loads(plan)
            self.scans += _scans(explained["Plan"], explained["Query Text"])


async def explain(admin: "asyncpg.Connection[asyncpg.Record]", *, on: bool) -> None:
    """Have the database's next connections explain what they do, or no more."""
    name = await admin.fetchval("select current_database()")
    for setting, value in {**_SETTINGS, "auto_explain.log_min_duration": "0" if on else "-1"}.items():
        await admin.execute(f"alter database {name} set {setting} = '{value}'")


def _scans(node: dict[str, Any], statement: str) -> Iterator[Scan]:
    if "Relation Name" in node and "Actual Rows" in node:
        seen = sum(
            node.get(name, 0) for name in ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
        )
        rows = round(seen * node["Actual Loops"])
        yield Scan(node["Relation Name"], node["Node Type"], rows, statement, frozenset(_indexes(node)))
    for below in node.get("Plans", ()):
        yield from _scans(below, statement)


def _indexes(node: dict[str, Any]) -> Iterator[str]:
    """Return by which indexes a node finds its rows; a bitmap is made of the nodes below it."""
    if "Index Name" in node:
        yield node["Index Name"]
    elif node["Node Type"].startswith("Bitmap"):
        for below in node.get("Plans", ()):
            yield from _indexes(below)
