"""A copy of the secret keys under a passphrase: they are in no backup, and without them accounts do not open."""

import base64
import json
import os
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.credentials.encryption import CannotOpen, open_sealed, seal
from core.credentials.secret_keys import KEY_BYTES, SecretKeys, read_secret_key
from core.errors import ConfigError
from operations.archives.written import written

SHORTEST = 12
"""Letters of a passphrase."""
_SALT_BYTES = 16
# OWASP's and RFC 7914's order of magnitude: 128 MB and about half a second for each guess.
_COST, _BLOCK, _PARALLEL = 2**17, 8, 1
_PLACE = "secret keys"


class _SealedKeys(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1]
    what: Literal["onevalet secret keys"]
    # Files stay readable if a later version takes another cost; a stranger's file costs no more.
    cost: int = Field(ge=2**14, le=2**20)
    salt: str
    sealed: str


def write_keys(path: Path, keys: SecretKeys, passphrase: str) -> None:
    """Write the keys to a new file. Raises `ConfigError` for a short passphrase, `OSError` for the disk."""
    if len(passphrase) < SHORTEST:
        raise ConfigError(f"The passphrase must have {SHORTEST} letters or more: several words, for example.")
    salt = os.urandom(_SALT_BYTES)
    texts = [base64.b64encode(key.value).decode() for key in keys.all]
    sealed = seal(_derived(passphrase, salt, _COST), json.dumps(texts).encode(), _PLACE)
    told = _SealedKeys(format=1, what="onevalet secret keys", cost=_COST, salt=_text(salt), sealed=_text(sealed))
    with written(path) as out:
        out.write(told.model_dump_json(indent=1).encode() + b"\n")


def read_keys(path: Path, passphrase: str) -> SecretKeys:
    """Return the keys of a file, the newest first. Raises `ConfigError` with a sentence."""
    try:
        told = _SealedKeys.model_validate_json(path.read_bytes())
        salt, sealed = base64.b64decode(told.salt), base64.b64decode(told.sealed)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValidationError, ValueError) as error:
        raise ConfigError(f"{path} is no copy of secret keys, or it was cut or changed.") from error
    try:
        texts = json.loads(open_sealed(_derived(passphrase, salt, told.cost), sealed, _PLACE))
    except CannotOpen as error:
        raise ConfigError(f"{path} does not open: the passphrase is another, or the file was changed.") from error
    return SecretKeys(read_secret_key(text) for text in texts)


def _derived(passphrase: str, salt: bytes, cost: int) -> bytes:
    return Scrypt(salt=salt, length=KEY_BYTES, n=cost, r=_BLOCK, p=_PARALLEL).derive(passphrase.encode())


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
