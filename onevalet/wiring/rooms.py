"""What a worker has besides its stores, which an orchestrator's tools reach."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from core.approvals.store import ApprovalStore
from core.db.database import Database
from core.outreach.outreach import Outreach
from core.skills.tools import SkillTools
from core.tools.accepted import AcceptedDefinitions
from core.tools.storage import Storage
from core.tools.tool import ToolSource
from core.triggers.engine import TriggerEngine
from core.turns.services import Notify
from onevalet.settings import Settings
from onevalet.wiring.senses import Files


@dataclass(frozen=True, slots=True)
class Rooms:
    """What there is; None for what a worker does not have."""

    approvals: ApprovalStore | None = None
    engine: TriggerEngine | None = None
    files: Files | None = None
    outreach: Outreach | None = None
    notify: Notify | None = None
    brought: tuple[object, ...] = ()
    """What a program brings besides the plugins' modules."""
    sources: Sequence[ToolSource] = ()
    """What brings further tools: MCP servers, skills."""
    prefixes: Sequence[str] = ()
    """What the names of their tools begin with."""


async def with_extensions(stack: AsyncExitStack, rooms: Rooms, settings: Settings, database: Database) -> Rooms:
    """Return the rooms with what the settings name; `stack` closes it."""
    skills = SkillTools(AcceptedDefinitions(database, "skill"), Storage(database))
    rooms = replace(rooms, sources=(*rooms.sources, skills))
    if settings.onevalet_mcp is not None:
        from onevalet.wiring.mcp import open_mcp

        mcp = await stack.enter_async_context(open_mcp(settings, database))
        rooms = replace(rooms, sources=(*rooms.sources, mcp.tools()), prefixes=(*rooms.prefixes, *mcp.prefixes))
    return rooms
