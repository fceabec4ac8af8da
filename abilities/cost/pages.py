"""The console's page of long answers: those held back, and how each was sent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from abilities.cost.held import BECAME
from operations.console.access import Scope
from operations.console.live import version_of
from operations.console.pages.base import Pages, signed_in
from operations.console.sign_in import PATH
from operations.console.visits import Visit

SHOWN = 100
"""The last of them."""
_ROWS = (
    "select h.outbound_id, h.segments, h.asked_at, h.until, h.way, h.chosen_by, o.turn_id,"
    " coalesce(t.name, '') as person"
    " from held_answers h join outbound o on o.tenant_id = h.tenant_id and o.id = h.outbound_id"
    " join tenants t on t.tenant_id = h.tenant_id"
    " where h.tenant_id = $1 and ($2::text[] is null or h.outbound_id = any ($2))"
    " order by h.asked_at desc, h.outbound_id limit 100"
)


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """A long answer on the page, without its words: the conversation has them."""

    outbound_id: str
    segments: int
    asked_at: datetime
    until: datetime
    way: str
    chosen_by: str | None
    turn_id: str | None
    person: str

    @property
    def became(self) -> str:
        """Return the outcome in a few words."""
        return BECAME[self.way]


class LongAnswerPages(Pages):
    """Show long answers: people see their own."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/spared/answers", self._list)]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        rows = await _list_answers(visit.scope)
        return self.kit.page("cost/list.html", visit, here="spared", rows=rows, version=version_of(rows))


async def _list_answers(scope: Scope) -> Sequence[ShownAnswer]:
    """Return the last long answers, the newest first: an operator's of everybody, a person's own."""
    if not scope.viewer.operator:
        return await _read(scope, scope.viewer.tenant_id, None)
    by_person: dict[str, list[str]] = {}
    for row in await scope.everybody().rows("select * from list_held_answers($1)", SHOWN):
        by_person.setdefault(row["tenant_id"], []).append(row["outbound_id"])
    rows = [row for tenant, ids in by_person.items() for row in await _read(scope, tenant, ids)]
    return sorted(rows, key=lambda row: row.asked_at, reverse=True)


async def _read(scope: Scope, tenant_id: str, ids: Iterable[str] | None) -> list[ShownAnswer]:
    rows = await scope.tenant_rows(tenant_id, _ROWS, None if ids is None else list(ids))
    return [ShownAnswer(**row) for row in rows]
