"""The dependencies that the wiring hands to the functions of an ability's declaration."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from core.errors import ConfigError

if TYPE_CHECKING:
    from core.budgets.budgeted_model import BudgetedModel, ChatClient, EmbeddingClient
    from core.budgets.store import DailyBudgets
    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.db.database import Database
    from core.http.guarded_client import GuardedClient
    from core.llm.types import ModelClient
    from core.loop.config import ReactLoopConfig
    from core.messaging.channels import NotificationChannel
    from core.notifications.types import PersonNotifier
    from core.queue.wakeups import Wakeups
    from core.tools.person_access import AccountAccess
    from core.tools.storage import Storage
    from core.turns.orchestrator import Orchestrator
    from core.turns.services import Notify, Recall
    from onevalet.settings import Settings


class PluginClasses(Protocol):
    """The classes in the modules of plugins; a caller who knows a base class finds its subclasses here."""

    def of[Kind](self, base: type[Kind], does: str = "") -> Sequence[type[Kind]]:
        """Return the subclasses of a base; raise `ConfigError` for a wrong class. `does`: the method to override."""
        ...

    def make[Kind](self, kind: type[Kind]) -> Kind:
        """Return an instance of a class; raise `ConfigError` if it cannot be created."""
        ...


class Opened:
    """The objects that abilities opened in a process, by type: for dependent abilities, turns and programs."""

    def __init__(self) -> None:
        self._by_kind: dict[type, object] = {}

    def add[Kind](self, kind: type[Kind], opened: Kind) -> None:
        """Offer something under a type that it has."""
        self._by_kind[kind] = opened

    def find[Kind](self, kind: type[Kind]) -> Kind | None:
        """Return the object opened under a type, or None."""
        return cast("Kind | None", self._by_kind.get(kind))

    def get[Kind](self, kind: type[Kind]) -> Kind:
        """Return the object opened under a type; raise `ConfigError` if there is none."""
        if (found := self.find(kind)) is None:
            raise ConfigError(f"This assistant has no {kind.__name__}.")
        return found


@dataclass(frozen=True, slots=True)
class Foundation:
    """Dependencies of every ability. `http` creates a guarded client, which also reaches the named hosts."""

    settings: "Settings"
    database: "Database"
    http: "Callable[[Iterable[str]], GuardedClient]"


@dataclass(frozen=True, slots=True)
class ServiceFoundation(Foundation):
    """Dependencies of an ability's pages. `accounts` opens a person's accounts."""

    clock: "Clock"
    accounts: "Callable[[str], AccountAccess]"


@dataclass(frozen=True, slots=True)
class RecallFoundation(Foundation):
    """Dependencies of long-term memory. `model` works behind the reply; None if no model is configured."""

    clock: "Clock"
    model: "ChatClient | None"
    embeddings: "EmbeddingClient"
    budgets: "DailyBudgets | None"


@dataclass(frozen=True, slots=True)
class HookFoundation:
    """Dependencies of abilities' hooks. `storage` keeps people's values; None in a turn that is only repeated."""

    settings: "Settings"
    config: "ReactLoopConfig"
    model: "ModelClient"
    storage: "Storage | None"


@dataclass(frozen=True, slots=True)
class SensesFoundation:
    """Dependencies of showing files. `sees`: whether the main model reads pictures; `eye`: a model for pictures.

    `budgets`: the budgets that pay for further models.
    """

    settings: "Settings"
    database: "Database"
    budgets: "DailyBudgets | None"
    sees: "Callable[[], bool]"
    eye: "BudgetedModel | None"


@dataclass(frozen=True, slots=True)
class OpeningFoundation(ServiceFoundation):
    """Dependencies of abilities and their services, opened in order of their needs; `opened` has the earlier results.

    `tool_http` creates a client like that of tools. `plugins` has the classes in plugins' modules. `channels` are the
    active notification channels by name.
    """

    wakeups: "Wakeups"
    redis_url: str
    tool_http: "Callable[[], GuardedClient]"
    plugins: PluginClasses
    opened: Opened
    channels: "Mapping[str, NotificationChannel]"


@dataclass(frozen=True, slots=True)
class WorkFoundation(OpeningFoundation):
    """Dependencies of an ability's work in a worker, after the assistant is built. `worker` is its name.

    `recall` is the memory that turns search. `model` works behind the reply; its calls are paid by the person
    concerned.
    """

    worker: str
    notifier: "PersonNotifier"
    notify: "Notify"
    orchestrator: "Orchestrator"
    recall: "Recall | None"
    model: "BudgetedModel"


@dataclass(frozen=True, slots=True)
class AccountsFoundation(Foundation):
    """Dependencies of people's accounts, in every process."""

    clock: "Clock"
    credentials: "CredentialStore"


@dataclass(frozen=True, slots=True)
class WebFoundation(AccountsFoundation):
    """Dependencies of an ability's routes in `web`."""

    redis_url: str
    wakeups: "Wakeups"
