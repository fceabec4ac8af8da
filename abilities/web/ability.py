"""The web: reading pages that a person names, and searching."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from onevalet.ability import Ability, OwnSettings
from onevalet.foundations import OpeningFoundation

if TYPE_CHECKING:
    from operations.doctor.types import Probe


def _settings() -> OwnSettings[Any]:
    from abilities.web.settings import WEB

    return WEB


def _probes() -> "Sequence[Probe]":
    from abilities.web.probes import PROBES

    return PROBES


def _opens(_: AsyncExitStack, foundation: OpeningFoundation) -> None:
    from abilities.web.page import read_html
    from core.http.pages import PageReader

    foundation.opened.add(PageReader, read_html)


# A PDF on the web is read like a PDF that a person sends.
ABILITY = Ability(
    name="web",
    needs=("documents",),
    settings=_settings,
    tools=("abilities.web.reading", "abilities.web.searching"),
    probes=_probes,
    opens=_opens,
)
