"""Optional packages: which are installed, and which features the others would add."""

from collections.abc import Mapping

from core.errors import ConfigError
from core.messaging.channels import Check
from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings
from onevalet.wiring.extras import check_extras, is_installed
from onevalet.wiring.tracing import require_tracing

_LOST: Mapping[str, str] = {
    "media": "pictures and PDFs that people send are not read",
    "tracing": "no spans are recorded",
}
"""Left out are the extras of embedded servers: an installation has servers of its own."""


async def check_packages(settings: Settings) -> list[Check]:
    """Check that the extras of the settings are installed; report the features left out."""
    try:
        check_extras(settings)
        require_tracing(settings)
    except ConfigError as error:
        return [Check("packages", False, "some are missing", str(error))]
    lost = {**_LOST, **{extra.name: extra.without for ability in all_abilities() for extra in ability.extras}}
    left_out = [extra for extra in sorted(lost) if not is_installed(extra)]
    if not left_out:
        return [Check("packages", True, "all extras are installed")]
    detail = "; ".join(f"without onevalet[{extra}], {lost[extra]}" for extra in left_out)
    return [Check("packages", True, detail, "install the extra if you want it: docs/deploy.md")]
