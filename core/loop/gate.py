"""The consent gate before a call runs: rules, repeats of a call whose outcome is unknown, and consent (promise 9).

Consent is asked for, or was given in advance, within bounds: never for a call of high risk, for a repeat, or after the
model has read others' words.

Tools pass it from `core.loop.tool_runner`, agents from `core.agents.clearance`; nothing else decides that a call may
run.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.approvals.consent import ConsentState
from core.approvals.describe import MAY_HAVE_HAPPENED
from core.approvals.rendering import render_arguments
from core.approvals.requests import ApprovalRequests
from core.approvals.types import HIGH
from core.consents.types import ConsentUse
from core.hooks.hooks import Decision, Hooks, PlannedCall, Verdict
from core.journal.types import Effect, Journal, Outcome
from core.json_types import JsonObject, canonical_hash
from core.language.catalogue import gettext
from core.loop.passage import GatedCall, Granted, Passage, Refused, Waiting
from core.replies import note
from core.tools.tool import Risk

REFUSED_REPEAT = (
    "Not run: an earlier call with the same arguments has an unknown outcome, so repeating it needs an approval."
    + note("Tell the person what is uncertain.")
)
NEEDS_APPROVAL = "Not run: this needs an approval, and there is no way to ask for one here." + note("Say so.")


class ConsentGate:
    """Decide whether calls may run now. `requests` is None if nobody can be asked."""

    def __init__(self, hooks: Hooks, journal: Journal, requests: ApprovalRequests | None) -> None:
        self._hooks = hooks
        self._journal = journal
        self._requests = requests
        self._asking = asyncio.Lock()

    async def pass_(self, call: GatedCall) -> Passage:
        """Hold a call against the rules, and ask for consent if a rule, the call itself or a repeat needs it."""
        verdict = await self._hooks.evaluate(call.where, call.planned)
        if verdict.decision is Decision.DENY:
            return _denied(verdict)
        if call.clear is not None:
            cleared = await call.clear(call.planned)
            if not isinstance(cleared, PlannedCall):
                return cleared
            if cleared is not call.planned:
                call = replace(call, planned=cleared, arguments_hash=canonical_hash(cleared.arguments))
        asked = call.consent_to is not None and (call.needs_approval or verdict.decision is Decision.APPROVE)
        if not asked and call.effect is not Effect.ONCE:
            return Granted(call.planned)
        # Calls run side by side. They ask in their order, so that if not all may ask, the first calls do.
        async with self._asking:
            repeats = call.effect is Effect.ONCE and await self._journal.outcome_unknown(
                call.planned.name, call.arguments_hash
            )
            if not (asked or repeats):
                return Granted(call.planned)
            if self._requests is None:
                return Refused(REFUSED_REPEAT if repeats else NEEDS_APPROVAL)
            if not repeats and verdict.risk != HIGH and (use := await self._in_advance(call)):
                return Granted(call.planned, use=use)
            return await self.ask(call, verdict.risk, gettext(MAY_HAVE_HAPPENED) if repeats else call.why)

    async def ask(self, call: GatedCall, risk: Risk = "", note: str = "") -> Passage:
        """Ask for consent to a call, or return the state of an earlier request for the call."""
        if self._requests is None or call.consent_to is None:
            return Refused(NEEDS_APPROVAL)
        request = call.consent_to(call.planned, risk, note)
        consent = await self._requests.ask(request)
        if consent.state is ConsentState.PENDING:
            return Waiting(consent.text)
        if consent.state is ConsentState.REFUSED:
            return Refused(consent.text)
        approved = call.planned if consent.arguments is None else replace(call.planned, arguments=consent.arguments)
        if consent.changed:
            # The rules have seen the model's arguments, not the person's.
            verdict = await self._hooks.evaluate(call.where, approved)
            if verdict.decision is Decision.DENY:
                return _denied(verdict)
        return Granted(approved, request.call_id, consent.changed)

    async def _in_advance(self, call: GatedCall) -> ConsentUse | None:
        """Return the use of a standing consent that covers the call; None if the person is to be asked."""
        requests, target, consent_to = self._requests, call.target, call.consent_to
        if requests is None or requests.standing is None or target is None or consent_to is None:
            return None
        request = consent_to(call.planned, "", "")
        if call.tainted or call.why or request.risk == HIGH or request.question or requests.asks_anyway(request):
            return None

        async def shown(arguments: JsonObject) -> tuple[str, Sequence[tuple[str, str]]]:
            described = await request.describe(arguments)
            return described.summary, render_arguments(arguments, described)

        return await requests.standing.use(request.call_id, target, call.planned.arguments, shown)

    def approved_at(self, prefix: str) -> datetime | None:
        """Return the time at which the call whose id begins with `prefix` was approved; None if it was not."""
        return self._requests.decided_at(prefix) if self._requests else None

    async def finish(self, granted: Granted, text: str, outcome: Outcome) -> str:
        """Record that an approved action ran. Return its result, with the person's changes as a note."""
        if granted.call_id is not None and self._requests is not None and outcome is not Outcome.WAITING:
            await self._requests.ran(granted.call_id, outcome)
        if granted.use is not None and self._requests is not None and self._requests.standing is not None:
            await self._requests.standing.note_outcome(granted.use.id, outcome)
        return f"{text}{note(granted.changed)}" if granted.changed else text


def _denied(verdict: Verdict) -> Refused:
    return Refused(f"Not run: {verdict.reason or 'a rule forbids it.'}")
