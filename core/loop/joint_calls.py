"""Calls that stand for a call of another tool to which somebody else must agree, too: "book it if Ben agrees"."""

import json
from collections.abc import Sequence
from dataclasses import replace

from core.approvals.requests import ApprovalRequests
from core.errors import ToolRetry
from core.journal.types import StepKey
from core.llm.types import ToolCall
from core.loop.call_consent import call_path
from core.tools.toolbox import Toolbox


def as_meant(
    step: int, path: str, calls: Sequence[ToolCall], tools: Toolbox, requests: ApprovalRequests | None
) -> Sequence[ToolCall]:
    """Return the calls of an answer as they run, and note in `requests` who must agree to which.

    It depends on the answer alone, so a turn that is taken over or resumes finds the same.
    """
    return [_meant(StepKey(step, index, path), call, tools, requests) for index, call in enumerate(calls, start=1)]


def _meant(key: StepKey, call: ToolCall, tools: Toolbox, requests: ApprovalRequests | None) -> ToolCall:
    tool = tools.get(call.name)
    if tool is None or not tool.joint or requests is None or requests.others is None:
        return call
    try:
        given = tools.read(call, tool).arguments
        tool.parse(given)
    except ToolRetry:
        return call  # running it tells the model the right form
    action = tools.get(str(given["action"]))
    if action is None or action.joint:
        return call
    requests.joint[call_path(key)] = str(given["who"])
    return replace(call, name=action.name, arguments=json.dumps(given.get("arguments", {})))
