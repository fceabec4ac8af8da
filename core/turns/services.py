"""The services behind an orchestrator's tools, and a tool's access to them for a person."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, cast

import structlog

from core.approvals.other_deciders import OtherDeciders
from core.clock import Clock
from core.consents.store import ConsentStore
from core.files.access import Files
from core.http.types import HttpClient
from core.json_types import Json
from core.llm.types import ChatMessage
from core.messaging.search import PersonMessages
from core.people.people import People
from core.people.tenant import TurnTenant
from core.tools.account_access import AccountAsker
from core.tools.context import (
    KEEPS_NOTHING,
    NO_ACCOUNTS,
    NO_CONVERSATIONS,
    NO_DATA,
    NO_FILES,
    NO_MEMORY,
    NO_MESSAGES,
    NO_TASKS,
    NO_WEB,
    CredentialAccess,
    DataAccess,
    NotifyPerson,
    PersonAccounts,
    TenantTasks,
    ToolExecutionContext,
)
from core.tools.memory_access import MemoryAccess
from core.tools.message_access import MessageAccess
from core.tools.storage import Storage
from core.tools.undo import UndoOffers
from core.tools.undo_store import UndoStore

NOTHING_BROUGHT: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RecalledFacts:
    """The facts that a turn begins with, a line for each, the most important first.

    `noted`: the report on how they were found, under its ability's name, which the end of the turn stores.
    """

    lines: Sequence[str] = ()
    noted: Mapping[str, Json] = field(default_factory=dict)


class Recall(Protocol):
    """Long-term memory, as far as a turn needs it."""

    @property
    def as_tool(self) -> bool:
        """Return whether the model may ask memory by itself."""
        ...

    async def recall(
        self,
        tenant_id: str,
        query: str,
        *,
        turn_id: str | None = None,
        shown: Sequence[ChatMessage] = (),
        patience: float = 0.0,
        meanwhile: asyncio.Task[object] | None = None,
        brought: Mapping[str, Json] = NOTHING_BROUGHT,
    ) -> RecalledFacts:
        """Return known facts that may matter; nothing while memory is away.

        Facts that the model sees in `shown` are left out. A late answer is waited for some seconds, and until
        `meanwhile`, the turn's other work, is done. `brought`: the data read with the turn, by ability.
        """
        ...

    def for_tenant(self, tenant_id: str, turn_id: str | None = None) -> MemoryAccess:
        """Return a tool's access to this tenant's memory only."""
        ...


class CredentialStoreAccess(Protocol):
    """The lookup of tenants' credentials."""

    def for_tenant(self, tenant_id: str) -> CredentialAccess:
        """Return access to this tenant's credentials only."""
        ...


class AccountsAccess(Protocol):
    """People's accounts elsewhere, as far as tools need them."""

    def for_tenant(self, tenant_id: str, turn_id: str | None = None) -> PersonAccounts:
        """Return access to this tenant's accounts only; links that are made are for the turn's conversation."""
        ...


class DataProvider(Protocol):
    """People's data as a whole: `operations.tenants.access.PersonData`, whose room is above this room."""

    def for_tenant(self, tenant_id: str) -> DataAccess:
        """Return access to this tenant's data only."""
        ...


class TaskEngine(Protocol):
    """The planner of people's tasks, if the deployment has any."""

    def for_tenant(self, tenant_id: str) -> TenantTasks:
        """Return access to this tenant's tasks only."""
        ...


type Notify = Callable[[str, str, Mapping[str, str] | None], Awaitable[bool]]
"""Notifies a tenant of a text; the mapping may hold `title`, `category`, `urgency` and `dedupe_key`."""


type ForTurn = Callable[[str, str], object]
"""Makes an ability's service for tools, for the person and the turn of these ids, and has no other effect."""


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The services of a deployment; None for a service that it does not have."""

    clock: Clock = field(default_factory=Clock)
    http: HttpClient | None = None
    credentials: CredentialStoreAccess | None = None
    accounts: AccountsAccess | None = None
    account_asker: AccountAsker | None = None
    data: DataProvider | None = None
    storage: Storage | None = None
    people: People | None = None
    files: Files | None = None
    tasks: TaskEngine | None = None
    memory: Recall | None = None
    notify: Notify | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    of_abilities: Mapping[type, ForTurn] = field(default_factory=dict)
    undo: UndoStore | None = None
    """The actions that can be taken back."""
    consents: ConsentStore | None = None
    """The consents that people have given in advance."""
    said: Callable[[str], PersonMessages] | None = None
    """Finds the messages of a person and the assistant."""

    def for_turn(self, tenant_id: str, turn_id: str) -> Mapping[type, object]:
        """Return the services of abilities for a person's turn, by type."""
        return {kind: make(tenant_id, turn_id) for kind, make in self.of_abilities.items()}

    def other_deciders(self, tenant_id: str, turn_id: str) -> OtherDeciders | None:
        """Return the people who may be asked besides a turn's person; None without such an ability."""
        make = self.of_abilities.get(OtherDeciders)
        return cast(OtherDeciders, make(tenant_id, turn_id)) if make else None

    def _notify_of(self, tenant_id: str) -> NotifyPerson:
        """Return the function that notifies a person."""

        async def notify(text: str, /, **about: str) -> bool:
            return await self.notify(tenant_id, text, about) if self.notify else False

        return notify

    def context_for(
        self, tenant: TurnTenant, turn_id: str, channel: str | None, tool: str, idempotency_key: str
    ) -> ToolExecutionContext:
        """Return the context of a tool: this person's access to each service."""
        attached: list[str] = []
        brought = self.for_turn(tenant.id, turn_id)
        return ToolExecutionContext(
            tenant_id=tenant.id,
            turn_id=turn_id,
            idempotency_key=idempotency_key,
            clock=self.clock,
            credentials=self.credentials.for_tenant(tenant.id) if self.credentials else KEEPS_NOTHING,
            http=self.http or NO_WEB,
            log=structlog.get_logger().bind(turn=turn_id, tool=tool),
            timezone=tenant.timezone,
            language=tenant.language,
            channel=channel,
            storage=self.storage.for_tenant(tenant.id) if self.storage else KEEPS_NOTHING,
            person=self.people.for_turn(tenant.id, turn_id) if self.people else KEEPS_NOTHING,
            files=self.files.for_turn(tenant.id, turn_id, attached) if self.files else NO_FILES,
            attached=attached,
            accounts=self.accounts.for_tenant(tenant.id, turn_id) if self.accounts else NO_ACCOUNTS,
            data=self.data.for_tenant(tenant.id) if self.data else NO_DATA,
            tasks=self.tasks.for_tenant(tenant.id) if self.tasks else NO_TASKS,
            undo=UndoOffers(self.clock),
            settings=self.settings,
            messages=cast("MessageAccess", brought.get(MessageAccess, NO_MESSAGES)),
            notify=self._notify_of(tenant.id),
            conversations=self.said(tenant.id) if self.said else NO_CONVERSATIONS,
            memory=self.memory.for_tenant(tenant.id, turn_id) if self.memory else NO_MEMORY,
            services=brought,
        )
