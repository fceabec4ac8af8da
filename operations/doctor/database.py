"""The checks that the database answers, has the tables of this code, and accepts writes."""

from collections.abc import Sequence

from core.db.database import Database
from core.db.sql_files import load_migrations
from core.errors import OneValetError
from core.messaging.channels import Check
from onevalet.migrating import all_functions, migrations_of_abilities


async def check_database(database: Database) -> Sequence[Check]:
    """Check whether Postgres answers, and whether all migrations and functions of this version are applied."""
    try:
        row = await database.call("select max(number) as newest from schema_migrations")
        functions = await database.rows("select name, checksum from schema_functions")
        has = {row["name"] for row in await database.rows("select name from schema_ability_migrations")}
    except OneValetError as error:
        fix = "start Postgres, or correct DATABASE_URL"
        return [Check.failed("database", error, "does not answer", fix)]
    except Exception as error:  # any answer of an incomplete database is shown, not raised
        return [Check("database", False, type(error).__name__, "run `bin/onevalet migrate`")]
    known = load_migrations()[-1].number
    newest = row["newest"] if row and row["newest"] else 0
    same = {row["name"]: row["checksum"] for row in functions} == {file.name: file.checksum for file in all_functions()}
    lacking = ", ".join(file.name for file in migrations_of_abilities() if file.name not in has)
    fix = "" if newest == known and same and not lacking else "run `bin/onevalet migrate`"
    detail = f"answers; migration {newest} of {known}{'' if same else ', functions of another version'}"
    detail += f", without {lacking}" if lacking else ""
    return [Check("database", not fix, detail, fix)]


async def check_writes(database: Database) -> Sequence[Check]:
    """Check whether the database accepts writes (it may be full or read-only), and count redraws that were given up."""
    try:
        await database.call("select probe_write()")
        stuck = await database.one("select count_stuck_redraws() as redraws")
    except OneValetError as error:
        todo = "make room on its disk, or end its read-only mode"
        return [Check.failed("database writes", error, f"not taken ({error})", todo)]
    taken = Check("database writes", True, "taken")
    if not stuck["redraws"]:
        return [taken]
    detail = f"{stuck['redraws']} cards that could not be redrawn"
    return [taken, Check("not tried any more", True, detail, "the log says why: redraw_set_aside")]
