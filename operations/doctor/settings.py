"""The check of variables that look like settings and have no effect."""

from collections.abc import Sequence

from core.messaging.channels import Check
from onevalet.settings import Settings
from onevalet.unknown_settings import retired_settings, unknown_settings, variables

_WHAT = "settings"


async def check_names(_: Settings) -> Sequence[Check]:
    """Find settings that are retired, and names that are no setting of this installation."""
    names = variables()
    retired = [Check(_WHAT, True, told, f"remove {name}") for name, told in retired_settings(names).items()]
    unknown = [
        Check(_WHAT, False, told, f"correct or remove {name}, or name its plugin in ONEVALET_PLUGINS")
        for name, told in unknown_settings(names).items()
    ]
    return [*retired, *unknown]
