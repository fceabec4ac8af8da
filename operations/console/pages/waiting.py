"""The list of waiting approvals, agents and turns, and the actions on waiting agents."""

from collections.abc import Sequence
from dataclasses import replace

from aiohttp import web

from core.agents.standard_agent import AgentStatus
from operations.console.live import version_of
from operations.console.pages.base import Pages, lead_to, signed_in
from operations.console.reading.conversations import Cursor
from operations.console.reading.waiting import PAGE, list_waiting
from operations.console.sign_in import PATH
from operations.console.visits import Visit

HERE = f"{PATH}/waiting"
SAID = {
    "approved": "Approved. It runs now, and every card of it shows that.",
    "cancelled": "Cancelled. Nothing was done, and every card of it shows that.",
    "replaced": "The change is on its way: a new card comes, which has to be approved.",
    "not-decided": "That was decided already, its time is over, or it is not what was shown any more.",
    "code": "High risk is approved by its code: write it beside the button.",
    "reminded": "A reminder is on its way to them.",
    "not-reminded": "They were reminded within the last ten minutes, or it waits no more.",
    "asked-again": "It is asked again.",
    "paused": "Paused: it waits until it is resumed.",
    "dropped": "Dropped. What waited for it goes on without it.",
    "not-changed": "That is not possible any more: it was answered, or it ended.",
}
"""The page's messages after a form, by the word in the address."""
_ASKING = AgentStatus.WAITING_FOR_INPUT


class WaitingPages(Pages):
    """List the waiting entries, and pause, ask again or drop an agent."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get(HERE, self._list),
            web.post(f"{HERE}/agents/{{tenant}}/{{agent}}/{{change:pause|ask|drop}}", self._change),
        ]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        viewer = visit.viewer
        rows = await list_waiting(visit.scope, Cursor.read(request.query.get("after", "")))
        rows = [row if self.kit.texts.may_preview(viewer, row.tenant_id) else replace(row, text="") for row in rows]
        return self.kit.page(
            "waiting.html",
            visit,
            here="waiting",
            rows=rows,
            following=str(rows[-1].cursor) if viewer.operator and len(rows) == PAGE else "",
            said=SAID.get(request.query.get("said", ""), ""),
            version=version_of(rows),
        )

    @signed_in
    async def _change(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Change an agent that waits, as `agents pause|resume|cancel` does."""
        tenant, agent, change = (request.match_info[name] for name in ("tenant", "agent", "change"))
        if agent not in {entry.agent_id for entry in await self.kit.stores.pool.list(visit.scope.theirs(tenant))}:
            return lead_to(HERE, said="not-changed")
        await self.kit.actions.record(visit.scope, tenant, f"{change} agent", agent)
        match change:
            case "pause":
                said = "paused" if await self.kit.stores.pool.pause(tenant, agent) else "not-changed"
            case "ask":
                said = "asked-again" if await self._ask_again(tenant, agent) else "not-changed"
            case _:
                said = "dropped" if await self.kit.stores.pool.cancel(tenant, agent) else "not-changed"
        return lead_to(HERE, said=said)

    async def _ask_again(self, tenant: str, agent: str) -> bool:
        """Make an agent ask again: pause it first, unless it is paused already."""
        asking = {entry.agent_id for entry in await self.kit.stores.pool.list(tenant) if entry.status is _ASKING}
        if agent in asking and not await self.kit.stores.pool.pause(tenant, agent):
            return False
        return await self.kit.stores.pool.resume(tenant, agent)
