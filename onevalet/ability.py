"""What an ability declares, once, in its `ability.py`: the loops of the wiring read it, and nobody else knows of it.

A declaration is read by every process, so that it imports nothing that takes long: what needs more is loaded by the
function that is declared here.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast

from core.errors import ConfigError

if TYPE_CHECKING:
    from aiohttp.web import RouteDef
    from pydantic_settings import BaseSettings, PydanticBaseSettingsSource
    from typer import Typer

    from core.budgets.budgeted_model import BudgetedModel, ChatClient, EmbeddingClient
    from core.budgets.budgeted_transcriber import BudgetedTranscriber
    from core.budgets.store import DailyBudgets
    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.credentials.trial import Trial
    from core.db.database import Connection, Database
    from core.files.showing import ShowsFiles
    from core.hooks.hooks import Hook
    from core.http.guarded_client import GuardedClient
    from core.inbox.answers import TakeAnswer
    from core.llm.types import ModelClient
    from core.loop.config import ReactLoopConfig
    from core.messaging.channels import NotificationChannel
    from core.messaging.chat_words import ChatCommand
    from core.notifications.types import PersonNotifier
    from core.people.merge import MergeHook
    from core.people.table_rules import PersonTable
    from core.queue.claims import ClaimedWork
    from core.queue.wakeups import Wakeups
    from core.tools.account_access import PeoplesAccounts
    from core.tools.memory_access import MemoryAccess
    from core.tools.person_access import AccountAccess
    from core.tools.storage import Storage
    from core.tools.tool import ToolSource
    from core.turns.orchestrator import Orchestrator
    from core.turns.services import ForTurn, Notify, Recall
    from core.turns.trigger_message import TriggerMessage
    from onevalet.settings import Settings
    from operations.console.pages.base import MakePages
    from operations.doctor.types import Probe
    from operations.programs.types import ClientTool


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra of pyproject.toml that a setting needs unless it is empty or `off`.

    `without` says what is not done where it is not installed, `otherwise` what to do about the setting then.
    """

    name: str
    setting: str
    without: str
    otherwise: str = "unset it"


@dataclass(frozen=True, slots=True)
class Commands:
    """A group of the command line, under a heading of its help; they join the group of this name if there is one.

    `alone`: it is no group, but the one command of this name.
    """

    name: str
    heading: str
    load: "Callable[[], Typer]"
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Starter:
    """What `new` writes to begin with: a file of a package, its test, and a hint what to do next.

    All are templates, with $name (as_in_code), $dashed, $Class, $Words and $package.
    """

    path: str
    text: str
    test: str
    hint: str


class MakeSource(Protocol):
    """Makes a source of settings."""

    def __call__(
        self,
        settings_cls: "type[BaseSettings]",
        environment: "PydanticBaseSettingsSource",
        dotenv: "PydanticBaseSettingsSource",
        /,
    ) -> "PydanticBaseSettingsSource":
        """Return one that reads for a class of settings; the environment wins over `.env`."""
        ...


@dataclass(frozen=True, slots=True)
class OwnSettings[Kind: "BaseSettings"]:
    """The class of an ability's settings, which become part of `Settings`, and what is made of them.

    check: raises `ConfigError` if they do not fit together.
    for_tools: what tools read as `context.settings`.
    origins: servers that the operator named, which tools may reach wherever they are; empty ones count for nothing.
    embedders: the models that texts are embedded by, by the settings that name them.
    secrets: what no log may show, besides the fields that are secrets by their type.
    source: makes what reads variables whose names the operator chooses, from the environment and from `.env`.
    prefix: how the names of those begin.
    """

    kind: type[Kind]
    check: Callable[[Kind], None] = lambda _: None
    for_tools: Callable[[Kind], Mapping[str, str]] = lambda _: {}
    origins: Callable[[Kind], Iterable[str]] = lambda _: ()
    embedders: Callable[[Kind], Mapping[str, str]] = lambda _: {}
    secrets: Callable[[Kind], Iterable[str]] = lambda _: ()
    source: "MakeSource | None" = None
    prefix: str = ""


def _nothing() -> None:
    """Do nothing."""


class PluginClasses(Protocol):
    """What the modules of plugins hold, of which those who know a base class make what is theirs."""

    def of[Kind](self, base: type[Kind], does: str = "") -> Sequence[type[Kind]]:
        """Return the subclasses of a base. Raises `ConfigError` for one that is wrong; `does`: what each overrides."""
        ...

    def make[Kind](self, kind: type[Kind]) -> Kind:
        """Return an instance of one of them. Raises `ConfigError` for one that cannot be made."""
        ...


class Opened:
    """What abilities have opened in a process, each by its type: for those that need them, for turns and programs."""

    def __init__(self) -> None:
        self._by_kind: dict[type, object] = {}

    def add[Kind](self, kind: type[Kind], opened: Kind) -> None:
        """Offer something under a type that it has."""
        self._by_kind[kind] = opened

    def find[Kind](self, kind: type[Kind]) -> Kind | None:
        """Return what was opened under a type; None where nothing was."""
        return cast("Kind | None", self._by_kind.get(kind))

    def get[Kind](self, kind: type[Kind]) -> Kind:
        """Return what was opened under a type. Raises `ConfigError` where nothing was."""
        if (found := self.find(kind)) is None:
            raise ConfigError(f"This assistant has no {kind.__name__}.")
        return found


@dataclass(frozen=True, slots=True)
class Foundation:
    """What a process builds its abilities on. `http` makes a guarded client, which also reaches the named hosts."""

    settings: "Settings"
    database: "Database"
    http: "Callable[[Iterable[str]], GuardedClient]"


@dataclass(frozen=True, slots=True)
class ServiceFoundation(Foundation):
    """What pages of abilities are built on. `accounts` opens those of a person."""

    clock: "Clock"
    accounts: "Callable[[str], AccountAccess]"


@dataclass(frozen=True, slots=True)
class RecallFoundation(Foundation):
    """What long-term memory is built on. `model` works behind the reply; None where no model is configured."""

    clock: "Clock"
    model: "ChatClient | None"
    embeddings: "EmbeddingClient"
    budgets: "DailyBudgets | None"


@dataclass(frozen=True, slots=True)
class HookFoundation:
    """What hooks of abilities are made of. `storage` keeps people's values; None in a turn that is only repeated."""

    settings: "Settings"
    config: "ReactLoopConfig"
    model: "ModelClient"
    storage: "Storage | None"


@dataclass(frozen=True, slots=True)
class SensesFoundation:
    """What files are shown with. `sees`: whether the model that answers people sees; `eye` and `ear`: models for it."""

    sees: "Callable[[], bool]"
    eye: "BudgetedModel | None"
    ear: "BudgetedTranscriber | None"


@dataclass(frozen=True, slots=True)
class OpeningFoundation(ServiceFoundation):
    """What abilities and their services are opened on, each after those that it needs, in `opened` what those opened.

    `tool_http` makes a client as tools are handed it. `plugins` has the classes that plugins' modules hold. `channels`
    are the ways out that are on, by name.
    """

    wakeups: "Wakeups"
    redis_url: str
    tool_http: "Callable[[], GuardedClient]"
    plugins: PluginClasses
    opened: Opened
    channels: "Mapping[str, NotificationChannel]"


@dataclass(frozen=True, slots=True)
class WorkFoundation(OpeningFoundation):
    """What a worker offers the work of abilities, once there is an assistant. `worker` is its name.

    `recall` is what turns recall from. `model` works behind the reply, paid by the person whom a call is for.
    """

    worker: str
    notifier: "PersonNotifier"
    notify: "Notify"
    orchestrator: "Orchestrator"
    recall: "Recall | None"
    model: "BudgetedModel"


@dataclass(frozen=True, slots=True)
class AccountsFoundation(Foundation):
    """What people's accounts are opened on, in every process."""

    clock: "Clock"
    credentials: "CredentialStore"


@dataclass(frozen=True, slots=True)
class WebFoundation(AccountsFoundation):
    """What `web` offers the ways in of abilities."""

    redis_url: str
    wakeups: "Wakeups"


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker runs beside its turns, until it is cancelled. `look` is called when work of the kind `due` is.

    The ability's `sql/due.sql` tells of its kinds; `by_peoples_clock`: by people's time, which is not the machine's.
    """

    name: str
    run: Callable[[], Awaitable[None]]
    due: str = ""
    look: Callable[[], None] = _nothing
    by_peoples_clock: bool = False


@dataclass(frozen=True, slots=True)
class Repeated:
    """What a worker does again and again: about each `every`, and when work of the kind `due` is, as of `Work`.

    Any number of workers may do it at once, so that it claims what it does; `for_all`: one does it at a time.
    """

    name: str
    every: timedelta
    once: Callable[[], Awaitable[object]]
    due: str = ""
    by_peoples_clock: bool = False
    for_all: bool = False


@dataclass(frozen=True, slots=True)
class Sources:
    """Where tools come from that may change while a worker runs. `prefixes`: the beginnings of their names."""

    sources: "Sequence[ToolSource]" = ()
    prefixes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ConsolePages:
    """Pages of the console: what makes them, such as classes of `Pages`, and their entries in the menu.

    An entry is an address below `/console/` and a title. The templates are in the folder `templates` of the ability,
    under the ability's name: `habits/list.html`. Each page is marked with `@signed_in`, and shows what its viewer may
    see. `said` are sentences that the page of a person shows where one of these led back to it, by the word in `said=`.
    """

    makes: "Sequence[MakePages]"
    menu: Sequence[tuple[str, str]] = ()
    said: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """A thing that the assistant can do. Its name is that of its folder.

    needs: the abilities that it imports; without one of them it is left out.
    extras: the optional packages that its settings need.
    settings: loads its settings.
    loads: imports libraries that take long, before a worker serves anybody: a thread that imports stops the loop too.
    tools: the modules that hold its tools and agents, collected as a plugin's are.
    hooks: makes what is called at the moments of each turn, in a worker and where a turn is repeated.
    sources: opens further tools, in a worker.
    services: opens what tools and chat words find by its type, as `context.service(Kind)`; the stack closes it. A
        `MessageAccess` among them is `context.messages`.
    answers: takes an inbound message that answers what it sent to somebody; its `sql/awaited.sql` holds that back.
    described: the collections of a person's stored values of which a turn is begun with keys and descriptions.
    words: what a person types for it, answered without a model; `answer` names a function of the ability's.
    tables: those of its tables that have rows of people, parents first, with what becomes of them.
    merge_hooks: makes what is called when two people become one, where moved rows are not enough.
    trials: loads what tries a password before it is stored, by the service whose accounts it opens: without it nobody
        can connect one.
    accounts: opens people's accounts elsewhere, in every process; the stack closes them. One ability has it.
    access: what it does in people's accounts, such as `mail.read`: nobody is asked to allow what no ability does.
    commands: its groups of the command line.
    starters: what `new` writes to begin with, by its kind.
    pages: loads its pages of the console, with the first request to it.
    probes: loads what `doctor` examines of it.
    opens: opens what it offers before there is an assistant: to abilities that need it, to turns, to programs.
    joins: opens what it offers once there is an assistant, such as what does the work of runs within turns.
    work: opens what a worker runs beside its turns; the stack closes it.
    routes: opens its ways in over HTTP, each of which proves what comes by it; the stack closes them.
    around: runs something from before a worker takes work until it has stopped.
    trigger: reads what began a turn of a tenant's that no message of theirs began, to show it and to repeat it.
    client_tools: makes what programs of people's may ask of it.
    recall: opens what turns recall from, in a worker; None where the settings want none. One ability has it.
    shows: makes what shows a model the files of messages, in a worker. One ability has it.
    memories: returns what opens a person's memory in a process without a model, as `web` is; None likewise.
    """

    name: str
    needs: tuple[str, ...] = ()
    extras: tuple[Extra, ...] = ()
    settings: Callable[[], OwnSettings[Any]] | None = None
    loads: "Callable[[Settings], None] | None" = None
    tools: tuple[str, ...] = ()
    hooks: "Callable[[HookFoundation], Sequence[Hook]] | None" = None
    sources: Callable[[Foundation], AbstractAsyncContextManager[Sources]] | None = None
    services: "Callable[[AsyncExitStack, OpeningFoundation], Mapping[type, ForTurn]] | None" = None
    answers: "TakeAnswer | None" = None
    described: tuple[str, ...] = ()
    words: "tuple[ChatCommand, ...]" = ()
    tables: "tuple[PersonTable, ...]" = ()
    merge_hooks: "Callable[[Clock, CredentialStore], Sequence[MergeHook]] | None" = None
    trials: "Mapping[str, Callable[[], Trial]]" = MappingProxyType({})
    accounts: "Callable[[AsyncExitStack, AccountsFoundation], PeoplesAccounts] | None" = None
    access: tuple[str, ...] = ()
    commands: tuple[Commands, ...] = ()
    starters: Mapping[str, Callable[[], Starter]] = MappingProxyType({})
    pages: "Callable[[ServiceFoundation], ConsolePages] | None" = None
    probes: "Callable[[], Sequence[Probe]] | None" = None
    opens: Callable[[AsyncExitStack, OpeningFoundation], None] | None = None
    joins: Callable[[WorkFoundation], None] | None = None
    routes: "Callable[[AsyncExitStack, WebFoundation], Sequence[RouteDef]] | None" = None
    around: Callable[[WorkFoundation], AbstractAsyncContextManager[None]] | None = None
    trigger: "Callable[[Connection, str, str], Awaitable[TriggerMessage | None]] | None" = None
    client_tools: "Callable[[Database], Sequence[ClientTool]] | None" = None
    work: "Callable[[AsyncExitStack, WorkFoundation], Sequence[Work | Repeated | ClaimedWork[Any]]] | None" = None
    recall: "Callable[[AsyncExitStack, RecallFoundation], Recall | None] | None" = None
    shows: "Callable[[SensesFoundation], ShowsFiles] | None" = None
    memories: "Callable[[Foundation, Clock], Callable[[str], MemoryAccess] | None] | None" = None
