"""The rights of viewers in the console: people see their own data, operators all people's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Viewer:
    """The person who looks at the console. An operator sees all people's data."""

    tenant_id: str
    operator: bool
    name: str = ""
    timezone: str | None = None

    def sees(self, tenant_id: str) -> bool:
        return self.operator or self.tenant_id == tenant_id
