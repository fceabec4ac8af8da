"""`backup` and `restore`: the whole installation as a single file, taken while it runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from core.clock import Clock
from core.db.database import Database
from core.db.sql_files import load_migrations
from core.errors import ConfigError
from core.ids import make_id
from core.language.counted import counted
from onevalet.cli.runner import say, say_json
from onevalet.servers.home import find_running, hold_home
from onevalet.servers.services import embedded_services
from onevalet.settings import Settings
from onevalet.wiring.backups import backup_folder, build_taker, owner_url
from onevalet.wiring.connections import database_url
from onevalet.wiring.file_store import build_blobs
from onevalet.wiring.secret_keys import secret_keys, with_key_file
from operations.archives.zips import ArchiveRefused
from operations.backups.restoring import Restorer
from operations.backups.schedule import BackupLog, backup_name
from operations.backups.types import Backup, BackupFailed, open_backup


@dataclass(frozen=True, slots=True)
class _Place:
    """The database, for its owner and for those who serve."""

    owner_url: str
    serving_url: str


async def back_up(settings: Settings, file: Path | None, *, as_json: bool) -> None:
    """Take a backup into a new file, by default in the folder of backups."""
    clock = Clock(settings.onevalet_clock)
    path = file or backup_folder(settings) / backup_name(clock.now())
    if path.exists():
        raise ConfigError(f"{path} is there already.")
    async with _place(settings) as place:
        database = Database(place.serving_url, size=1, name="onevalet backups")
        blobs = build_blobs(settings)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            taken = await BackupLog(database, clock, make_id).take(build_taker(settings, blobs, place.owner_url), path)
        except BackupFailed as error:
            raise ConfigError(str(error)) from error
        except OSError as error:
            cause = error.strerror or str(error) or type(error).__name__
            raise ConfigError(f"No backup was written to {path}: {cause}.") from error
        finally:
            await blobs.close()
            await database.close()
    if taken is None:
        raise ConfigError("Another backup is being taken at this moment: wait for its end.")
    _tell(taken, as_json=as_json)


async def restore(settings: Settings, file: Path, *, replace: bool, verify: bool) -> None:
    """Restore a backup, or with `verify` only try it; raise `ConfigError` if it does not fit."""
    try:
        backup = await asyncio.to_thread(open_backup, file)
        async with _place(settings) as place:
            restorer = Restorer(place.owner_url)
            if verify:
                await restorer.verify(backup)
            else:
                await _put_back(settings, restorer, backup, replace=replace)
    except (ArchiveRefused, BackupFailed) as error:
        raise ConfigError(str(error)) from error
    held = f"{counted(backup.rows, 'row')} and {counted(len(backup.files), 'file')}"
    what = f"{held} of {backup.manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"
    if verify:
        say(f"{file} can be restored: {what}, each as it was. Nothing was changed.")
    else:
        say(f"Restored: {what}.")
        if backup.manifest.schema_version < len(load_migrations()):
            say("It is of an older version: run `migrate` before you start web and worker.")
    _tell_lacks(settings, backup)


async def _put_back(settings: Settings, restorer: Restorer, backup: Backup, *, replace: bool) -> None:
    blobs = build_blobs(settings)
    try:
        await restorer.restore(backup, blobs, replace=replace)
    except OSError as error:
        raise ConfigError(f"People's files cannot be stored: {error.strerror or error}.") from error
    finally:
        await blobs.close()


def _tell(taken: Backup, *, as_json: bool) -> None:
    size, lost = taken.path.stat().st_size, len(taken.manifest.lost)
    if as_json:
        told = {"file": str(taken.path), "bytes": size, "rows": taken.rows, "files": len(taken.files), "lost": lost}
        say_json(told | {"taken_at": taken.manifest.taken_at.isoformat()})
        return
    say(f"{taken.path}: {counted(taken.rows, 'row')} and {counted(len(taken.files), 'file')}, {size} bytes.")
    if lost:
        say(f"Not in the store any more, whose bytes were lost before: {counted(lost, 'file')} of people.")
    say("The secret keys are not in it: `keys backup FILE` writes them, under a passphrase.")


def _tell_lacks(settings: Settings, backup: Backup) -> None:
    given = with_key_file(settings, make=False)
    known = {key.id for key in secret_keys(given).all} if given.onevalet_secret_keys else set()
    missing = set(backup.manifest.secret_keys) - known
    if missing:
        number = f" {counted(len(missing), 'secret key')} that it needs" if known else " the secret keys that it needs"
        say(
            f"Not in ONEVALET_SECRET_KEYS:{number}. People's accounts do not open without: `keys restore FILE` prints"
            " the keys of a copy."
        )
    if backup.manifest.lost:
        say(f"Lost already when it was taken: {counted(len(backup.manifest.lost), 'file')}.")


@asynccontextmanager
async def _place(settings: Settings) -> AsyncIterator[_Place]:
    """Yield the database of a running `dev` or of the settings, else the embedded database, started for the block."""
    home = settings.onevalet_home
    if (running := find_running(home)) is not None:
        yield _Place(running.owner_url, running.database_url)
    elif settings.database_url is not None:
        yield _Place(owner_url(settings), database_url(settings))
    else:
        with hold_home(home):
            async with embedded_services(home, database=True, redis=False) as services:
                yield _Place(str(services.database_url), str(services.database_url))
