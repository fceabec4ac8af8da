"""Names of people and tasks, read as the person to whom they belong."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from core.people.access_policy import PersonRole
from operations.console.access import Scope


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """A person's name, and the role and tier that decide about their limits."""

    name: str
    role: PersonRole
    tier: str


async def read_person(scope: Scope, tenant_id: str) -> NamedPerson | None:
    """Return a person; None if they were deleted."""
    row = await scope.tenant_row(
        tenant_id,
        "select coalesce(nullif(t.name, ''), (select i.name from identities i where i.tenant_id = $1 and i.name <> ''"
        " order by i.created_at limit 1), '') as name, t.role, t.tier from tenants t where t.tenant_id = $1",
    )
    return NamedPerson(row["name"], PersonRole(row["role"]), row["tier"]) if row else None


async def read_titles(scope: Scope, tasks: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the numbers and titles of tasks, given by person and id; those that are gone are left out."""
    titles = {}
    by_person: dict[str, list[str]] = defaultdict(list)
    for tenant_id, task_id in tasks:
        by_person[tenant_id].append(task_id)
    for tenant_id, ids in by_person.items():
        for row in await scope.tenant_rows(tenant_id, "select task_id, title from titles_of_tasks($1,$2)", ids):
            titles[tenant_id, row["task_id"]] = row["title"]
    return titles
