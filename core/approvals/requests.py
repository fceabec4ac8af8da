"""The requests for consent of one turn: what was asked before, what is asked now, and what was decided."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from core.approvals.consent import CANCELLED, Consent, ConsentState, ConsentTo, Described
from core.approvals.edits import differences
from core.approvals.exact_replies import new_token
from core.approvals.rendering import arguments_shown, as_text
from core.approvals.seal import seal
from core.approvals.store import ApprovalStore
from core.approvals.types import Approval, ApprovalState, NewApproval
from core.clock import Clock
from core.errors import ToolError
from core.json_types import JsonObject, canonical_hash, storable
from core.messaging.visible_text import is_short, plain_line
from core.replies import TOO_LONG_TO_APPROVE

_EXPIRED = "Not done: the person did not decide in time, so it was dropped. Tell them in one sentence."
_NOT_SHOWN = "Not done: the request for approval could not be shown to the person."
_ALTERED = "Not run: it is not what was approved. Say so, and ask again if it is still wanted."
_NO_JSON = "Not run: its arguments cannot be shown in full, so nobody can approve them."
_ENOUGH = (
    "Not asked for: at most {most} actions can be put before the person at once. The first ones wait for their "
    "decision now; call this again when those are decided, and tell the person that there is more."
)
REISSUED = "Asked again, since your accounts were linked."
TOO_LATE = "You approved this before, but it could not be done in time. Nothing was done: please decide again."
GRACE = timedelta(minutes=15)
"""How long after its expiry what was approved in time may still begin: a turn that runs may keep it waiting."""

_log = structlog.get_logger()


@dataclass(slots=True)
class ApprovalRequests:
    """Ask for consent in one turn. `known` are the tenant's approvals: this turn's, and all that are pending.

    `source` is `message` or `trigger`. What is asked stands in `asked` until the turn commits it with its card.
    """

    store: ApprovalStore
    tenant_id: str
    turn_id: str
    clock: Clock
    known: Sequence[Approval] = ()
    source: str = "message"
    most: int = 4
    """How many actions one model answer may ask for: each has a card of its own, and a person reads no sixty."""
    too_long: Callable[[NewApproval], bool] = lambda _: False
    """Tells whether a request cannot be shown in full where it would be asked."""
    make_token: Callable[[], str] = new_token
    asked: dict[str, NewApproval] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)
    """The places of all new requests, also of those that are still being made."""

    async def ask(self, what: ConsentTo) -> Consent:
        """Ask, or tell where the newest request for the same call stands."""
        latest = self._latest(what.place)
        if latest is None:
            return await self._first(what)
        match latest.state:
            case ApprovalState.PENDING:
                return Consent(ConsentState.PENDING, _pending(latest.code, latest.summary))
            case ApprovalState.APPROVED:
                return await self._granted(what, latest)
            case ApprovalState.CANCELLED:
                return Consent(ConsentState.REFUSED, CANCELLED)
            case ApprovalState.EXPIRED:
                return Consent(ConsentState.REFUSED, _NOT_SHOWN if latest.reason == "not shown" else _EXPIRED)
            case ApprovalState.REPLACED:
                return await self._replace(what, latest)

    async def ran(self, place: str, outcome: str) -> None:
        """Write down that an approved action has run."""
        latest = self._latest(place)
        if latest is not None and latest.state is ApprovalState.APPROVED:
            await self.store.ran(self.tenant_id, latest.id, outcome, self.clock.now())

    def decided_at(self, prefix: str) -> datetime | None:
        """Return when a call was approved."""
        moments = [
            one.decided_at
            for one in self._own()
            if one.place.startswith(prefix) and one.state is ApprovalState.APPROVED and one.decided_at
        ]
        return max(moments, default=None)

    async def _first(self, what: ConsentTo) -> Consent:
        """Ask for the first time, unless this answer has asked for enough."""
        # Calls ask side by side: each takes its place before anything is waited for.
        if len(self._begun) >= self.most and what.place not in self._begun:
            return Consent(ConsentState.REFUSED, _ENOUGH.format(most=self.most))
        self._begun.add(what.place)
        consent = await self._request(what, what.arguments, 1)
        if consent.state is not ConsentState.PENDING:
            self._begun.discard(what.place)
        return consent

    async def _request(
        self,
        what: ConsentTo,
        arguments: JsonObject,
        generation: int,
        changed: tuple[str, ...] = (),
        note: str = "",
    ) -> Consent:
        arguments = storable(arguments)
        try:
            asks, state = storable(what.asks), storable(what.state)
            sealed = seal(self.tenant_id, self.tenant_id, what.name, arguments, asks, state)
        except (TypeError, ValueError):
            return Consent(ConsentState.REFUSED, _NO_JSON)
        now = self.clock.now()
        approval_id = f"apr_{canonical_hash([self.turn_id, what.place, generation])[:26]}"
        shown = await what.describe(arguments)
        approval = NewApproval(
            id=approval_id,
            place=what.place,
            generation=generation,
            name=what.name,
            summary=plain_line(shown.summary) or what.name,
            arguments=arguments,
            shown=_in_full(what, shown) + arguments_shown(arguments, shown.told, shown.labels, shown.quiet),
            form=shown.form if shown.editable else (),
            risk=what.risk,
            source=self.source,
            code="",
            token=self.make_token(),
            seconds=shown.seconds,
            sealed=sealed,
            created_at=now,
            changed=changed,
            note=note or what.note,
            editable=shown.editable and bool(arguments),
        )
        if self.too_long(approval):
            return Consent(ConsentState.REFUSED, TOO_LONG_TO_APPROVE)
        approval = replace(approval, code=await self.store.issue_code(self.tenant_id, approval_id, now))
        self.asked[what.place] = approval
        return Consent(ConsentState.PENDING, _pending(approval.code, approval.summary))

    async def _granted(self, what: ConsentTo, approval: Approval) -> Consent:
        """Check once more, at the moment of execution, that what runs is what was shown (promise 9)."""
        moment = approval.expires_at
        if moment is None or approval.sealed.hash(moment) != approval.hash:
            return await self._altered(approval, "hash")
        bound = approval.sealed.open(moment)
        arguments = bound.get("arguments")
        whole = (bound.get("approver"), bound.get("tenant"), bound.get("tool"))
        if whole != (self.tenant_id, self.tenant_id, what.name) or not isinstance(arguments, dict):
            return await self._altered(approval, "bound to something else")
        if (bound.get("asks", ""), bound.get("state", {})) != (storable(what.asks), storable(what.state)):
            return await self._altered(approval, "its agent's state")
        if not what.begun and self.clock.now() > moment + GRACE:
            return await self._too_late(what, approval, arguments)
        changed = "; ".join(differences(storable(what.arguments), arguments))
        text = f"Before approving, the person changed: {changed}." if changed else ""
        return Consent(ConsentState.GRANTED, arguments=arguments, changed=text)

    async def _too_late(self, what: ConsentTo, approval: Approval, arguments: JsonObject) -> Consent:
        """Ask anew: after an outage the world is another than the person had in mind."""
        _log.warning("approved_too_long_ago", approval=approval.id)
        await self.store.refused(self.tenant_id, approval.id, "too late", self.clock.now())
        return await self._request(what, arguments, approval.generation + 1, note=TOO_LATE)

    async def _altered(self, approval: Approval, why: str) -> Consent:
        _log.error("approval_not_what_was_approved", approval=approval.id, why=why)
        await self.store.refused(self.tenant_id, approval.id, why, self.clock.now())
        return Consent(ConsentState.REFUSED, _ALTERED)

    async def _replace(self, what: ConsentTo, old: Approval) -> Consent:
        """Ask anew, with what the person wants changed; what cannot be used is said on the card."""
        before = old.sealed.open(self.clock.now()).get("arguments")
        arguments = before if isinstance(before, dict) else what.arguments
        changes = (old.proposed or {}).get("changes")
        if not isinstance(changes, dict):
            return await self._request(what, arguments, old.generation + 1, note=REISSUED)
        try:
            after = what.check(arguments, changes)
        except ToolError as error:
            note = f"Not changed, since that cannot be used: {error}"
            return await self._request(what, arguments, old.generation + 1, note=note)
        changed = differences(arguments, after)
        note = "Nothing is changed by that." if changes and not changed else ""
        return await self._request(what, after, old.generation + 1, changed, note)

    def _own(self) -> list[Approval]:
        return [one for one in self.known if one.turn_id == self.turn_id]

    def _latest(self, place: str) -> Approval | None:
        return max((one for one in self._own() if one.place == place), key=lambda one: one.generation, default=None)


def _in_full(what: ConsentTo, shown: Described) -> tuple[tuple[str, str], ...]:
    """Return what the heading of a card cuts, and what an agent asks by itself."""
    action = () if is_short(shown.summary) else (("Action", as_text(shown.summary)),)
    return (*action, ("Asks", as_text(what.asks))) if what.asks else action


def _pending(code: str, summary: str) -> str:
    return f"{code} waits for the person's approval: {summary}"
