"""Who may see what in the console: people their own data, operators everybody's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Viewer:
    """The person who looks at the console. An operator sees everybody's."""

    tenant_id: str
    operator: bool
    name: str = ""
    timezone: str | None = None

    def sees(self, tenant_id: str) -> bool:
        return self.operator or self.tenant_id == tenant_id
