"""`doctor`'s word about the key that signs receipts, by which others know this installation's files."""

from collections.abc import Sequence

from core.errors import ConfigError
from core.messaging.channels import Check
from onevalet.cli.session import system_keys
from onevalet.settings import Settings
from operations.doctor.types import Area, over_settings


async def tell_key(settings: Settings) -> Sequence[Check]:
    """Return the fingerprint of the key; nothing without secret keys, of which `doctor` tells elsewhere."""
    from abilities.receipts.keys import fingerprint, signing_keys

    try:
        newest = signing_keys(system_keys(settings))[0]
    except (ConfigError, ValueError):
        return []
    return [Check("receipts", True, f"signed by the key {fingerprint(newest.public)}")]


PROBES = (over_settings(Area.KEYS, "receipts", tell_key),)
