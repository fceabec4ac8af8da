"""OneValet's face: the names that tools, agents and extensions are written against.

Each name is imported from `core` when it is first asked for (PEP 562), so `import onevalet` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.agents.fields import InputField as InputField
    from core.agents.fields import OutputField as OutputField
    from core.agents.standard_agent import AgentResult as AgentResult
    from core.agents.standard_agent import AgentStatus as AgentStatus
    from core.agents.standard_agent import ApprovalRequest as ApprovalRequest
    from core.agents.standard_agent import StandardAgent as StandardAgent
    from core.agents.valet import valet as valet
    from core.checks import SafetyCheck as SafetyCheck
    from core.context import ToolExecutionContext as ToolExecutionContext
    from core.credentials import CredentialStore as CredentialStore
    from core.errors import ToolFailed as ToolFailed
    from core.errors import ToolRetry as ToolRetry
    from core.hooks import Decision as Decision
    from core.hooks import Hook as Hook
    from core.hooks import HookContext as HookContext
    from core.hooks import PlannedCall as PlannedCall
    from core.hooks import Rule as Rule
    from core.hooks import Verdict as Verdict
    from core.judge import Judge as Judge
    from core.judge import Judgement as Judgement
    from core.model_types import ModelAnswer as ModelAnswer
    from core.orchestrator import Orchestrator as Orchestrator
    from core.orchestrator import Refusal as Refusal
    from core.react_config import ReactLoopConfig as ReactLoopConfig
    from core.react_result import ReactLoopResult as ReactLoopResult
    from core.tools import tool as tool

_HOMES = {
    "AgentResult": "core.agents.standard_agent",
    "AgentStatus": "core.agents.standard_agent",
    "ApprovalRequest": "core.agents.standard_agent",
    "InputField": "core.agents.fields",
    "OutputField": "core.agents.fields",
    "StandardAgent": "core.agents.standard_agent",
    "valet": "core.agents.valet",
    "CredentialStore": "core.credentials",
    "Decision": "core.hooks",
    "Hook": "core.hooks",
    "HookContext": "core.hooks",
    "Judge": "core.judge",
    "Judgement": "core.judge",
    "ModelAnswer": "core.model_types",
    "Orchestrator": "core.orchestrator",
    "PlannedCall": "core.hooks",
    "ReactLoopConfig": "core.react_config",
    "ReactLoopResult": "core.react_result",
    "Refusal": "core.orchestrator",
    "Rule": "core.hooks",
    "SafetyCheck": "core.checks",
    "ToolExecutionContext": "core.context",
    "ToolFailed": "core.errors",
    "ToolRetry": "core.errors",
    "Verdict": "core.hooks",
    "tool": "core.tools",
}

__all__ = [
    "AgentResult",
    "AgentStatus",
    "ApprovalRequest",
    "CredentialStore",
    "Decision",
    "Hook",
    "HookContext",
    "InputField",
    "Judge",
    "Judgement",
    "ModelAnswer",
    "Orchestrator",
    "OutputField",
    "PlannedCall",
    "ReactLoopConfig",
    "ReactLoopResult",
    "Refusal",
    "Rule",
    "SafetyCheck",
    "StandardAgent",
    "ToolExecutionContext",
    "ToolFailed",
    "ToolRetry",
    "Verdict",
    "tool",
    "valet",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
