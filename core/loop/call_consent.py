"""The place of a tool's call in its turn, the question for consent to it, and the call at the gate."""

from functools import partial

from core.approvals.consent import ConsentTo, make_call_id
from core.approvals.describe import tool_consent
from core.consents.shape import target_of
from core.hooks.hooks import HookContext, PlannedCall
from core.journal.types import StepKey
from core.json_types import canonical_hash
from core.loop.passage import GatedCall
from core.loop.scope import TurnScope
from core.tools.tool import AnyTool, Risk


def call_path(key: StepKey, tool: AnyTool | None = None) -> str:
    """Return the id of a call within its turn, as approvals and the pool know it; without a tool, its beginning."""
    return make_call_id(key.agent_path, key.step, key.call_index, tool.name if tool else "")


def consent_to_call(
    scope: TurnScope, key: StepKey, tool: AnyTool, planned: PlannedCall, risk: Risk, note: str
) -> ConsentTo:
    """Return the request for consent to a tool's call."""
    begun = key in scope.recorded
    return tool_consent(call_path(key, tool), tool, planned.arguments, risk=risk, note=note, already_started=begun)


def must_ask(scope: TurnScope, call_id: str, name: str) -> bool:
    """Return whether a call asks though it usually does not, since somebody else must agree."""
    return scope.approval_requests is not None and scope.approval_requests.must_ask(call_id, name)


def gated_call(
    scope: TurnScope, where: HookContext, key: StepKey, tool: AnyTool, planned: PlannedCall, *, asked: bool
) -> GatedCall:
    """Return a tool's call as it comes to the gate; `asked`: the person has approved it before.

    It asks, too, if somebody else must agree. An agent passes the gate by itself, once its fields are complete.
    """
    why = scope.outside.why_asked(key, tool, planned.arguments)
    if tool.agent:
        return GatedCall(where, planned, tool.effect, canonical_hash(planned.arguments), None, why=why)
    return GatedCall(
        where,
        planned,
        tool.effect,
        canonical_hash(planned.arguments),
        partial(consent_to_call, scope, key, tool),
        needs_approval=tool.needs_approval or bool(why) or asked or must_ask(scope, call_path(key, tool), tool.name),
        why=why,
        clear=partial(scope.accounts.clear, call_path(key, tool), tool),
        target=target_of(tool),
        tainted=scope.outside.taints(key, planned.arguments, tool.addresses),
    )
