"""The requests for consent of a turn: earlier requests with their decisions, and new requests."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from core.approvals.consent import CANCELLED, Consent, ConsentState, ConsentTo, Described
from core.approvals.edits import changed_lines, differences
from core.approvals.other_deciders import AlsoAsked, OtherDecider, OtherDeciders
from core.approvals.rendering import as_text, render_arguments
from core.approvals.seal import seal
from core.approvals.store import ApprovalStore
from core.approvals.types import NOT_BOTH, NOT_SHOWN, Approval, ApprovalState, NewApproval, Source
from core.clock import Clock
from core.consents.turn import TurnConsents
from core.errors import ToolError, ToolFailed
from core.ids import for_person, new_token
from core.journal.types import Outcome
from core.json_types import JsonObject, canonical_hash, storable
from core.language.catalogue import gettext, gettext_noop, speaking
from core.messaging.visible_text import is_short, plain_line
from core.replies import TELL_THEM, TOO_LONG_TO_APPROVE, note

_EXPIRED = f"Not done: no decision came in time, so it was dropped.{TELL_THEM}"
_NOT_SHOWN = f"Not done: the request for approval could not be shown.{TELL_THEM}"
_ALTERED = "Not run: it is not what was approved." + note("Say so, and ask again if it is still wanted.")
_NOT_ASKED = f"Not done: {{reason}}{TELL_THEM}"
_NOBODY_ELSE = "Nobody else can be asked here."
_NO_JSON = "Not run: its arguments cannot be shown in full, so nobody can approve them."
_ENOUGH = "Not asked for: at most {most} actions are asked for at once." + note(
    "The first ones wait for the person's decision now; call this again when those are decided, and tell them that "
    "there is more."
)
REISSUED = gettext_noop("Asked again, since your accounts were linked.")
TOO_LATE = gettext_noop(
    "You approved this before, but it could not be done in time. Nothing was done: please decide again."
)
GRACE = timedelta(minutes=15)
"""The time after its expiry in which an approved action may still begin: a running turn may have delayed it."""

_log = structlog.get_logger()


@dataclass(slots=True)
class ApprovalRequests:
    """Ask for consent in a turn. `known` are the tenant's approvals: this turn's, and all that are pending.

    `new` holds the requests by call id until the turn commits them with their cards.
    """

    store: ApprovalStore
    tenant_id: str
    turn_id: str
    clock: Clock
    known: Sequence[Approval] = ()
    source: Source = "message"
    max_at_once: int = 4
    """Actions that a model's answer may ask for: each has a card of its own, and nobody reads sixty."""
    too_long: Callable[[NewApproval], bool] = lambda _: False
    """Returns whether the chat cannot show a request in full."""
    open_for: timedelta = timedelta(minutes=30)
    """The time for which a card is open unless its tool or agent sets another."""
    make_token: Callable[[], str] = new_token
    standing: TurnConsents | None = None
    """The person's consents in advance; None if none counts."""
    others: OtherDeciders | None = None
    """The people who may have to agree, too; None if nobody else can be asked."""
    joint: dict[str, str] = field(default_factory=dict)
    """Who must agree to a call and to those that it makes, by the beginning of its id, as the asker names them."""
    new: dict[str, NewApproval] = field(default_factory=dict)
    _claimed: set[str] = field(default_factory=set)
    """The call ids of all new requests, unfinished requests included."""

    async def ask(self, request: ConsentTo) -> Consent:
        """Ask, or return the state of the newest request for the same call."""
        latest = self._latest(request.call_id)
        if latest is None:
            return await self._first(request)
        match latest.state:
            case ApprovalState.PENDING:
                return Consent(ConsentState.PENDING, _pending(latest.code, latest.summary))
            case ApprovalState.APPROVED:
                return await self._granted(request, latest)
            case ApprovalState.CANCELLED if latest.reason == NOT_BOTH:
                return await self._agreed(latest)
            case ApprovalState.CANCELLED:
                return Consent(ConsentState.REFUSED, CANCELLED)
            case ApprovalState.EXPIRED:
                return Consent(ConsentState.REFUSED, _NOT_SHOWN if latest.reason == NOT_SHOWN else _EXPIRED)
            case ApprovalState.REPLACED:
                return await self._replace(request, latest)

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the codes of this turn's requests that are not decided yet."""
        earlier = (latest for latest in map(self._latest, {approval.call_id for approval in self._own()}) if latest)
        waiting = [a for a in earlier if a.state is ApprovalState.PENDING and a.call_id not in self.new]
        codes = [approval.code for approval in waiting] + [approval.code for approval in self.new.values()]
        return tuple(sorted(codes))

    async def ran(self, call_id: str, outcome: Outcome) -> None:
        """Record that an approved action has run."""
        latest = self._latest(call_id)
        if latest is not None and latest.state is ApprovalState.APPROVED:
            await self.store.ran(self.tenant_id, latest.id, outcome, self.clock.now())

    def must_ask(self, call_id: str, name: str) -> bool:
        """Return whether a call needs another person's consent: itself, or one of its tool before in this turn."""
        named = any(call_id.startswith(start) and "/" not in call_id[len(start) :] for start in self.joint)
        return named or any(one.also for one in self._own() if one.name == name)

    def asks_anyway(self, request: ConsentTo) -> bool:
        """Return whether no consent in advance counts: this turn has asked before, or another person must agree."""
        return self._latest(request.call_id) is not None or self.must_ask(request.call_id, request.name)

    def decided_at(self, prefix: str) -> datetime | None:
        """Return the time at which the call whose id begins with `prefix` was approved; None if it was not."""
        moments = [
            approval.decided_at
            for approval in self._own()
            if approval.call_id.startswith(prefix) and approval.state is ApprovalState.APPROVED and approval.decided_at
        ]
        return max(moments, default=None)

    async def _first(self, request: ConsentTo) -> Consent:
        """Ask for the first time, unless this model answer has asked for enough."""
        # Calls ask side by side, so each claims its place before anything is awaited.
        if len(self._claimed) >= self.max_at_once and request.call_id not in self._claimed:
            return Consent(ConsentState.REFUSED, _ENOUGH.format(most=self.max_at_once))
        self._claimed.add(request.call_id)
        consent = await self._request(request, request.arguments, 1)
        if consent.state is not ConsentState.PENDING:
            self._claimed.discard(request.call_id)
        return consent

    async def _request(
        self, request: ConsentTo, arguments: JsonObject, generation: int, changed: tuple[str, ...] = (), note: str = ""
    ) -> Consent:
        arguments = storable(arguments)
        try:
            other = await self._other(request)
        except ToolError as error:
            return Consent(ConsentState.REFUSED, _NOT_ASKED.format(reason=error))
        try:
            question, state = storable(request.question), storable(request.state)
            also = other.id if other else ""
            sealed = seal(self.tenant_id, self.tenant_id, request.name, arguments, question, state, also)
        except (TypeError, ValueError):
            return Consent(ConsentState.REFUSED, _NO_JSON)
        now = self.clock.now()
        approval_id = f"apr_{canonical_hash([self.turn_id, request.call_id, generation])[:26]}"
        described = await request.describe(arguments)
        approval = NewApproval(
            id=approval_id,
            call_id=request.call_id,
            generation=generation,
            name=request.name,
            summary=plain_line(described.summary) or request.name,
            arguments=arguments,
            rendered=_in_full(request, described) + render_arguments(arguments, described),
            form=described.form if described.editable else (),
            risk=request.risk,
            source=self.source,
            code="",
            token=for_person(self.tenant_id, self.make_token()),
            seconds=((described.open_for or self.open_for) + (other.waits if other else timedelta())).total_seconds(),
            sealed=sealed,
            created_at=now,
            changed=changed,
            note=note or request.note,
            editable=described.editable and bool(arguments or described.form),
            also=await _also_asked(request, arguments, other) if other else None,
        )
        if self.too_long(approval):
            return Consent(ConsentState.REFUSED, TOO_LONG_TO_APPROVE)
        approval = replace(approval, code=await self.store.issue_code(self.tenant_id, approval_id, now))
        self.new[request.call_id] = approval
        return Consent(ConsentState.PENDING, _pending(approval.code, approval.summary))

    async def _granted(self, request: ConsentTo, approval: Approval) -> Consent:
        """Check once more, at the moment of execution, that the action is the card's (promise 9)."""
        expires_at = approval.expires_at
        if expires_at is None or approval.sealed.hash(expires_at) != approval.hash:
            return await self._altered(approval, "hash")
        bound = approval.sealed.open(expires_at)
        arguments = bound.get("arguments")
        identity = (bound.get("approver"), bound.get("tenant"), bound.get("tool"))
        if identity != (self.tenant_id, self.tenant_id, request.name) or not isinstance(arguments, dict):
            return await self._altered(approval, "bound to something else")
        if (bound.get("asks", ""), bound.get("state", {})) != (storable(request.question), storable(request.state)):
            return await self._altered(approval, "its agent's state")
        if not request.already_started and self.clock.now() > expires_at + GRACE:
            return await self._too_late(request, approval, arguments)
        if approval.also and (other := await self._agreed(approval)).state is not ConsentState.GRANTED:
            # The call waits as it did before: nothing new is said about it.
            text = _pending(approval.code, approval.summary)
            return replace(other, text=text) if other.state is ConsentState.PENDING else other
        with speaking("en"):  # for the model
            changed = "; ".join(differences(storable(request.arguments), arguments))
        text = f"Before approving, the person changed: {changed}." if changed else ""
        return Consent(ConsentState.GRANTED, arguments=arguments, changed=text)

    async def _agreed(self, approval: Approval) -> Consent:
        """Return whether the other person agrees."""
        if self.others is None:
            return Consent(ConsentState.REFUSED, _NOT_ASKED.format(reason=_NOBODY_ELSE))
        return await self.others.agreed(approval.id)

    async def _other(self, request: ConsentTo) -> OtherDecider | None:
        """Return the other person who must agree: a turn that asked two once never asks only one for the same."""
        named = next((who for start, who in self.joint.items() if request.call_id.startswith(start)), "")
        person, same = "", self._latest(request.call_id)
        if same is not None or not named:
            before = [one for one in self._own() if one.name == request.name] if same is None else [same]
            person = next((one.also for one in before if one.also), "")
        if not (person or named):
            return None
        if self.others is None:
            raise ToolFailed(_NOBODY_ELSE)
        return await self.others.find(named, person)

    async def _too_late(self, request: ConsentTo, approval: Approval, arguments: JsonObject) -> Consent:
        """Ask again: after an outage the world is no longer as the person had it in mind."""
        _log.warning("approved_too_long_ago", approval=approval.id)
        await self.store.refused(self.tenant_id, approval.id, "too late", self.clock.now())
        return await self._request(request, arguments, approval.generation + 1, note=gettext(TOO_LATE))

    async def _altered(self, approval: Approval, reason: str) -> Consent:
        _log.error("approval_not_what_was_approved", approval=approval.id, why=reason)
        await self.store.refused(self.tenant_id, approval.id, reason, self.clock.now())
        return Consent(ConsentState.REFUSED, _ALTERED)

    async def _replace(self, request: ConsentTo, old: Approval) -> Consent:
        """Ask again with the person's changes; the card names the changes that cannot be used."""
        before = old.sealed.open(self.clock.now()).get("arguments")
        arguments = before if isinstance(before, dict) else request.arguments
        changes = (old.proposed or {}).get("changes")
        if not isinstance(changes, dict):
            return await self._request(request, arguments, old.generation + 1, note=gettext(REISSUED))
        after, refused = _with_changes(request, arguments, changes)
        changed = await _differences(request, arguments, after)
        note = ""
        if refused:
            note = gettext("Not changed, since that cannot be used: {reasons}", reasons=refused)
        elif changes and not changed:
            note = gettext("That changes nothing.")
        return await self._request(request, after, old.generation + 1, changed, note)

    def _own(self) -> list[Approval]:
        return [approval for approval in self.known if approval.turn_id == self.turn_id]

    def _latest(self, call_id: str) -> Approval | None:
        requests = (approval for approval in self._own() if approval.call_id == call_id)
        return max(requests, key=lambda approval: approval.generation, default=None)


def _in_full(request: ConsentTo, described: Described) -> tuple[tuple[str, str], ...]:
    """Return the summary if a card's heading cuts it, and an agent's own question."""
    action = () if is_short(described.summary) else ((gettext("Action"), as_text(described.summary)),)
    return (*action, (gettext("Asks"), as_text(request.question))) if request.question else action


async def _also_asked(request: ConsentTo, arguments: JsonObject, who: OtherDecider) -> AlsoAsked:
    """Return the request as the other person is asked."""
    with speaking(who.language):
        described = await request.describe(arguments)
        shown = _in_full(request, described) + render_arguments(arguments, described)
        form = described.form if described.editable else ()
        return AlsoAsked(who, plain_line(described.summary) or request.name, shown, form)


def _with_changes(request: ConsentTo, arguments: JsonObject, changes: JsonObject) -> tuple[JsonObject, str]:
    """Return the arguments with the valid changes, and the errors in the other changes."""
    try:
        return request.check(arguments, changes), ""
    except ToolError as error:
        refused = str(error)
    after = arguments
    for name, value in changes.items():
        with suppress(ToolError):  # `refused` has its error
            after = request.check(after, {name: value})
    return after, refused


async def _differences(request: ConsentTo, before: JsonObject, after: JsonObject) -> tuple[str, ...]:
    """Return the changes, a line each, as the old and the new card show them."""
    if before == after:
        return ()
    old, new = await request.describe(before), await request.describe(after)
    shown = changed_lines(render_arguments(before, old), render_arguments(after, new))
    return shown or differences(before, after)


def _pending(code: str, summary: str) -> str:
    return f"{code} waits for approval: {summary}"
