"""`approvals …` and `consents …`: pending approvals, standing consents, and the operator's audited decisions."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.approvals.exact_replies import Verb
from core.approvals.store import ApprovalStore
from core.approvals.types import Approval, ApprovalState
from core.clock import Clock
from core.consents.store import ConsentStore
from core.consents.types import StandingConsent
from core.consents.words import agreed_in_words
from core.errors import ConfigError
from core.ids import make_id
from core.json_types import JsonObject
from core.language.catalogue import gettext, speaking
from core.queue.wakeups import NoWakeups
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import known_tenant, open_database
from onevalet.settings import Settings

_DONE = {Verb.APPROVE: "Approved", Verb.CANCEL: "Cancelled"}


@dataclass(frozen=True, slots=True)
class _Waiting:
    tenant: str
    approval: Approval


async def print_approvals(settings: Settings, tenant: str, *, as_json: bool) -> None:
    async with open_database(settings, "approvals") as database:
        store = ApprovalStore(database, NoWakeups())
        waiting = await _waiting(store, await known_tenant(database, tenant) if tenant else "")
    if as_json:
        say_json([_as_json(pending) for pending in waiting])
        return
    for pending in waiting:
        approval = pending.approval
        until = f"until {approval.expires_at:%Y-%m-%d %H:%M} UTC" if approval.expires_at else "not shown yet"
        high = "  high risk" if approval.risk else ""
        say(f"{approval.code:<4} {pending.tenant}  {approval.name}: {approval.summary}  {until}{high}")
    if not waiting:
        say("Nothing waits for a decision.")


async def decide(settings: Settings, code: str, word: str, tenant: str, *, as_json: bool) -> None:
    """Decide for a person by a word: `approve` or `cancel`.

    Raise `ConfigError` if the approval is not pending, or if the code matches several.
    """
    verb = next((verb for verb in _DONE if verb.value == word.lower()), None)
    if verb is None:
        raise ConfigError("The decision is approve or cancel.")
    said_in = make_id("op")  # the same when it is repeated, since an answer may be lost after the commit
    async with open_database(settings, "approvals") as database:
        store = ApprovalStore(database, NoWakeups())
        tenant = await known_tenant(database, tenant) if tenant else ""
        waiting = await _waiting(store, tenant, code)
        if len(waiting) != 1:
            whose = ", ".join(pending.tenant for pending in waiting)
            raise ConfigError(
                f"Several people have a {code.upper()}: say whose with --tenant ({whose})."
                if whose
                else f"No {code.upper()} waits for a decision."
            )
        (pending,) = waiting
        now = Clock(settings.onevalet_clock).now()
        decided = await store.decide(
            pending.tenant, pending.approval.id, verb, how="operator", channel="operator", now=now, said_in=said_in
        )
        after = await store.get(pending.tenant, pending.approval.id)
    if after is None or not decided:
        state = after.state if after else ApprovalState.EXPIRED
        problem = (
            "cannot be decided: its time is over, or it was changed"
            if state is ApprovalState.PENDING
            else f"is {state.value} already"
        )
        raise ConfigError(f"{code.upper()} {problem}.")
    if as_json:
        say_json(_as_json(_Waiting(pending.tenant, after)))
        return
    say(f"{_DONE[verb]} {after.code} for {pending.tenant}: {after.summary}.")


async def _waiting(store: ApprovalStore, tenant: str, code: str = "") -> Sequence[_Waiting]:
    if tenant:
        approvals = await store.pending(tenant)
        return [_Waiting(tenant, approval) for approval in approvals if not code or approval.code == code.upper()]
    read = [(owner, await store.get(owner, approval_id)) for owner, approval_id in await store.find_pending(code)]
    return [
        _Waiting(owner, approval) for owner, approval in read if approval and approval.state is ApprovalState.PENDING
    ]


def _as_json(pending: _Waiting) -> JsonObject:
    approval = pending.approval
    return {
        "code": approval.code,
        "tenant": pending.tenant,
        "id": approval.id,
        "agent_name": approval.name,
        "action_summary": approval.summary,
        "arguments": approval.arguments,
        "risk": approval.risk,
        "source": approval.source,
        "state": approval.state.value,
        "created_at": approval.created_at.isoformat(),
        "expires_at": approval.expires_at.isoformat() if approval.expires_at else None,
        "decided_at": approval.decided_at.isoformat() if approval.decided_at else None,
        "decided_how": approval.decided_how,
        "hash": approval.hash,
    }


async def print_consents(settings: Settings, tenant: str, *, as_json: bool) -> None:
    """Print a person's consents, also those that ended lately, the newest first."""
    async with open_database(settings, "consents") as database:
        tenant = await known_tenant(database, tenant)
        consents: Sequence[StandingConsent] = await ConsentStore(database).all(tenant)
    if as_json:
        say_json([_consent_json(consent) for consent in consents])
        return
    for consent in consents:
        say(f"{consent.number:<4} {agreed_in_words(consent.agreed)}  {_standing(consent)}")
    if not consents:
        say("There are no consents.")


async def withdraw(settings: Settings, number: int, tenant: str) -> None:
    """End a consent for a person, who is notified. Raise `ConfigError` if it is not active."""
    async with open_database(settings, "consents") as database:
        tenant = await known_tenant(database, tenant)
        row = await database.tenant_row(tenant, "select language from tenants where tenant_id = $1")
        with speaking(str(row["language"]) if row else None):
            text = gettext(
                "Your consent {number} was ended by whoever runs me. From now on I ask you first.", number=number
            )
        now = Clock(settings.onevalet_clock).now()
        ended = await ConsentStore(database).withdraw(tenant, number, "operator", now, text)
    if not ended:
        raise ConfigError(f"There is no active consent {number}.")
    say(f"Ended consent {number} of {tenant}.")


def _standing(consent: StandingConsent) -> str:
    used = f"used {consent.used} of {consent.agreed.max_uses}"
    if consent.state == "ended":
        return f"{used}, ended: {consent.reason}"
    return f"{used}, until {consent.agreed.expires_at:%Y-%m-%d %H:%M} UTC"


def _consent_json(consent: StandingConsent) -> JsonObject:
    agreed = consent.agreed
    return {
        "number": consent.number,
        "tool": agreed.tool,
        "bounds": agreed.bounds,
        "used": consent.used,
        "max_uses": agreed.max_uses,
        "expires_at": agreed.expires_at.isoformat(),
        "told": agreed.told,
        "state": consent.state,
        "reason": consent.reason,
        "hash": consent.hash,
        "created_at": consent.created_at.isoformat(),
    }
