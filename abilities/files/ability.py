"""The assistant's work with files that people send: it sees, hears, reads, searches and sends them."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from abilities.files.words import LISTEN
from onevalet.ability import Ability, OwnSettings
from onevalet.foundations import SensesFoundation

if TYPE_CHECKING:
    from core.files.showing import ShowsFiles
    from operations.doctor.types import Probe


def _settings() -> OwnSettings[Any]:
    from abilities.files.settings import HEARING

    return HEARING


def _probes() -> "Sequence[Probe]":
    from abilities.files.probes import PROBES

    return PROBES


def _shows(foundation: SensesFoundation) -> "AbstractAsyncContextManager[ShowsFiles]":
    from abilities.files.opening import open_showing

    return open_showing(foundation)


ABILITY = Ability(
    name="files",
    needs=("documents",),
    settings=_settings,
    tools=("abilities.files.tools",),
    words=(LISTEN,),
    probes=_probes,
    shows=_shows,
)
