"""The context of a tool while it runs: a frozen value, injected by type and never seen by the model."""

import builtins
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Never, Protocol, cast

from structlog.typing import FilteringBoundLogger

from core.clock import Clock
from core.credentials.types import ConnectedAccounts
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.json_types import Json, JsonObject
from core.messaging.search import ConversationAccess
from core.questions.asking import AskPerson, nobody_to_ask
from core.tools.memory_access import MemoryAccess
from core.tools.message_access import MessageAccess as MessageAccess
from core.tools.person_access import AccountAccess as AccountAccess
from core.tools.person_access import ConsentAccess as ConsentAccess
from core.tools.person_access import DataAccess as DataAccess
from core.tools.person_access import FileAccess as FileAccess
from core.tools.person_access import PersonAccess as PersonAccess
from core.tools.person_access import PersonAccounts as PersonAccounts
from core.tools.place_access import PlaceAccess as PlaceAccess
from core.tools.undo import UndoOffers


class _Absent:
    """A service that this deployment does not have: using it raises `ToolFailed` with a sentence."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def __getattr__(self, name: str) -> Never:
        if name.startswith("__"):  # Python itself looks for these, in a copy for example
            raise AttributeError(name)
        raise ToolFailed(self._sentence)


def absent(sentence: str) -> Any:
    """Return the substitute for a missing service; the sentence is for the model."""
    return _Absent(sentence)


KEEPS_NOTHING = absent("This assistant has nowhere to keep anything.")
NO_WEB = absent("This assistant has no access to the web.")
NO_MEMORY = absent("This assistant keeps no memory.")
NO_TASKS = absent("This assistant can plan nothing for later.")
NO_FILES = absent("This assistant keeps no files.")
NO_MESSAGES = absent("This assistant can write to nobody else.")
NO_CONVERSATIONS = absent("This assistant keeps no messages.")
NO_CONSENTS = absent("Nobody can consent to anything in advance here.")
NO_DATA = absent("Nobody can be exported or deleted from here.")
NO_PLACE = absent("This assistant does not learn where people are.")
NO_ACCOUNTS = absent("Nobody can connect an account to this assistant.")


class CredentialAccess(Protocol):
    """The credentials of a tenant, and of nobody else: `core.errors.ToolFailed` for another's id."""

    async def save(self, tenant_id: str, service: str, credentials: JsonObject, account_name: str = "primary") -> None:
        """Store an account's credentials, replacing earlier credentials, such as an expired token."""
        ...

    async def get(self, tenant_id: str, service: str, account_name: str = "primary") -> JsonObject | None:
        """Return an account's credentials, or None if this person has not connected it."""
        ...

    async def list(self, tenant_id: str, service: str | None = None) -> "builtins.list[JsonObject]":
        """List the connected accounts, of a service or all, without secrets."""
        ...

    async def delete(self, tenant_id: str, service: str, account_name: str = "primary") -> None:
        """Delete an account's credentials, if there are any."""
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
    """Values that tools store for a tenant, and for nobody else: JSON values by key, in collections.

    Collections come into being by themselves. Names and keys have 1 to 200 characters, a value up to 100,000
    as JSON; `core.errors.ToolFailed` is raised otherwise. Repeating a call changes nothing.
    """

    async def get(self, collection: str, key: str) -> StoredValue | None:
        """Return the value under a key, or None."""
        ...

    async def put(self, collection: str, key: str, value: Json) -> StoredValue:
        """Store a value under a key, replacing any earlier value; it is committed when this returns.

        `context.idempotency_key` makes a good key for a value that a call adds.
        """
        ...

    async def swap(self, collection: str, key: str, value: Json, was: Json) -> bool:
        """Store a value if the present value is `was`, None for nothing; return False if there is another by now."""
        ...

    async def list(self, collection: str) -> Sequence[StoredValue]:
        """Return all values of a collection in the order of their numbers."""
        ...

    async def delete(self, collection: str, key: str) -> None:
        """Delete the value under a key, if there is any."""
        ...


type TaskChange = Literal["pause", "resume", "delete", "restore"]


class TaskState(StrEnum):
    """The states of a task."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    DISABLED = "DISABLED"
    """It failed too often in a row, or was set aside after an unforeseen error."""
    COMPLETED = "COMPLETED"
    """Nothing more is due, or the person deleted it."""


@dataclass(frozen=True, slots=True)
class TaskNote:
    """A task as a tool sees it. `when` is its trigger in words, `next_at` in the person's own time and words.

    `quiet`: that moment lies in the person's quiet hours. `quiet_until`: the time of day at which the quiet hours end
    that it waits out now, or empty. `deleted`: the person stopped it for good. `executor` is
    the program that does it, `trigger` is as it was described to `create`, and `due` is its next moment, in UTC.
    """

    id: str
    number: int
    title: str
    when: str
    next_at: str
    state: TaskState
    quiet: bool = False
    deleted: bool = False
    executor: str = ""
    trigger: JsonObject = field(default_factory=dict)
    due: datetime | None = None
    quiet_until: str = ""

    @property
    def active(self) -> bool:
        return self.state is TaskState.ACTIVE


class TenantTasks(Protocol):
    """The tasks of a tenant, and of nobody else: `core.errors.ToolFailed` for an impossible request.

    A trigger is described as JSON with its `kind` (`schedule`, `event`, `condition`) and the values of the trigger's
    class. Repeating a call with the same `key` changes nothing.
    """

    async def timezone(self) -> str | None:
        """Return the person's timezone; None while it is not known."""
        ...

    async def set_timezone(self, timezone: str) -> None:
        """Store the person's timezone, an IANA name, unless it is known."""
        ...

    async def check(self, trigger: JsonObject) -> str:
        """Try a trigger and return its present value, such as that of a watch; empty for a schedule.

        Raises `ToolRetry` for a trigger that makes no sense, looks at a forbidden place, or finds nothing there.
        """
        ...

    async def cost(self, trigger: JsonObject) -> str:
        """Estimate in words the cost of a task with this trigger; empty if no price is known."""
        ...

    def describe(self, trigger: JsonObject, timezone: str | None = None) -> str:
        """Check a trigger and say it in words, with the next moment if there is any; `timezone`: the person's."""
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
        """Store a task; it is active from now on."""
        ...

    async def list(self) -> "builtins.list[TaskNote]":
        """Return the tasks by number."""
        ...

    async def change(self, task_id: str, change: TaskChange) -> bool:
        """`pause`, `resume`, `delete` or `restore` a task; return False if its state does not allow that."""
        ...

    async def plan(self, task_id: str) -> JsonObject | None:
        """Return a task's `trigger`, `action` and `title` as `create` takes them; None if it is over."""
        ...

    async def edit(self, task_id: str, trigger: JsonObject, action: JsonObject, title: str) -> TaskNote:
        """Give a task another trigger of its kind, action and title. Raises `ToolRetry`, `ToolFailed` if it is over."""
        ...

    async def find(self, task_id: str) -> TaskNote | None:
        """Return a task, even if it is over; None if there never was any."""
        ...

    async def run_now(self, task_id: str, key: str) -> None:
        """Run a task once, besides its schedule."""
        ...

    async def why(self, words: str) -> str:
        """Return why a task ran or did not: its last occurrences, with observations, decisions and deliveries."""
        ...


class NotifyPerson(Protocol):
    """Notifies the person of the turn."""

    async def __call__(self, text: str, /, **about: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class ToolExecutionContext:
    """Everything a tool may know about the call it serves.

    `idempotency_key` is the same when a call is repeated after a crash, and unlike that of any other call:
    hand it to the service that does the work. `timezone` (IANA) and `language` are the person's. `progress` reports
    the progress of a long call to those who watch the turn; it may be awaited any number of times. `settings` are the
    operator's settings for tools, such as `weather_url`: the same for everybody, so never a person's own secret.
    `in_task`: a task's run makes the call, and not an answer to the person's own message. `undo.offer` names the call
    that takes this call back. `service` returns a service of an ability, such as `context.service(Habits)`.
    """

    tenant_id: str
    turn_id: str
    idempotency_key: str
    clock: Clock
    credentials: CredentialAccess
    http: HttpClient
    log: FilteringBoundLogger
    timezone: str = "UTC"
    language: str | None = None
    channel: str | None = None
    """The channel on which the person reads the answer, such as `sms`; None if it goes nowhere."""
    storage: TenantStorage = KEEPS_NOTHING
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    memory: MemoryAccess = NO_MEMORY
    tasks: TenantTasks = NO_TASKS
    progress: Callable[[str], Awaitable[None]] = field(default_factory=lambda: _unwatched)
    person: PersonAccess = KEEPS_NOTHING
    files: FileAccess = NO_FILES
    accounts: PersonAccounts = NO_ACCOUNTS
    data: DataAccess = NO_DATA
    consents: ConsentAccess = NO_CONSENTS
    undo: UndoOffers = field(default_factory=UndoOffers)
    messages: MessageAccess = NO_MESSAGES
    conversations: ConversationAccess = NO_CONVERSATIONS
    in_task: bool = False
    notify: NotifyPerson = field(default_factory=lambda: _unreached)
    """Sends the person news at the time and place of their choice, and returns whether it reaches them. Its keywords
    are `title`, `category`, `urgency` (urgent, normal, low) and `dedupe_key`."""
    ask: AskPerson = field(default_factory=lambda: nobody_to_ask)
    """Asks the person, with choices or without, several questions at once: `await context.ask(Question(…), …)`."""
    attached: list[str] = field(default_factory=list, repr=False)
    """The ids of the files that this call sends with the reply; `files` fills it in."""
    services: Mapping[type, object] = field(default_factory=dict, repr=False)
    """The services of abilities for tools, by type; `service` finds them there."""

    @property
    def place(self) -> PlaceAccess:
        """Return the access to where the person is, which an ability brings under this type."""
        return cast(PlaceAccess, self.services.get(PlaceAccess, NO_PLACE))

    def service[Kind](self, kind: type[Kind]) -> Kind:
        """Return an ability's service for this person. Raises `ToolFailed` if none has that type."""
        return found_service(self.services, kind)


def found_service[Kind](services: Mapping[type, object], kind: type[Kind]) -> Kind:
    """Return a service by its type. Raises `ToolFailed` if it is not there."""
    if kind not in services:
        raise ToolFailed(f"This assistant has no {kind.__name__}.")
    return cast(Kind, services[kind])


async def _unwatched(text: str) -> None:
    """Report to nobody."""


async def _unreached(text: str, /, **about: str) -> bool:
    """Notify nobody."""
    return False
