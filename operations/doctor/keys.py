"""The check that every person's data key is wrapped with a configured secret key."""

from collections.abc import Sequence

from core.errors import ConfigError
from core.language.counted import counted
from core.messaging.channels import Check
from onevalet.wiring.secret_keys import secret_keys, with_key_file
from operations.doctor.types import Installation
from operations.keys.rotation import count_data_keys

_NAME = "secret keys"


async def check_secret_keys(installation: Installation) -> Sequence[Check]:
    """Try each data key with the secret keys of the settings."""
    if installation.database is None:
        return []
    try:
        keys = secret_keys(with_key_file(installation.settings, make=False))
    except (ConfigError, ValueError) as error:
        return [Check(_NAME, False, "cannot be used", str(error))]
    under = await count_data_keys(installation.database, keys)
    detail = f"{counted(under.newest, 'data key')} under the newest, {under.older} under older ones"
    if under.unopened:
        lost = f"{detail}, {under.unopened} under keys that are missing or do not open them"
        return [Check(_NAME, False, lost, "put the missing key back into ONEVALET_SECRET_KEYS")]
    return [Check(_NAME, True, detail, "run `bin/onevalet keys rotate`" if under.older else "")]
