"""The declaration of an ability, written once in its `ability.py`; only the loops of the wiring read it.

Every process reads the declarations, so they import nothing slow: `named` and `calls` load the rest.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onevalet.foundations import (
    AccountsFoundation,
    Foundation,
    HookFoundation,
    OpeningFoundation,
    RecallFoundation,
    SensesFoundation,
    ServiceFoundation,
    WebFoundation,
    WorkFoundation,
)

if TYPE_CHECKING:
    from aiohttp.web import RouteDef
    from pydantic_settings import BaseSettings
    from typer import Typer

    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.credentials.trial import Trial
    from core.db.database import Connection, Database
    from core.files.showing import ShowsFiles
    from core.hooks.hooks import Hook
    from core.inbox.answers import TakeAnswer
    from core.inbox.groups import TakeInGroup
    from core.messaging.chat_words import ChatCommand
    from core.people.merge import MergeHook
    from core.people.switches import Switch
    from core.people.table_rules import PersonTable
    from core.queue.claims import ClaimedWork
    from core.tools.account_access import PeoplesAccounts
    from core.tools.memory_access import MemoryAccess
    from core.tools.tool import ToolSource
    from core.turns.services import ForTurn, Recall
    from core.turns.trigger_message import TriggerMessage
    from onevalet.settings import Settings
    from operations.console.pages.base import MakePages
    from operations.doctor.types import Probe
    from operations.paths.types import ReadPath
    from operations.programs.types import ClientTool


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra of pyproject.toml that a setting needs unless it is empty or `off`; no setting needs an optional one.

    `without` names the work that is left out without the package; `otherwise` says how to change the setting instead.
    """

    name: str
    setting: str | None
    without: str
    otherwise: str = "unset it"


@dataclass(frozen=True, slots=True)
class Commands:
    """A group of commands under a heading of the help; an existing group of this name is extended.

    `alone`: a single command of this name instead of a group.
    """

    name: str
    heading: str
    load: "Callable[[], Typer]"
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Starter:
    """Templates that `new` writes: a file of a package, its test, and a hint about the next step.

    Their placeholders are $name (as_in_code), $dashed, $Class, $Words and $package.
    """

    path: str
    text: str
    test: str
    hint: str


@dataclass(frozen=True, slots=True)
class SettingFamily:
    """Variables whose names begin alike and go on as an operator chooses; together they are one field of the settings.

    `read` makes its value of theirs, by the rest of each name in lower case; it raises `ConfigError` for a wrong name.
    """

    prefix: str
    field: str
    read: Callable[[Mapping[str, str]], Mapping[str, Any]] = dict


@dataclass(frozen=True, slots=True)
class OwnSettings[Kind: "BaseSettings"]:
    """The class of an ability's settings, which become part of `Settings`, and their uses.

    check: raises `ConfigError` if they do not fit together.
    for_tools: the values that tools read as `context.settings`.
    origins: servers that the operator named, which tools may reach at any address; empty names are ignored.
    embedders: the models that texts are embedded by, by the settings that name them.
    models: likewise, further models; empty names are ignored.
    secrets: values that no log may show, besides the fields that are secrets by their type.
    family: variables whose names the operator chooses.
    """

    kind: type[Kind]
    check: Callable[[Kind], None] = lambda _: None
    for_tools: Callable[[Kind], Mapping[str, str]] = lambda _: {}
    origins: Callable[[Kind], Iterable[str]] = lambda _: ()
    embedders: Callable[[Kind], Mapping[str, str]] = lambda _: {}
    models: Callable[[Kind], Mapping[str, str]] = lambda _: {}
    secrets: Callable[[Kind], Iterable[str]] = lambda _: ()
    family: SettingFamily | None = None


def _nothing() -> None:
    """Do nothing."""


def named(name: str) -> Callable[..., Any]:
    """Return a function that loads a value, `module:name`, when it is called."""
    return lambda *_: resolve_name(name)


def calls(name: str) -> Callable[..., Any]:
    """Return a function that loads another, `module:name`, when it is called, and calls it."""
    return lambda *given: resolve_name(name)(*given)


@dataclass(frozen=True, slots=True)
class Work:
    """A background part of a worker, run until cancelled. `look` is called when work of the kind `due` is due.

    The ability's `sql/due.sql` lists its kinds; `by_peoples_clock`: due by `Clock`, not by the machine's time.
    """

    name: str
    run: Callable[[], Awaitable[None]]
    due: str = ""
    look: Callable[[], None] = _nothing
    by_peoples_clock: bool = False


@dataclass(frozen=True, slots=True)
class Repeated:
    """Periodic work of a worker: about each `every`, and when work of the kind `due` is due, as in `Work`.

    Several workers may run it at once, so it must claim its rows; `for_all`: a single worker runs it at a time.
    """

    name: str
    every: timedelta
    once: Callable[[], Awaitable[object]]
    due: str = ""
    by_peoples_clock: bool = False
    for_all: bool = False


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of tools that may change while a worker runs. `prefixes`: the beginnings of the tools' names."""

    sources: "Sequence[ToolSource]" = ()
    prefixes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ConsolePages:
    """Pages of the console: their factories, such as classes of `Pages`, and their entries in the menu.

    An entry is an address below `/console/` and a title. Those of `menu` open under More; `front` is for a page that
    people look at daily, since the bar has little room. The templates are in the folder `templates` of the ability,
    under the ability's name: `habits/list.html`. Each page is marked with `@signed_in`, and reads rows by
    `visit.scope` only, which answers 404 for data that its viewer may not see. `said` maps the word in `said=` to the
    sentence that a person's page shows after a redirect.
    """

    makes: "Sequence[MakePages]"
    menu: Sequence[tuple[str, str]] = ()
    front: Sequence[tuple[str, str]] = ()
    said: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """A thing that the assistant can do. Its name is that of its folder.

    needs: the abilities that it imports; if any is missing, it is left out.
    extras: the optional packages that its settings need.
    settings: loads its settings.
    loads: imports libraries that take long, before a worker serves anybody: a thread that imports stops the loop too.
    tools: the modules that hold its tools and agents, collected as a plugin's are.
    hooks: creates its hooks into each turn, in a worker and in a repeated turn.
    sources: opens further tools, in a worker.
    services: opens the services that tools and chat words get as `context.service(Kind)`; the stack closes them. A
        `MessageAccess` among them is `context.messages`, a `PlaceAccess` is `context.place`.
    answers: takes an inbound message that answers its message to a third party; its `sql/awaited.sql` holds the reply
        back.
    groups: receives groups' messages and events: a turn in a group has the tools that `sql/open_turn.sql` names.
    described: the collections of a person's stored values whose keys and descriptions every turn begins with.
    words: its chat words, answered without a model; `answer` names a function of the ability.
    switches: its preferences of a person's, each on or off.
    tables: its tables with rows of people, parents first, and how each is exported, moved and deleted.
    merge_hooks: creates the hooks that run when two people are merged, if moving rows is not enough.
    trials: loads the checks that try a password before it is stored, by service; a service without a check cannot be
        connected.
    accounts: opens people's accounts elsewhere, in every process; the stack closes them. Only a single ability declares
        it.
    access: its kinds of access to people's accounts, such as `mail.read`; people are asked to allow only declared
        kinds.
    commands: its groups of the command line.
    starters: the templates of `new`, by kind.
    pages: loads its pages of the console, with the first request to it.
    probes: loads its checks for `doctor`.
    path: loads its part of a turn's path, for `trace` and the console.
    opens: opens its objects before the assistant is built: for dependent abilities, turns and programs.
    joins: opens its objects after the assistant is built, such as the executors of runs.
    work: opens its background work in a worker; the stack closes it.
    routes: opens its HTTP routes, each of which authenticates its requests; the stack closes them.
    around: runs around a worker's work, from before the first claim until the last part has stopped.
    trigger: reads the trigger of a tenant's turn that no message began, to show it and to replay it.
    client_tools: creates its tools for people's programs.
    recall: opens the memory that turns search, in a worker; None if the settings turn it off. Only a single ability
        declares it.
    shows: opens the view of messages' files for a model, in a worker. Only a single ability declares it.
    memories: returns a function that opens a person's memory in a process without a model, such as `web`; None
        likewise.
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
    groups: "TakeInGroup | None" = None
    described: tuple[str, ...] = ()
    words: "tuple[ChatCommand, ...]" = ()
    switches: "tuple[Switch, ...]" = ()
    tables: "tuple[PersonTable, ...]" = ()
    merge_hooks: "Callable[[Clock, CredentialStore], Sequence[MergeHook]] | None" = None
    trials: "Mapping[str, Callable[[], Trial]]" = MappingProxyType({})
    accounts: "Callable[[AsyncExitStack, AccountsFoundation], PeoplesAccounts] | None" = None
    access: tuple[str, ...] = ()
    commands: tuple[Commands, ...] = ()
    starters: Mapping[str, Callable[[], Starter]] = MappingProxyType({})
    pages: "Callable[[ServiceFoundation], ConsolePages] | None" = None
    probes: "Callable[[], Sequence[Probe]] | None" = None
    path: "ReadPath | None" = None
    opens: Callable[[AsyncExitStack, OpeningFoundation], None] | None = None
    joins: Callable[[WorkFoundation], None] | None = None
    routes: "Callable[[AsyncExitStack, WebFoundation], Sequence[RouteDef]] | None" = None
    around: Callable[[WorkFoundation], AbstractAsyncContextManager[None]] | None = None
    trigger: "Callable[[Connection, str, str], Awaitable[TriggerMessage | None]] | None" = None
    client_tools: "Callable[[Database], Sequence[ClientTool]] | None" = None
    work: "Callable[[AsyncExitStack, WorkFoundation], Sequence[Work | Repeated | ClaimedWork[Any]]] | None" = None
    recall: "Callable[[AsyncExitStack, RecallFoundation], Recall | None] | None" = None
    shows: "Callable[[SensesFoundation], AbstractAsyncContextManager[ShowsFiles]] | None" = None
    memories: "Callable[[Foundation, Clock], Callable[[str], MemoryAccess] | None] | None" = None
