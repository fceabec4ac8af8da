"""Whether the web can be searched."""

from collections.abc import Sequence

from core.messaging.channels import Check
from onevalet.settings import Settings


async def check_search(settings: Settings) -> Sequence[Check]:
    """Check that a search service is set; an incomplete setting was refused before."""
    if settings.onevalet_search:
        return [Check("web search", True, settings.onevalet_search)]
    how = "set ONEVALET_SEARCH to searxng, brave or tavily (docs/web.md)"
    return [Check("web search", True, "off: pages are read, nothing is searched", how)]
