"""Which of all tools a deployment exposes, and which of those one person can use."""

from collections.abc import Sequence

from core.tools.context import CredentialAccess
from core.tools.registry import ToolRegistry


def exposed(registry: ToolRegistry, tools: Sequence[str] | None, agents: Sequence[str] | None) -> ToolRegistry:
    """Keep the named tools and the named agents; None keeps all of a kind. Raises `ConfigError` for unknown names."""
    if tools is None and agents is None:
        return registry
    names = [one.name for one in registry if (agents if one.agent else tools) is None]
    return registry.only([*names, *(tools or ()), *(agents or ())])


def remembering(registry: ToolRegistry, *, memory: bool, as_tool: bool) -> ToolRegistry:
    """Leave out the tools of a memory that is off, or that the model may not ask by itself."""
    on = {"": True, "on": memory, "recall": memory and as_tool}
    if all(on[one.needs_memory] for one in registry):
        return registry
    return ToolRegistry(one for one in registry if on[one.needs_memory])


async def usable(registry: ToolRegistry, access: CredentialAccess, tenant_id: str) -> ToolRegistry:
    """Leave out the tools whose account this person has not connected."""
    services = {one.needs_account for one in registry if one.needs_account}
    if not services:
        return registry
    connected = {name for name in services if (await access.accounts(tenant_id, name)).names}
    return ToolRegistry(one for one in registry if not one.needs_account or one.needs_account in connected)
