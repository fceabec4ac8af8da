"""The console's page of webhooks: the endpoints, for operators, and the messages about each person."""

from collections.abc import Sequence

import asyncpg
from aiohttp import web

from abilities.webhooks.endpoints import Endpoint, Endpoints
from core.ids import make_id
from onevalet.ability import ConsolePages
from operations.console.access import Scope
from operations.console.live import version_of
from operations.console.pages.base import Pages, signed_in
from operations.console.sign_in import PATH
from operations.console.visits import Visit

SHOWN = 50
_MESSAGES = (
    "select m.id, m.kind, m.state, m.attempts, m.status, m.reason, m.at, m.next_attempt_at, m.endpoint_id, e.url"
    " from webhook_messages m join webhook_endpoints e on e.id = m.endpoint_id"
)


class WebhookPages(Pages):
    """Show sent messages: people see those about them, operators all of them, with the endpoints."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/webhooks", self._list)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        scope, viewer = visit.scope, visit.viewer
        endpoints: Sequence[Endpoint] = ()
        if viewer.operator:
            endpoints = await Endpoints(scope.everybody(), make_id).all()
            rows = await _of_everybody(scope)
        else:
            newest = f"{_MESSAGES} where m.tenant_id = $1 order by m.at desc, m.id limit $2"
            rows = await scope.tenant_rows(viewer.tenant_id, newest, SHOWN)
        messages = [dict(row) | {"host": row["url"].split("/")[2].rpartition("@")[2]} for row in rows]
        return self.kit.page(
            "webhooks/list.html",
            visit,
            here="webhooks",
            endpoints=endpoints,
            messages=messages,
            version=version_of(endpoints, messages),
        )


PAGES = ConsolePages([WebhookPages], menu=[("webhooks", "Webhooks")])


async def _of_everybody(scope: Scope) -> list[asyncpg.Record]:
    """Return the newest messages of all people, for an operator."""
    found = await scope.everybody().rows("select * from console_webhooks($1)", SHOWN)
    ids: dict[str, list[str]] = {}
    for row in found:
        ids.setdefault(row["tenant_id"], []).append(row["id"])
    rows = [
        row
        for tenant_id, theirs in ids.items()
        for row in await scope.tenant_rows(tenant_id, f"{_MESSAGES} where m.tenant_id = $1 and m.id = any ($2)", theirs)
    ]
    return sorted(rows, key=lambda row: (row["at"], row["id"]), reverse=True)
