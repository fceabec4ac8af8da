"""The web: reading pages that a person names, and searching."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from onevalet.ability import Ability, named
from onevalet.foundations import OpeningFoundation

if TYPE_CHECKING:
    pass


def _opens(_: AsyncExitStack, foundation: OpeningFoundation) -> None:
    from abilities.web.page import read_html
    from core.http.pages import PageReader

    foundation.opened.add(PageReader, read_html)


# A PDF on the web is read like a PDF that a person sends.
ABILITY = Ability(
    name="web",
    needs=("documents",),
    settings=named("abilities.web.settings:WEB"),
    tools=("abilities.web.reading", "abilities.web.searching"),
    probes=named("abilities.web.probes:PROBES"),
    opens=_opens,
)
