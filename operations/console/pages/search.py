"""The page that finds messages by their words."""

from collections.abc import Sequence

from aiohttp import web

from operations.console.pages.base import Kit, Pages, signed_in
from operations.console.reading.conversations import Cursor
from operations.console.reading.search import PAGE, ConsoleSearch
from operations.console.sign_in import PATH
from operations.console.visits import Visit

MAX_WORDS = 200
"""Characters of a question."""


class SearchPages(Pages):
    """Show the messages that have all of the words."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit)
        self._search = ConsoleSearch(kit.texts)

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/search", self._show)]

    @signed_in
    async def _show(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        words = " ".join(request.query.get("q", "").split())[:MAX_WORDS]
        after = Cursor.read(request.query.get("after", ""))
        found = await self._search.find(visit, words, after, self.kit.now()) if words else []
        return self.kit.page(
            "search.html",
            visit,
            here="conversations",
            words=words,
            found=found,
            everybody=self._search.everybody(visit.viewer),
            next=str(found[-1].cursor) if len(found) == PAGE else "",
        )
