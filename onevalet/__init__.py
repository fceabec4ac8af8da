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
    from core.channel import NotificationChannel as NotificationChannel
    from core.checks import SafetyCheck as SafetyCheck
    from core.context import ToolExecutionContext as ToolExecutionContext
    from core.credentials import CredentialStore as CredentialStore
    from core.errors import ToolFailed as ToolFailed
    from core.errors import ToolRetry as ToolRetry
    from core.events.bus import EventBus as EventBus
    from core.events.types import Event as Event
    from core.hooks import Decision as Decision
    from core.hooks import Hook as Hook
    from core.hooks import HookContext as HookContext
    from core.hooks import PlannedCall as PlannedCall
    from core.hooks import Rule as Rule
    from core.hooks import StepReport as StepReport
    from core.hooks import Verdict as Verdict
    from core.judge import AskingJudge as AskingJudge
    from core.judge import Judge as Judge
    from core.judge import Judgement as Judgement
    from core.memory.config import MomexConfig as MomexConfig
    from core.memory.momex import Momex as Momex
    from core.model_types import ModelAnswer as ModelAnswer
    from core.model_types import TextSoFar as TextSoFar
    from core.notifications.types import Notification as Notification
    from core.notifications.types import Urgency as Urgency
    from core.orchestrator import Orchestrator as Orchestrator
    from core.react_config import ReactLoopConfig as ReactLoopConfig
    from core.react_result import CallResult as CallResult
    from core.react_result import ReactLoopResult as ReactLoopResult
    from core.react_result import ToolCallRecord as ToolCallRecord
    from core.streaming import StreamEvent as StreamEvent
    from core.streaming import StreamEventType as StreamEventType
    from core.tools import tool as tool
    from core.triggers.condition import ConditionTrigger as ConditionTrigger
    from core.triggers.engine import TriggerEngine as TriggerEngine
    from core.triggers.event import EventTrigger as EventTrigger
    from core.triggers.message import TriggerMessage as TriggerMessage
    from core.triggers.running import OrchestratorExecutor as OrchestratorExecutor
    from core.triggers.schedule import ScheduleTrigger as ScheduleTrigger
    from core.triggers.types import ActionExecutor as ActionExecutor
    from core.triggers.types import ActionResult as ActionResult
    from core.triggers.types import TriggerContext as TriggerContext
    from core.turn_context import Refusal as Refusal
    from core.turn_types import WhileRunning as WhileRunning

_HOMES = {
    "ActionExecutor": "core.triggers.types",
    "ActionResult": "core.triggers.types",
    "ConditionTrigger": "core.triggers.condition",
    "Event": "core.events.types",
    "EventBus": "core.events.bus",
    "EventTrigger": "core.triggers.event",
    "Notification": "core.notifications.types",
    "NotificationChannel": "core.channel",
    "OrchestratorExecutor": "core.triggers.running",
    "ScheduleTrigger": "core.triggers.schedule",
    "TriggerContext": "core.triggers.types",
    "TriggerEngine": "core.triggers.engine",
    "TriggerMessage": "core.triggers.message",
    "AgentResult": "core.agents.standard_agent",
    "AgentStatus": "core.agents.standard_agent",
    "ApprovalRequest": "core.agents.standard_agent",
    "AskingJudge": "core.judge",
    "CallResult": "core.react_result",
    "CredentialStore": "core.credentials",
    "Decision": "core.hooks",
    "Hook": "core.hooks",
    "HookContext": "core.hooks",
    "InputField": "core.agents.fields",
    "Judge": "core.judge",
    "Judgement": "core.judge",
    "ModelAnswer": "core.model_types",
    "Momex": "core.memory.momex",
    "MomexConfig": "core.memory.config",
    "Orchestrator": "core.orchestrator",
    "OutputField": "core.agents.fields",
    "PlannedCall": "core.hooks",
    "ReactLoopConfig": "core.react_config",
    "ReactLoopResult": "core.react_result",
    "Refusal": "core.turn_context",
    "Rule": "core.hooks",
    "SafetyCheck": "core.checks",
    "StandardAgent": "core.agents.standard_agent",
    "StepReport": "core.hooks",
    "StreamEvent": "core.streaming",
    "StreamEventType": "core.streaming",
    "TextSoFar": "core.model_types",
    "ToolCallRecord": "core.react_result",
    "ToolExecutionContext": "core.context",
    "ToolFailed": "core.errors",
    "ToolRetry": "core.errors",
    "Urgency": "core.notifications.types",
    "Verdict": "core.hooks",
    "WhileRunning": "core.turn_types",
    "tool": "core.tools",
    "valet": "core.agents.valet",
}

__all__ = [
    "ActionExecutor",
    "ActionResult",
    "AgentResult",
    "AgentStatus",
    "ApprovalRequest",
    "AskingJudge",
    "CallResult",
    "ConditionTrigger",
    "CredentialStore",
    "Decision",
    "Event",
    "EventBus",
    "EventTrigger",
    "Hook",
    "HookContext",
    "InputField",
    "Judge",
    "Judgement",
    "ModelAnswer",
    "Momex",
    "MomexConfig",
    "Notification",
    "NotificationChannel",
    "Orchestrator",
    "OrchestratorExecutor",
    "OutputField",
    "PlannedCall",
    "ReactLoopConfig",
    "ReactLoopResult",
    "Refusal",
    "Rule",
    "SafetyCheck",
    "ScheduleTrigger",
    "StandardAgent",
    "StepReport",
    "StreamEvent",
    "StreamEventType",
    "TextSoFar",
    "ToolCallRecord",
    "ToolExecutionContext",
    "ToolFailed",
    "ToolRetry",
    "TriggerContext",
    "TriggerEngine",
    "TriggerMessage",
    "Urgency",
    "Verdict",
    "WhileRunning",
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
