"""`migrate` and `migrate --check`: applied and pending changes, and which of them the running version can serve."""

import typer

from core.db.pending import DatabaseState
from core.db.sql_files import SqlFile
from onevalet.cli.runner import say
from onevalet.migrating import check_database, migrate
from onevalet.settings import Settings
from onevalet.wiring.connections import database_url

PENDING = 1
NEWER = 3
"""Exit codes of `--check`; 2 says that the settings or the database cannot be used."""


async def apply_pending(settings: Settings) -> None:
    """Apply the missing changes and list them."""
    url = database_url(settings)
    applied = await migrate(url)
    say("\n".join(f"applied {name}" for name in applied) or describe(await check_database(url)))


async def print_pending(settings: Settings) -> None:
    """Print the changes that `migrate` would make; exit with 0 if there are none."""
    state = await check_database(database_url(settings))
    say(describe(state))
    if state.is_newer:
        raise typer.Exit(NEWER)
    if not state.is_current:
        raise typer.Exit(PENDING)


def describe(state: DatabaseState) -> str:
    """Return sentences about the state of a database for this code."""
    if state.is_newer:
        newer = (
            f"The database is newer than this code: it has migration {state.newest}, this code ends with {state.known}."
        )
        if state.serves_this_code:
            return f"{newer} It still serves this code, and there is nothing to apply."
        return f"{newer} It serves code from migration {state.serves_from} on: deploy newer code."
    if state.is_current:
        return f"The database is up to date: migration {state.newest}."
    return "\n".join([_count(state), *_each(state)])


def _count(state: DatabaseState) -> str:
    migrations = (*state.migrations, *state.of_abilities)
    counts = [_many(len(migrations), "migration")] if migrations else []
    counts += [_many(len(state.functions), "file") + " of functions"] if state.functions else []
    is_one = len(migrations) + len(state.functions) == 1
    return f"{' and '.join(counts)} {'is' if is_one else 'are'} pending:"


def _each(state: DatabaseState) -> list[str]:
    unsafe = state.unsafe()
    lines = [f"  {migration.name}: {_may_run(migration, unsafe)}" for migration in state.migrations]
    lines += [f"  {migration.name}: safe" for migration in state.of_abilities]
    if state.functions:
        lines.append(f"  functions {', '.join(state.functions)}: {'only then' if unsafe else 'safe'}")
    if state.newest == 0:
        return ["  all of them: the database is empty"]
    if unsafe:
        lines.append("Stop the processes of the previous version, then run `migrate`.")
    else:
        lines.append("All of it is safe while the previous version is running.")
    return lines


def _may_run(migration: SqlFile, unsafe: list[SqlFile]) -> str:
    if migration not in unsafe:
        return "safe"
    return f"only once all code from before migration {migration.serves_from} has stopped: {migration.takes_away}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
