"""`keys backup` and `keys restore`: a copy of the secret keys under a passphrase."""

import base64
import getpass
import sys
from pathlib import Path

from core.errors import ConfigError
from core.language.counted import counted
from onevalet.cli.runner import say
from onevalet.cli.session import system_keys
from onevalet.settings import Settings
from onevalet.wiring.secret_keys import with_key_file
from operations.backups.sealed_keys import read_keys, write_keys


async def write_copy(settings: Settings, file: Path) -> None:
    """Write the secret keys to a new file, under a passphrase."""
    keys = system_keys(with_key_file(settings, make=False))
    passphrase = _passphrase(twice=True)
    try:
        write_keys(file, keys, passphrase)
    except FileExistsError as error:
        raise ConfigError(f"{file} is there already.") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror or type(error).__name__}.") from error
    say(f"{file}: {counted(len(keys.all), 'secret key')}. Without the passphrase nobody opens it, you included.")


async def print_keys(file: Path) -> None:
    """Print the keys of a copy as the line that belongs into `.env`."""
    keys = read_keys(file, _passphrase(twice=False))
    say("ONEVALET_SECRET_KEYS=" + ",".join(base64.b64encode(key.value).decode() for key in keys.all))


def _passphrase(*, twice: bool) -> str:
    """Ask for a passphrase; from a pipe, its first line."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    given = getpass.getpass("Passphrase: ")
    if twice and getpass.getpass("Again: ") != given:
        raise ConfigError("The two differ: nothing was written.")
    return given
