"""A single approval: its exact card, and the decision about it, as on any channel."""

from collections.abc import Sequence
from typing import Literal

import structlog
from aiohttp import web

from core.approvals.exact_replies import Verb
from core.approvals.form_check import form_errors
from core.language.catalogue import speaking
from operations.console.access import NothingHere, Viewer
from operations.console.live import version_of
from operations.console.pages.base import Pages, entered, lead_to, signed_in
from operations.console.pages.waiting import HERE, SAID
from operations.console.reading.approvals import ApprovalView, changes_of, read_approval
from operations.console.sign_in import PATH
from operations.console.visits import Visit

_FIELD = "field."
"""Goes before the names of an approval's own fields, which could be those of ours."""
_SAID = {Verb.APPROVE: "approved", Verb.CANCEL: "cancelled", Verb.EDIT: "replaced"}
_log = structlog.get_logger()


class ApprovalPages(Pages):
    """Show an approval, and decide, change or remind.

    A person decides for themselves, as by a button in their chat: the link that began the session went to a chat of
    theirs. An operator decides for another person as by `approvals decide`, and approves only cards that they may read.
    """

    def routes(self) -> Sequence[web.RouteDef]:
        address = f"{PATH}/waiting/approvals/{{tenant}}/{{approval}}"
        return [
            web.get(address, self._show),
            web.post(f"{address}/{{verb:approve|cancel}}", self._decide),
            web.post(f"{address}/edit", self._edit),
            web.post(f"{address}/remind", self._remind),
        ]

    @signed_in
    async def _show(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        view, may_read = await self._read(request, visit)
        return await self._page(visit, view, may_read, said=SAID.get(request.query.get("said", ""), ""))

    @signed_in
    async def _decide(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        view, may_read = await self._read(request, visit)
        verb, fields = Verb(request.match_info["verb"]), await entered(request)
        if verb is Verb.APPROVE and not may_read:
            raise NothingHere
        if verb is Verb.APPROVE and view.high_risk and not _names_code(view, fields):
            return await self._page(visit, view, may_read, said=SAID["code"], status=422)
        return await self._decided(visit, view, verb, fields.get("key", ""))

    @signed_in
    async def _edit(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Ask for changes, as the form of a channel does; only the person themselves can."""
        view, may_read = await self._read(request, visit)
        visit.scope.own(view.tenant_id)
        if not view.approval.editable:
            raise NothingHere
        fields = await entered(request)
        values = {name.removeprefix(_FIELD): text for name, text in fields.items() if name.startswith(_FIELD)}
        with speaking(view.language):
            errors = form_errors(view.approval.form, values)
        if errors:
            return await self._page(visit, view, may_read, values=values, errors=errors, status=422)
        return await self._decided(visit, view, Verb.EDIT, fields.get("key", ""), values)

    @signed_in
    async def _remind(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        view, _ = await self._read(request, visit)
        tenant, approval = view.tenant_id, view.approval.id
        await self.kit.actions.record(visit.scope, tenant, "remind approval", approval)
        how = _how(visit.viewer, tenant)
        key = self.kit.actions.read_key((await entered(request)).get("key", ""), visit.viewer, tenant)
        told = await self.kit.stores.approvals.remind_now(
            tenant, approval, key.replace("con_", "out_", 1), how=how, channel=how, now=self.kit.now()
        )
        return lead_to(_address(view), said="reminded" if told else "not-reminded")

    async def _decided(
        self, visit: Visit, view: ApprovalView, verb: Verb, key: str, changes: dict[str, str] | None = None
    ) -> web.StreamResponse:
        tenant, approval = view.tenant_id, view.approval.id
        await self.kit.actions.record(visit.scope, tenant, f"{verb.value} approval", approval)
        how = _how(visit.viewer, tenant)
        decided = await self.kit.stores.approvals.decide(
            tenant,
            approval,
            verb,
            how=how,
            channel=how,
            now=self.kit.now(),
            said_in=self.kit.actions.read_key(key, visit.viewer, tenant),
            changes=None if changes is None else changes_of(view, dict(changes)),
        )
        _log.info("decided_in_console", approval=approval, verb=verb.value, decided=decided, how=how)
        return lead_to(HERE, said=_SAID[verb]) if decided else lead_to(_address(view), said="not-decided")

    async def _read(self, request: web.Request, visit: Visit) -> tuple[ApprovalView, bool]:
        """Return the approval, and whether the viewer may read its texts."""
        tenant, wanted = visit.scope.theirs(request.match_info["tenant"]), request.match_info["approval"]
        approval = await self.kit.stores.approvals.get(tenant, wanted)
        if approval is None:
            raise NothingHere
        async with visit.scope.tenant(tenant) as connection:
            view = await read_approval(connection, tenant, approval)
            may_read = await self.kit.texts.look(connection, visit, tenant, "approval", wanted, self.kit.now())
        return view, may_read

    async def _page(
        self,
        visit: Visit,
        view: ApprovalView,
        may_read: bool,
        *,
        said: str = "",
        values: dict[str, str] | None = None,
        errors: dict[str, str] | None = None,
        status: int = 200,
    ) -> web.Response:
        is_open = view.is_open(self.kit.now())
        return self.kit.page(
            "approval.html",
            visit,
            status=status,
            here="waiting",
            view=view,
            is_open=is_open,
            own=view.tenant_id == visit.viewer.tenant_id,
            may_read=may_read,
            said=said,
            values=values or {},
            errors=errors or {},
            address=_address(view),
            key=self.kit.actions.new_key(),
            version=version_of(view, is_open),
        )


def _address(view: ApprovalView) -> str:
    return f"{HERE}/approvals/{view.tenant_id}/{view.approval.id}"


def _names_code(view: ApprovalView, fields: dict[str, str]) -> bool:
    return fields.get("code", "").strip().upper() == view.approval.code


def _how(viewer: Viewer, tenant: str) -> Literal["console", "operator"]:
    return "console" if viewer.tenant_id == tenant else "operator"
