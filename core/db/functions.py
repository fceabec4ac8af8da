"""Put SQL functions in place while processes call them: replaced if possible, dropped only if necessary."""

import asyncpg

from core.db.sql_files import SqlFile

type _Connection = asyncpg.Connection[asyncpg.Record]

# `xmin` changes when a function is replaced.
_KNOWN = """
select p.oid, p.xmin::text as version, p.proname as name, p.oid::regprocedure::text as signature from pg_proc p
where p.pronamespace = current_schema()::regnamespace and p.proname = any ($1)
"""


async def apply_functions(connection: _Connection, known: list[SqlFile]) -> list[str]:
    """Apply the files whose text changed, in a single transaction, and drop the functions that no file has any more."""
    applied = {row["name"]: row for row in await connection.fetch("select * from schema_functions")}
    changed = [file for file in known if file.name not in applied or applied[file.name]["checksum"] != file.checksum]
    kept = {name for file in known if file not in changed for name in file.functions}
    gone = applied.keys() - {file.name for file in known}
    replaced = [*gone, *(file.name for file in changed)]
    old = {name for file in replaced if file in applied for name in applied[file]["functions"]} - kept
    async with connection.transaction():
        # They call each other across files.
        await connection.execute("set local check_function_bodies = off")
        before = await connection.fetch(_KNOWN, list(old.union(*(file.functions for file in changed))))
        for file in changed:
            if before:
                await _replace(connection, file, before)
            else:
                await connection.execute(file.sql)
            await connection.execute(
                "insert into schema_functions as f (name, checksum, functions) values ($1, $2, $3) on conflict (name)"
                " do update set checksum = excluded.checksum, functions = excluded.functions",
                file.name,
                file.checksum,
                file.functions,
            )
        await _drop(connection, [row for row in before if row["name"] in old])
        await connection.execute("delete from schema_functions where name = any ($1)", list(gone))
    return [file.name for file in changed]


async def _replace(connection: _Connection, file: SqlFile, before: list[asyncpg.Record]) -> None:
    """Create a file's functions in place of the old functions.

    Replacing keeps a function's OID valid for sessions that are about to call it; dropping does not. A function has to
    be dropped if its result or the names of its parameters change.
    """
    for name, text in file.pieces():
        if name is None:
            await connection.execute(text)
            continue
        statement = text.replace("create function", "create or replace function", 1)
        try:
            async with connection.transaction():
                await connection.execute(statement)
        except asyncpg.InvalidFunctionDefinitionError:
            await _drop(connection, [row for row in before if row["name"] == name])
            await connection.execute(statement)


async def _drop(connection: _Connection, candidates: list[asyncpg.Record]) -> None:
    """Drop the functions that are unchanged since `candidates` were read."""
    now = {row["oid"]: row["version"] for row in await connection.fetch(_KNOWN, [row["name"] for row in candidates])}
    for row in candidates:
        if now.get(row["oid"]) == row["version"]:
            await connection.execute(f"drop function {row['signature']} cascade")
