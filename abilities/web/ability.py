"""The web: pages that a person names are read, and what they ask for is searched."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onevalet.ability import Ability, OwnSettings

if TYPE_CHECKING:
    from operations.doctor.types import Probe


def _settings() -> OwnSettings[Any]:
    from abilities.web.settings import WEB

    return WEB


def _probes() -> "Sequence[Probe]":
    from abilities.web.probes import PROBES

    return PROBES


ABILITY = Ability(
    name="web",
    settings=_settings,
    tools=("abilities.web.reading", "abilities.web.searching"),
    probes=_probes,
)
