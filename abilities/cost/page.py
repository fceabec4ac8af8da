"""The page of an answer that its person reads by a link instead of in many texts: `/answer/TOKEN`."""

import re
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web

from abilities.cost.links import PATH, AnswerLinks
from channels.http.connections import proven
from channels.http.pages.languages import speaking_to
from channels.http.pages.templates import Templates
from core.clock import Clock
from core.ids import PARTITION
from onevalet.foundations import WebFoundation

_TEMPLATES = Templates(Path(__file__).parent / "templates")
_TOKEN = re.compile(rf"{PARTITION}[0-9a-f]{{32}}")


def open_routes(foundation: WebFoundation) -> Sequence[web.RouteDef]:
    """Return the page's route; none without a public address, at which it would be."""
    if not foundation.settings.public_url:
        return ()
    links = AnswerLinks(foundation.database, foundation.settings.public_url, foundation.credentials.keys)
    return AnswerPage(links, foundation.clock).routes()


class AnswerPage:
    """Serve the page. Chats open links to preview them, so opening it uses nothing up."""

    def __init__(self, links: AnswerLinks, clock: Clock) -> None:
        self._links = links
        self._clock = clock

    def routes(self) -> Sequence[web.RouteDef]:
        return [proven(web.get(f"{PATH}/{{token}}", self._show), self._shown)]

    def _shown(self, request: web.Request) -> str | None:
        token = request.match_info["token"]
        return f"answer {token}" if self._links.tokens.is_ours(token) else None

    async def _show(self, request: web.Request) -> web.StreamResponse:
        token = request.match_info["token"]
        answer = await self._links.read(token, self._clock.now()) if _TOKEN.fullmatch(token) else None
        with speaking_to(request, answer.language if answer else None):
            if answer is None:
                return _TEMPLATES.page("over.html", {}, status=404)
            return _TEMPLATES.page("answer.html", {"text": answer.text})
