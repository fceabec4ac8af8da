"""The secret keys of a process: ONEVALET_SECRET_KEYS, and for `dev` a key file that it creates once."""

import base64
import os
from pathlib import Path

from pydantic import SecretStr

from core.credentials.secret_keys import KEY_BYTES, SecretKeys, read_secret_key
from core.db.database import Database
from core.errors import ConfigError
from onevalet.settings import Settings
from operations.keys.lost import find_lost

HOW = "make a key with `openssl rand -base64 32`, give it to every web and worker, and keep a copy elsewhere."


def secret_keys(settings: Settings) -> SecretKeys:
    """Return the keys of the settings; raise `ConfigError` when there is none."""
    if not settings.onevalet_secret_keys:
        raise ConfigError(f"ONEVALET_SECRET_KEYS is not set: {HOW}")
    return SecretKeys(read_secret_key(key.get_secret_value()) for key in settings.onevalet_secret_keys)


def key_file(home: Path) -> Path:
    return home / "secret.key"


def with_key_file(settings: Settings, *, make: bool) -> Settings:
    """Return settings with the file's key as the oldest key. `make`: create the file if there is no key at all.

    A key that is set later is newer: data under the file's key stays readable, and `keys rotate` moves it.
    """
    path = key_file(settings.onevalet_home)
    if make and not settings.onevalet_secret_keys and not path.exists():
        make_key(path)
    if not path.exists():
        return settings
    keys = (*settings.onevalet_secret_keys, _read(path))
    return settings.model_copy(update={"onevalet_secret_keys": keys})


async def key_for(settings: Settings, database: Database) -> Settings:
    """Return settings with the file's key, which is created if there is no key at all and nothing is sealed.

    Raise `ConfigError` if the file is gone, so that sealed data of the database cannot be read.
    """
    path = key_file(settings.onevalet_home)
    if not path.exists():
        lost = await find_lost(database, secret_keys(settings) if settings.onevalet_secret_keys else None)
        if lost.keys and not lost.some_open:
            rows = f": {lost.in_words()}" if lost.rows else ""
            raise ConfigError(
                f"The secret key in {path} is missing, and what was sealed with it cannot be read{rows}; put back your"
                " copy of the file, or set ONEVALET_SECRET_KEYS to what it held, or, if it is lost, discard that with"
                " `bin/onevalet keys discard --yes`."
            )
    return with_key_file(settings, make=True)


def make_key(path: Path) -> None:
    """Create a file with a random key that only its owner may read; keep an existing file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)  # left by a killed process
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(base64.b64encode(os.urandom(KEY_BYTES)) + b"\n")
        file.flush()
        os.fsync(fd)
    try:
        os.link(fresh, path)  # never over a key that another process made at this moment
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def read_key(path: Path, when_damaged: str) -> str:
    """Return a file's key in base64, and make the file private. `when_damaged`: the remedy in a `ConfigError`."""
    try:
        path.chmod(0o600)
        text = path.read_text().strip()
        read_secret_key(text)
    except OSError as error:
        raise ConfigError(f"The secret key in {path} cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise ConfigError(f"The secret key in {path} is damaged: {when_damaged}.") from error
    return text


def _read(path: Path) -> SecretStr:
    return SecretStr(read_key(path, "put back your copy of it"))
