"""What a tool is handed while it runs: one frozen value, injected by type and never seen by the model."""

import builtins
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from structlog.typing import FilteringBoundLogger

from core.clock import Clock
from core.credentials.types import ConnectedAccounts
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.json_types import Json, JsonObject
from core.memory.access import MemoryAccess, NoMemory
from core.tools.person_access import FileAccess as FileAccess
from core.tools.person_access import NoFiles as NoFiles
from core.tools.person_access import NoPerson as NoPerson
from core.tools.person_access import PersonAccess as PersonAccess

_NOTHING_KEPT = "This assistant has nowhere to keep anything."
_NO_TASKS = "This assistant can plan nothing for later."


class CredentialAccess(Protocol):
    """The credentials of one tenant, and of nobody else: `core.errors.ToolFailed` for another's id."""

    async def save(self, tenant_id: str, service: str, credentials: JsonObject, account_name: str = "primary") -> None:
        """Keep an account's credentials, in place of what was there: a refreshed token, for one."""
        ...

    async def get(self, tenant_id: str, service: str, account_name: str = "primary") -> JsonObject | None:
        """Return an account's credentials, or None when this person has not connected it."""
        ...

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        """List the accounts that are connected, of one service or all, without what is secret."""
        ...

    async def delete(self, tenant_id: str, service: str, account_name: str = "primary") -> None:
        """Forget an account's credentials, if there are any."""
        ...

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        """Return which accounts of a service are connected, and which is meant when none is named."""
        ...

    async def prefer(self, tenant_id: str, service: str, account_name: str) -> None:
        """Remember which account of a service is meant when none is named."""
        ...


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value as it is kept. `number` counts from 1 in its collection, in order, and never comes twice."""

    key: str
    number: int
    value: Json


class TenantStorage(Protocol):
    """What tools keep for one tenant, and for nobody else: JSON values by key, in collections.

    Collections come into being by themselves. Names and keys have 1 to 200 characters, a value up to 100,000
    as JSON; `core.errors.ToolFailed` is raised otherwise. Repeating a call changes nothing.
    """

    async def get(self, collection: str, key: str) -> StoredValue | None:
        """Return the value under a key, or None."""
        ...

    async def put(self, collection: str, key: str, value: Json) -> StoredValue:
        """Keep a value under a key, in place of what was there; it is committed when this returns.

        `context.idempotency_key` makes a good key for what a call adds.
        """
        ...

    async def list(self, collection: str) -> Sequence[StoredValue]:
        """Return all values of a collection in the order of their numbers."""
        ...

    async def delete(self, collection: str, key: str) -> None:
        """Forget the value under a key, if there is one."""
        ...


class TaskNote(Protocol):
    """A task as a tool sees it. `when` is its trigger in words, `next_at` in the person's own time and words."""

    @property
    def id(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def when(self) -> str: ...
    @property
    def next_at(self) -> str: ...
    @property
    def state(self) -> str: ...


class TenantTasks(Protocol):
    """The tasks of one tenant, and of nobody else: `core.errors.ToolFailed` where something cannot be.

    A trigger is described as JSON with its `kind` (`schedule`, `event`, `condition`) and the values of the trigger's
    class. Repeating a call with the same `key` changes nothing.
    """

    async def timezone(self) -> str:
        """Return the person's timezone; empty while it is not known."""
        ...

    async def set_timezone(self, timezone: str) -> None:
        """Keep the person's timezone, an IANA name, where none is known."""
        ...

    async def check(self, trigger: JsonObject) -> None:
        """Refuse a trigger that makes no sense, or looks at what may not be looked at. Raises `ToolRetry`."""
        ...

    def describe(self, trigger: JsonObject, timezone: str = "") -> str:
        """Check a trigger and say it in words, with the next moment where there is one; `timezone`: the person's."""
        ...

    async def create(
        self,
        trigger: JsonObject,
        action: JsonObject,
        *,
        executor: str = "orchestrator",
        output: JsonObject | None = None,
        title: str = "",
        key: str = "",
    ) -> TaskNote:
        """Keep a task; it counts from now on."""
        ...

    async def list(self) -> "builtins.list[TaskNote]":
        """Return the tasks by number."""
        ...

    async def change(self, task_id: str, change: str) -> bool:
        """`pause`, `resume` or `delete` a task; False where it was in no state for it."""
        ...

    async def run_now(self, task_id: str, key: str) -> None:
        """Run a task once, besides its schedule."""
        ...

    async def why(self, words: str) -> str:
        """Return why a task ran or did not: its last occurrences, what was seen, decided and delivered."""
        ...


@dataclass(frozen=True, slots=True)
class ToolExecutionContext:
    """Everything a tool may know about the call it serves.

    `idempotency_key` is the same when a call is repeated after a crash, and unlike that of any other call:
    hand it to the service that does the work. `timezone` (IANA) and `language` are the person's. `progress` tells
    whoever watches the turn how a long call is getting on; it may be awaited any number of times. `settings` is what
    the operator set for tools, such as `weather_url`: the same for everybody, so never a person's own secret.
    """

    tenant_id: str
    turn_id: str
    idempotency_key: str
    clock: Clock
    credentials: CredentialAccess
    http: HttpClient
    log: FilteringBoundLogger
    timezone: str = "UTC"
    language: str = ""
    storage: TenantStorage = field(default_factory=lambda: NoStorage())
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    memory: MemoryAccess = field(default_factory=lambda: NoMemory())
    tasks: TenantTasks = field(default_factory=lambda: NoTasks())
    progress: Callable[[str], Awaitable[None]] = field(default_factory=lambda: _unwatched)
    person: PersonAccess = field(default_factory=lambda: NoPerson())
    files: FileAccess = field(default_factory=lambda: NoFiles())


async def _unwatched(text: str) -> None:
    """Tell nobody."""


class NoCredentials:
    """What a tool gets where no credentials are kept: nobody has connected anything."""

    async def save(self, tenant_id: str, service: str, credentials: JsonObject, account_name: str = "primary") -> None:
        """Refuse to keep credentials."""
        raise ToolFailed(_NOTHING_KEPT)

    async def get(self, tenant_id: str, service: str, account_name: str = "primary") -> JsonObject | None:
        """Know of no credentials."""
        return None

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        """Know of no accounts."""
        return []

    async def delete(self, tenant_id: str, service: str, account_name: str = "primary") -> None:
        """Have nothing to forget."""

    async def accounts(self, tenant_id: str, service: str) -> ConnectedAccounts:
        """Know of no accounts."""
        return ConnectedAccounts(service, ())

    async def prefer(self, tenant_id: str, service: str, account_name: str) -> None:
        """Refuse: there is no account."""
        raise ToolFailed(f"There is no account {account_name} of {service}.")


class NoTasks:
    """What a tool gets where no tasks are kept."""

    async def timezone(self) -> str:
        """Know of none."""
        return ""

    async def set_timezone(self, timezone: str) -> None:
        """Refuse, telling the model why."""
        raise ToolFailed(_NO_TASKS)

    async def check(self, trigger: JsonObject) -> None:
        """Refuse, telling the model why."""
        raise ToolFailed(_NO_TASKS)

    def describe(self, trigger: JsonObject, timezone: str = "") -> str:
        """Refuse, telling the model why."""
        raise ToolFailed(_NO_TASKS)

    async def create(
        self,
        trigger: JsonObject,
        action: JsonObject,
        *,
        executor: str = "orchestrator",
        output: JsonObject | None = None,
        title: str = "",
        key: str = "",
    ) -> TaskNote:
        """Refuse, telling the model why."""
        raise ToolFailed(_NO_TASKS)

    async def list(self) -> "builtins.list[TaskNote]":
        """Know of none."""
        return []

    async def change(self, task_id: str, change: str) -> bool:
        """Refuse: there is none."""
        return False

    async def run_now(self, task_id: str, key: str) -> None:
        """Refuse, telling the model why."""
        raise ToolFailed(_NO_TASKS)

    async def why(self, words: str) -> str:
        """Refuse, telling the model why."""
        raise ToolFailed(_NO_TASKS)


class NoStorage:
    """What a tool gets where nothing is kept."""

    async def get(self, collection: str, key: str) -> StoredValue | None:
        """Refuse, telling the model why."""
        raise ToolFailed(_NOTHING_KEPT)

    async def put(self, collection: str, key: str, value: Json) -> StoredValue:
        """Refuse, telling the model why."""
        raise ToolFailed(_NOTHING_KEPT)

    async def list(self, collection: str) -> Sequence[StoredValue]:
        """Refuse, telling the model why."""
        raise ToolFailed(_NOTHING_KEPT)

    async def delete(self, collection: str, key: str) -> None:
        """Refuse, telling the model why."""
        raise ToolFailed(_NOTHING_KEPT)
