"""OneValet's face: the names that tools, agents and extensions are written against.

Each name is imported from its home when it is first asked for (PEP 562), so `import onevalet` costs nothing. Those of
an ability are there as long as its folder is. The imports for type checkers are the table of homes, too.
"""

import importlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    __all__: list[str]

    from abilities.calendar.calendars import Calendars as Calendars
    from abilities.calendar.places import Agenda as Agenda
    from abilities.calendar.places import CalendarEntry as CalendarEntry
    from abilities.calendar.places import CalendarInfo as CalendarInfo
    from abilities.calendar.places import EventPlace as EventPlace
    from abilities.calendar.places import FileMeaning as FileMeaning
    from abilities.calendar.places import WrittenEvent as WrittenEvent
    from abilities.calendar.types import EventChange as EventChange
    from abilities.calendar.types import EventFile as EventFile
    from abilities.calendar.types import FileEffect as FileEffect
    from abilities.calendar.types import InvitationAnswer as InvitationAnswer
    from abilities.calendar.types import ItipMessage as ItipMessage
    from abilities.calendar.types import ItipMethod as ItipMethod
    from abilities.calendar.types import NewEvent as NewEvent
    from abilities.calendar.types import Occurrence as Occurrence
    from abilities.calendar.types import SeriesScope as SeriesScope
    from abilities.dav.address_books import AddressBooks as AddressBooks
    from abilities.events.bus import EventBus as EventBus
    from abilities.events.services import Service as Service
    from abilities.events.services import ServiceContext as ServiceContext
    from abilities.events.types import Event as Event
    from abilities.memory.config import MomexConfig as MomexConfig
    from abilities.memory.momex import Momex as Momex
    from abilities.tasks.engine import TriggerEngine as TriggerEngine
    from abilities.tasks.kinds.condition import ConditionTrigger as ConditionTrigger
    from abilities.tasks.kinds.event import EventTrigger as EventTrigger
    from abilities.tasks.kinds.schedule import ScheduleTrigger as ScheduleTrigger
    from abilities.tasks.runs.executors import OrchestratorExecutor as OrchestratorExecutor
    from abilities.tasks.types import ActionExecutor as ActionExecutor
    from abilities.tasks.types import ActionResult as ActionResult
    from abilities.tasks.types import TriggerContext as TriggerContext
    from abilities.web.page import read_html as read_html
    from core.agents.fields import InputField as InputField
    from core.agents.fields import OutputField as OutputField
    from core.agents.standard_agent import AgentResult as AgentResult
    from core.agents.standard_agent import AgentStatus as AgentStatus
    from core.agents.standard_agent import ApprovalRequest as ApprovalRequest
    from core.agents.standard_agent import StandardAgent as StandardAgent
    from core.agents.turn_agents import PoolLimits as PoolLimits
    from core.agents.valet import valet as valet
    from core.approvals.store import ApprovalStore as ApprovalStore
    from core.approvals.types import PendingApproval as PendingApproval
    from core.budgets.store import DailyBudgets as DailyBudgets
    from core.clock import Clock as Clock
    from core.credentials.secret_keys import SecretKeys as SecretKeys
    from core.credentials.store import CredentialStore as CredentialStore
    from core.credentials.types import Ability as Ability
    from core.credentials.types import Account as Account
    from core.credentials.types import OpenAccount as OpenAccount
    from core.db.database import Database as Database
    from core.errors import AccountMissing as AccountMissing
    from core.errors import Ambiguous as Ambiguous
    from core.errors import ConfigError as ConfigError
    from core.errors import RateLimited as RateLimited
    from core.errors import Rejected as Rejected
    from core.errors import StoreUnavailable as StoreUnavailable
    from core.errors import ToolFailed as ToolFailed
    from core.errors import ToolRetry as ToolRetry
    from core.errors import Unavailable as Unavailable
    from core.files.types import FileResult as FileResult
    from core.files.types import StoredFile as StoredFile
    from core.hooks.hooks import Decision as Decision
    from core.hooks.hooks import Hook as Hook
    from core.hooks.hooks import HookContext as HookContext
    from core.hooks.hooks import PlannedCall as PlannedCall
    from core.hooks.hooks import Rule as Rule
    from core.hooks.hooks import StepReport as StepReport
    from core.hooks.hooks import Verdict as Verdict
    from core.hooks.judge import AskingJudge as AskingJudge
    from core.hooks.judge import Judge as Judge
    from core.hooks.judge import Judgement as Judgement
    from core.http.pages import Page as Page
    from core.http.types import HttpResponse as HttpResponse
    from core.ids import make_id as make_id
    from core.language.catalogue import gettext as gettext
    from core.language.catalogue import gettext_noop as gettext_noop
    from core.language.catalogue import listed as listed
    from core.language.catalogue import ngettext as ngettext
    from core.language.catalogue import ngettext_noop as ngettext_noop
    from core.language.charsets import decode_text as decode_text
    from core.language.charsets import label_of as label_of
    from core.language.times import amount_in_words as amount_in_words
    from core.language.times import day_in_words as day_in_words
    from core.language.times import day_of_year_in_words as day_of_year_in_words
    from core.language.times import moment_in_words as moment_in_words
    from core.language.times import number_in_words as number_in_words
    from core.language.times import time_in_words as time_in_words
    from core.language.times import weekday_in_words as weekday_in_words
    from core.llm.prices import ModelPrice as ModelPrice
    from core.llm.types import ChatMessage as ChatMessage
    from core.llm.types import ModelAnswer as ModelAnswer
    from core.llm.types import ModelClient as ModelClient
    from core.llm.types import ModelLayer as ModelLayer
    from core.llm.types import ModelRequest as ModelRequest
    from core.llm.types import Role as Role
    from core.llm.types import TextSoFar as TextSoFar
    from core.llm.types import TokenUsage as TokenUsage
    from core.llm.types import ToolCall as ToolCall
    from core.loop.config import ReactLoopConfig as ReactLoopConfig
    from core.loop.result import ReactLoopResult as ReactLoopResult
    from core.messaging.channels import Change as Change
    from core.messaging.channels import Channel as Channel
    from core.messaging.channels import Check as Check
    from core.messaging.channels import InboundSink as InboundSink
    from core.messaging.channels import NotificationChannel as NotificationChannel
    from core.messaging.channels import Part as Part
    from core.messaging.channels import Receipt as Receipt
    from core.messaging.channels import Target as Target
    from core.messaging.messages import Address as Address
    from core.messaging.messages import InboundMessage as InboundMessage
    from core.messaging.messages import OutboundMessage as OutboundMessage
    from core.messaging.messages import Press as Press
    from core.messaging.others_words import others_words as others_words
    from core.messaging.search import SaidMessage as SaidMessage
    from core.notifications.types import Urgency as Urgency
    from core.people.adding import add_person as add_person
    from core.people.tenant import WhileRunning as WhileRunning
    from core.questions.types import Question as Question
    from core.queue.wakeups import NoWakeups as NoWakeups
    from core.queue.wakeups import RedisWakeups as RedisWakeups
    from core.replies import with_note as with_note
    from core.tools.chat_words import undo_word as undo_word
    from core.tools.context import StoredValue as StoredValue
    from core.tools.context import TaskNote as TaskNote
    from core.tools.context import TaskState as TaskState
    from core.tools.context import ToolExecutionContext as ToolExecutionContext
    from core.tools.message_access import Addressee as Addressee
    from core.tools.message_access import Answer as Answer
    from core.tools.person_access import RefusedLogins as RefusedLogins
    from core.tools.results import CallResult as CallResult
    from core.tools.results import TextWithData as TextWithData
    from core.tools.results import ToolCallRecord as ToolCallRecord
    from core.tools.storage import Storage as Storage
    from core.tools.storage import stored_with as stored_with
    from core.tools.tool import tool as tool
    from core.tools.toolbox import ToolGroup as ToolGroup
    from core.turns.checks import SafetyCheck as SafetyCheck
    from core.turns.context import Refusal as Refusal
    from core.turns.event_stream import StreamEvent as StreamEvent
    from core.turns.event_stream import StreamEventType as StreamEventType
    from core.turns.orchestrator import Orchestrator as Orchestrator
    from core.turns.trigger_message import TriggerMessage as TriggerMessage
    from core.turns.types import TurnRequest as TurnRequest
    from core.turns.types import TurnResult as TurnResult
    from core.turns.types import TurnState as TurnState
    from onevalet.embedded import Approvals as Approvals
    from onevalet.embedded import OneValet as OneValet
    from onevalet.embedded import Reply as Reply
    from onevalet.migrating import migrate as migrate
    from onevalet.own_channels import ChannelSetup as ChannelSetup
    from onevalet.own_channels import InboundChannel as InboundChannel
    from onevalet.own_channels import OutboundChannel as OutboundChannel
    from onevalet.turns import new_turn as new_turn
    from providers.email.compose import answered as answered
    from providers.email.compose import as_mailed as as_mailed
    from providers.email.compose import compose as compose
    from providers.email.compose import forward_subject as forward_subject
    from providers.email.compose import is_address as is_address
    from providers.email.compose import message_id_of as message_id_of
    from providers.email.compose import reply_subject as reply_subject
    from providers.email.compose import thread_of as thread_of
    from providers.email.mailbox import Mailbox as Mailbox
    from providers.email.mailbox import open_mailbox as open_mailbox
    from providers.email.messages import read_message as read_message
    from providers.email.messages import read_messages as read_messages
    from providers.email.messages import take_file as take_file
    from providers.email.smtp import SmtpFailed as SmtpFailed
    from providers.email.smtp import SmtpFailure as SmtpFailure
    from providers.email.smtp import open_sending as open_sending
    from providers.email.types import FolderUse as FolderUse
    from providers.email.types import MailAddress as MailAddress
    from providers.email.types import MailCalendar as MailCalendar
    from providers.email.types import MailFailed as MailFailed
    from providers.email.types import MailFailure as MailFailure
    from providers.email.types import MailFile as MailFile
    from providers.email.types import MailMessage as MailMessage
    from providers.email.types import MailQuery as MailQuery
    from providers.email.types import MailRef as MailRef
    from providers.email.types import OutgoingMail as OutgoingMail
    from providers.email.types import StoredMail as StoredMail
    from providers.models.litellm_client import LiteLLMClient as LiteLLMClient


def __getattr__(name: str) -> object:
    if name == "__all__":
        return _names()
    if name not in homes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_home_of(name), name)
    globals()[name] = value
    return value


@cache
def homes() -> Mapping[str, str]:
    """Return the module of each public name, as this file's imports for type checkers have it."""
    source = Path(__file__).read_text(encoding="utf-8")
    return {name: module for module, name in re.findall(r"^    from (\S+) import (\w+) as \2$", source, re.MULTILINE)}


def _home_of(name: str) -> ModuleType:
    home = homes()[name]
    try:
        return importlib.import_module(home)
    except ModuleNotFoundError as error:
        package, ability = home.split(".")[:2]
        if package != "abilities" or not f"{home}.".startswith(f"{error.name}."):
            raise
        raise ImportError(
            f"{name} belongs to the ability {ability}, and this installation has no folder abilities/{ability}:"
            " put the folder back, or do without the name."
        ) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *_names()})


def _names() -> list[str]:
    """Return the public names, without those of abilities that are not there."""
    from onevalet.ability_registry import all_abilities

    here = {("abilities", ability.name) for ability in all_abilities()}
    parts = {name: module.split(".") for name, module in homes().items()}
    return [name for name, home in parts.items() if home[0] != "abilities" or (home[0], home[1]) in here]
