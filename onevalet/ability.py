"""What an ability declares, once, in its `ability.py`: the loops of the wiring read it, and nobody else knows of it.

A declaration is read by every process, so that it imports nothing that takes long: what needs more is loaded by the
function that is declared here.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings
    from typer import Typer

    from core.accounts.trial import Trial
    from core.db.database import Database
    from core.events.bus import EventBus
    from core.http.client import GuardedClient
    from core.http.types import HttpClient
    from core.notifications.types import Notifier
    from core.queue.due import DueWork
    from core.tools.person_access import AccountAccess
    from core.tools.tool import ToolSource
    from core.triggers.event_trial import PastMail
    from onevalet.doctor.types import Probe
    from onevalet.settings import Settings


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra of pyproject.toml that a setting needs. `without` says what is not done where it is not installed."""

    name: str
    setting: str
    without: str


@dataclass(frozen=True, slots=True)
class Commands:
    """A group of the command line, under a heading of its help; they join the group of this name if there is one."""

    name: str
    heading: str
    load: "Callable[[], Typer]"


@dataclass(frozen=True, slots=True)
class Starter:
    """What `new` writes to begin with: a file of a package, its test, and a hint what to do next.

    All are templates, with $name (as_in_code), $dashed, $Class, $Words and $package.
    """

    path: str
    text: str
    test: str
    hint: str


@dataclass(frozen=True, slots=True)
class OwnSettings[Kind: "BaseSettings"]:
    """The class of an ability's settings, which become part of `Settings`, and what is made of them.

    check: raises `ConfigError` if they do not fit together.
    for_tools: what tools read as `context.settings`.
    origins: servers that the operator named, which tools may reach wherever they are; empty ones count for nothing.
    """

    kind: type[Kind]
    check: Callable[[Kind], None] = lambda _: None
    for_tools: Callable[[Kind], Mapping[str, str]] = lambda _: {}
    origins: Callable[[Kind], Iterable[str]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class Foundation:
    """What a process builds its abilities on. `http` makes a guarded client, which also reaches the named hosts."""

    settings: "Settings"
    database: "Database"
    http: "Callable[[Iterable[str]], GuardedClient]"


@dataclass(frozen=True, slots=True)
class WorkFoundation(Foundation):
    """What a worker offers the work of abilities. `worker` is its name; `accounts` opens those of a person.

    `tool_http` makes a client as tools are handed it.
    """

    worker: str
    accounts: "Callable[[str], AccountAccess]"
    events: "EventBus | None"
    notifier: "Notifier"
    tool_http: "Callable[[], GuardedClient]"


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker runs beside its turns, until it is cancelled. `look` is called when work of a kind is due."""

    name: str
    run: Callable[[], Awaitable[None]]
    due: "DueWork"
    look: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where tools come from that may change while a worker runs. `prefixes`: the beginnings of their names."""

    sources: "Sequence[ToolSource]" = ()
    prefixes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """A thing that the assistant can do. Its name is that of its folder.

    needs: the abilities that it imports; without one of them it is left out.
    extras: the optional packages that its settings need.
    settings: loads its settings.
    tools: the modules that hold its tools and agents, collected as a plugin's are.
    sources: opens further tools, in a worker.
    described: the collections of a person's stored values of which a turn is begun with keys and descriptions.
    trials: loads what tries a password before it is stored, by the service whose accounts it opens: without it nobody
        can connect one.
    commands: its groups of the command line.
    starters: what `new` writes to begin with, by its kind.
    probes: loads what `doctor` examines of it.
    work: opens what a worker runs beside its turns; the stack closes it.
    past_mail: makes what tells of a new task on mail which message it would have told of last; it opens a person's
        accounts.
    """

    name: str
    needs: tuple[str, ...] = ()
    extras: tuple[Extra, ...] = ()
    settings: Callable[[], OwnSettings[Any]] | None = None
    tools: tuple[str, ...] = ()
    sources: Callable[[Foundation], AbstractAsyncContextManager[Sources]] | None = None
    described: tuple[str, ...] = ()
    trials: "Mapping[str, Callable[[], Trial]]" = MappingProxyType({})
    commands: tuple[Commands, ...] = ()
    starters: Mapping[str, Callable[[], Starter]] = MappingProxyType({})
    probes: "Callable[[], Sequence[Probe]] | None" = None
    work: Callable[[AsyncExitStack, WorkFoundation], Sequence[Work]] | None = None
    past_mail: "Callable[[Callable[[str], AccountAccess], HttpClient], PastMail] | None" = None
