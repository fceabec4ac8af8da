"""`keys discard`: list the data sealed under a lost secret key, and delete it on request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.db.database import Database
from core.language.counted import counted
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import open_database
from onevalet.servers.home import find_running, hold_home
from onevalet.servers.services import embedded_services
from onevalet.settings import Settings
from onevalet.wiring.secret_keys import secret_keys, with_key_file
from operations.keys.lost import discard_lost, find_lost


async def discard(settings: Settings, *, yes: bool, as_json: bool) -> None:
    """List the data that no secret key of the settings opens; with `yes`, delete it."""
    given = with_key_file(settings, make=False)
    keys = secret_keys(given) if given.onevalet_secret_keys else None
    async with _opened(settings) as database:
        lost = await (discard_lost if yes else find_lost)(database, keys)
    if as_json:
        say_json({"discarded": yes, "data_keys": len(lost.keys), "rows": list(lost.rows)})
        return
    if not lost.keys:
        say("Everything opens with your secret keys: there is nothing to discard.")
        return
    for row in lost.rows:
        say(f"{'discarded' if yes else 'lost'}  {row}")
    keys_lost = counted(len(lost.keys), "data key")
    if yes:
        say(f"Discarded {keys_lost} that nothing opens. People can connect their accounts again.")
    else:
        say(f"None of your secret keys opens {keys_lost}. Nothing was changed: --yes discards them.")


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Database]:
    """Yield the system's database; start an embedded database if `dev` is off: without its key it cannot start."""
    home = settings.onevalet_home
    if settings.database_url is not None or find_running(home) is not None:
        async with open_database(settings, "keys") as database:
            yield database
        return
    with hold_home(home):
        async with embedded_services(home, database=True, redis=False) as services:
            database = Database(str(services.serving_url), size=1, name="onevalet keys")
            try:
                yield database
            finally:
                await database.close()
