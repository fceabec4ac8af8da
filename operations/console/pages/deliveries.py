"""The page "Deliveries": undelivered and waiting messages, to be sent again or dropped, and people's STOP."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from aiohttp import web

from operations.console.access import NothingHere, Scope
from operations.console.live import version_of
from operations.console.pages.base import Pages, entered, lead_to, read_number, signed_in
from operations.console.reading.conversations import Cursor
from operations.console.reading.deliveries import PAGE, list_consents, list_held, list_unsettled
from operations.console.sign_in import PATH
from operations.console.unsettled import Settlement, UnsettledState
from operations.console.visits import Visit

PLACE = f"{PATH}/deliveries"
_SAID = {
    Settlement.RESENT: "It is on its way again.",
    Settlement.DROPPED: "It is not sent again. It stays in its conversation.",
    Settlement.OPEN: "It is being sent already, or has arrived.",
    Settlement.SETTLED: "Somebody decided about it before.",
    Settlement.UNREACHABLE: "It was not sent: this person said STOP, or blocked us. Only their START changes that.",
    Settlement.OVER: "It was not sent: what its card asks is decided already, or its time is over.",
    Settlement.MISSING: "There is no such message any more.",
    "released": "It is on its way, quiet hours or not.",
    "muted": "It is not sent.",
}


class DeliveryPages(Pages):
    """List unsettled messages: people their own, operators all."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get(PLACE, self._list),
            web.get(f"{PLACE}/stops", self._ledger),
            web.post(f"{PLACE}/settle", self._settle),
            web.post(f"{PLACE}/mute", self._mute),
        ]

    @signed_in
    async def _list(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        state = next((one for one in UnsettledState if one == request.query.get("state", "")), None)
        after = Cursor.read(request.query.get("after", ""))
        found = await list_unsettled(visit.scope, state=state, after=after)
        with_news = not after and state in (None, UnsettledState.HELD)
        held = await list_held(visit.scope) if with_news else []
        rows = [row if self._reads(visit, row.tenant_id) else replace(row, text="") for row in found]
        news = [one if self._reads(visit, one.tenant_id) else replace(one, text="") for one in held]
        return self.kit.page(
            "deliveries.html",
            visit,
            here="deliveries",
            rows=rows,
            held=news,
            state=state or "",
            states=list(UnsettledState),
            after=bool(after),
            next=str(found[-1].cursor) if len(found) == PAGE else "",
            said=_SAID.get(request.query.get("said", ""), ""),
            version=version_of(rows, news),
        )

    @signed_in
    async def _ledger(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        rows = await list_consents(visit.scope, read_number(request.query.get("before", "")))
        before = rows[-1].id if len(rows) == PAGE else 0
        return self.kit.page("stops.html", visit, here="deliveries", rows=rows, before=before, version=version_of(rows))

    @signed_in
    async def _settle(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Send a message again, let a held card go, or leave a message at that."""
        fields = await entered(request)
        tenant, message, do = (fields.get(name, "") for name in ("tenant", "message", "do"))
        if do not in ("resend", "drop", "release"):
            raise NothingHere
        if not await _is_there(visit.scope, "outbound", tenant, message):
            return lead_to(PLACE, said=Settlement.MISSING)
        await self.kit.actions.record(visit.scope, tenant, do, message)
        if do == "release":
            return lead_to(PLACE, said=await self._release(visit.scope, tenant, message))
        if do == "drop":
            return lead_to(PLACE, said=await self.kit.stores.messages.drop(tenant, message))
        settlement, conversation = await self.kit.stores.messages.resend(tenant, message)
        if settlement is Settlement.RESENT:
            self.kit.wakeups.wake_delivery(conversation)
        return lead_to(PLACE, said=settlement)

    @signed_in
    async def _mute(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Leave out news that waits for the next digest."""
        fields = await entered(request)
        tenant, notification = fields.get("tenant", ""), fields.get("notification", "")
        if not await _is_there(visit.scope, "notifications", tenant, notification):
            return lead_to(PLACE, said=Settlement.MISSING)
        await self.kit.actions.record(visit.scope, tenant, "mute", notification)
        await self.kit.stores.notifications.mute(tenant, [notification])
        return lead_to(PLACE, said="muted")

    async def _release(self, scope: Scope, tenant: str, message: str) -> str:
        card = await scope.tenant_row(
            tenant,
            "select coalesce((select k.approval_id from approval_cards k where k.tenant_id = $1 and k.outbound_id = $2"
            "  order by k.role limit 1), '') as approval from outbound"
            " where tenant_id = $1 and id = $2 and state = 'held' and stream_at is null",
            message,
        )
        if card is None:
            return Settlement.OPEN
        for conversation in await self.kit.stores.notifications.release_card(tenant, message, card["approval"]):
            self.kit.wakeups.wake_delivery(conversation)
        return "released"

    def _reads(self, visit: Visit, tenant: str) -> bool:
        return self.kit.texts.may_preview(visit.viewer, tenant)


async def _is_there(scope: Scope, table: Literal["outbound", "notifications"], tenant: str, id: str) -> bool:
    statement = f"select 1 from {table} where tenant_id = $1 and id = $2"  # noqa: S608
    return await scope.tenant_row(tenant, statement, id) is not None
