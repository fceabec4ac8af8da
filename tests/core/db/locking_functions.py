"""Which SQL functions lock or change the rows that answers and decisions meet on, found by their bodies."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import asyncpg

MEETING = frozenset({"lanes", "outbound", "approvals"})
"""Tables whose rows a turn, a sender and a decision all want, at the same time."""

_BODIES = """
select p.proname::text as name, string_agg(p.prosrc, ';') as body, bool_or(p.prorettype = 'trigger'::regtype) as trigger
from pg_proc p join pg_language l on l.oid = p.prolang
where p.pronamespace = 'public'::regnamespace and l.lanname in ('sql', 'plpgsql') group by p.proname
"""
_NOISE = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
_CHANGED = re.compile(r"\b(?:update|delete\s+from)\s+(?:only\s+)?(\w+)")
_PUT = re.compile(r"\binsert\s+into\s+(\w+)[^;]*?\bdo\s+update\b")
_ANY = re.compile(r"\bexecute\s+format\(\s*'(?:update|delete from) %i\b")
_LOCKED = re.compile(r"\bfor\s+(?:(?:no\s+key\s+)?update|(?:key\s+)?share)(?:\s+of\s+(\w+))?\b")
_NAMED = re.compile(r"\b(?:from|join|,)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?")
_CALLED = re.compile(r"\b(\w+)\s*\(")


class Bodies(NamedTuple):
    """All functions of a migrated database: what each locks itself, and which functions it calls."""

    locks: Mapping[str, frozenset[str]]
    calls: Mapping[str, frozenset[str]]
    triggers: frozenset[str]

    def meeting(self) -> frozenset[str]:
        """Return the functions that lock or change rows of the tables, themselves or by what they call."""
        found = {name for name, tables in self.locks.items() if tables & MEETING}
        while more := {name for name, called in self.calls.items() if called & found} - found:
            found |= more
        return frozenset(found)


def locked_tables(body: str) -> frozenset[str]:
    """Return the tables whose rows a body locks, changes or deletes; a table that is named at run time may be any."""
    text = _NOISE.sub("''", body.lower())
    tables = {*_CHANGED.findall(text), *_PUT.findall(text), *(MEETING if _ANY.search(body.lower()) else ())}
    for statement in text.split(";"):
        for lock in _LOCKED.finditer(statement):
            named = [(table, alias or table) for table, alias in _NAMED.findall(statement)]
            tables |= {table for table, alias in named if lock[1] in (None, alias)}
    return frozenset(tables)


async def read_bodies(connection: "asyncpg.Connection[asyncpg.Record]") -> Bodies:
    """Return the functions as they are once all migrations are applied."""
    rows = await connection.fetch(_BODIES)
    names = {row["name"] for row in rows}
    return Bodies(
        {row["name"]: locked_tables(row["body"]) for row in rows},
        {
            row["name"]: frozenset(_CALLED.findall(_NOISE.sub("''", row["body"].lower()))) & names - {row["name"]}
            for row in rows
        },
        frozenset(row["name"] for row in rows if row["trigger"]),
    )
