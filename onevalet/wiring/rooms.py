"""What a worker has besides its stores, which an orchestrator's tools reach."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial

from core.approvals.store import ApprovalStore
from core.db.database import Database
from core.outreach.outreach import Outreach
from core.tools.tool import ToolSource
from core.triggers.engine import TriggerEngine
from core.turns.services import Notify
from onevalet.ability import Foundation
from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings
from onevalet.wiring.http import guarded_client
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
    """What brings further tools, which abilities open."""
    prefixes: Sequence[str] = ()
    """What the names of their tools begin with."""


async def with_abilities(stack: AsyncExitStack, rooms: Rooms, settings: Settings, database: Database) -> Rooms:
    """Return the rooms with what the abilities open; `stack` closes it."""
    foundation = Foundation(settings, database, partial(guarded_client, settings))
    for ability in all_abilities():
        if ability.sources is not None:
            opened = await stack.enter_async_context(ability.sources(foundation))
            sources, prefixes = (*rooms.sources, *opened.sources), (*rooms.prefixes, *opened.prefixes)
            rooms = replace(rooms, sources=sources, prefixes=prefixes)
    if settings.onevalet_mcp is not None:
        from onevalet.wiring.mcp import open_mcp

        mcp = await stack.enter_async_context(open_mcp(settings, database))
        rooms = replace(rooms, sources=(*rooms.sources, mcp.tools()), prefixes=(*rooms.prefixes, *mcp.prefixes))
    return rooms
