"""The place of a tool's call in its turn, and what its person is asked to consent to."""

from core.approvals.consent import ConsentTo, make_call_id
from core.approvals.describe import tool_consent
from core.hooks.hooks import PlannedCall
from core.journal.types import StepKey
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
