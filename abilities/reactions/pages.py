"""The console's page of feedback: the answers that people liked, and those that they disliked."""

from collections.abc import Sequence
from dataclasses import replace

from aiohttp import web

from abilities.reactions.reading import list_feedback
from onevalet.ability import ConsolePages
from operations.console.live import version_of
from operations.console.pages.base import Pages, signed_in
from operations.console.sign_in import PATH
from operations.console.visits import Visit

HERE = f"{PATH}/feedback"
_VIEWS = {"liked": True, "disliked": False}


class FeedbackPages(Pages):
    """Show the reactions to answers: people see their own, with the words of the answers."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(HERE, self._list)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        view = request.query.get("view", "")
        rows = await list_feedback(visit.scope)
        shown = [row for row in rows if view not in _VIEWS or row.liked is _VIEWS[view]]
        # A list is no look that is recorded, so it shows nobody's words but the viewer's own.
        shown = [
            row if self.kit.texts.may_preview(visit.viewer, row.tenant_id) else replace(row, text="") for row in shown
        ]
        return self.kit.page(
            "reactions/feedback.html",
            visit,
            here="feedback",
            rows=shown,
            view=view if view in _VIEWS else "",
            liked=sum(row.liked is True for row in rows),
            disliked=sum(row.liked is False for row in rows),
            version=version_of(shown),
        )


PAGES = ConsolePages([FeedbackPages], menu=[("feedback", "Feedback")])
