"""Where an orchestrator finds what belongs to one person: each gives access to that person's only."""

from collections.abc import Sequence
from typing import Protocol

from core.memory.access import MemoryAccess
from core.tools.context import CredentialAccess, PersonAccess, TenantStorage, TenantTasks


class Recall(Protocol):
    """Long-term memory, as far as a turn needs it."""

    @property
    def as_tool(self) -> bool:
        """Return whether the model may ask memory by itself."""
        ...

    async def recall(self, tenant_id: str, query: str, *, turn_id: str = "") -> Sequence[str]:
        """Return what is known and may matter, the most important first; nothing while memory is away."""
        ...

    def for_tenant(self, tenant_id: str, turn_id: str = "") -> MemoryAccess:
        """Return a tool access to this tenant's memory only."""
        ...


class CredentialStoreAccess(Protocol):
    """Where one tenant's credentials are looked up."""

    def for_tenant(self, tenant_id: str) -> CredentialAccess:
        """Return access to this tenant's credentials only."""
        ...


class StorageAccess(Protocol):
    """Where tools keep things for one tenant."""

    def for_tenant(self, tenant_id: str) -> TenantStorage:
        """Return access to this tenant's values only."""
        ...


class PeopleAccess(Protocol):
    """What is known of people, one at a time (core.people.people)."""

    def for_turn(self, tenant_id: str, turn_id: str) -> PersonAccess:
        """Return access to this person only."""
        ...

    async def known(self, tenant_id: str) -> Sequence[str]:
        """Return the person's profile as lines for the model."""
        ...


class TaskEngine(Protocol):
    """What plans for people: `core.triggers.engine.TriggerEngine`, which stands above turns."""

    def for_tenant(self, tenant_id: str) -> TenantTasks:
        """Return access to this tenant's tasks only."""
        ...
