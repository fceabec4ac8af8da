"""Access for people's programs: the route of `web`, and its tools, which are imported with the first use."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from core.clock import Clock
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.people.access_policy import Access, Policy
from core.people.rate_limit import Rates
from onevalet.ability_registry import all_abilities
from onevalet.wiring.connections import Connections, redis_url
from onevalet.wiring.extras import is_installed
from operations.programs.door import ProgramDoor
from operations.programs.tokens import ClientTokens

if TYPE_CHECKING:
    from operations.programs.sdk import HttpServer
    from operations.programs.tools import ClientTools

VERSION = "0.1"


def build_client_tools(connections: Connections, clock: Clock, stopping: asyncio.Event | None = None) -> "ClientTools":
    """Create the tools over this process' connections. Once `stopping` is set they wait for no answer any more."""
    from core.approvals.store import ApprovalStore
    from onevalet.wiring.memories import open_memories
    from operations.programs.asking import ProgramRequests
    from operations.programs.tools import ClientTools

    settings, database = connections.settings, connections.database
    # A token's person was admitted when it was made; there is no other way in here.
    access = Access(Policy.ALLOWLIST)
    inbox = Inbox(database, connections.wakeups, make_id, access, clock=clock, waiting=settings.waiting)
    return ClientTools(
        ProgramRequests(database, inbox, stopping or asyncio.Event()),
        ApprovalStore(database, connections.wakeups),
        database,
        open_memories(settings, database, clock),
        [tool for ability in all_abilities() if ability.client_tools for tool in ability.client_tools(database)],
    )


@asynccontextmanager
async def open_program_door(
    connections: Connections, tokens: ClientTokens, clock: Clock, stopping: asyncio.Event
) -> AsyncIterator[ProgramDoor]:
    """Yield the door. `stopping` is set when the process stops: no program is waited for then."""
    settings = connections.settings

    def load() -> "HttpServer":
        from operations.programs.sdk import HttpServer

        return HttpServer(build_client_tools(connections, clock, stopping), VERSION)

    door = ProgramDoor(
        tokens,
        clock,
        Rates(redis_url(settings)),
        load,
        public_url=settings.public_url,
        missing=not is_installed("mcp"),
    )
    try:
        yield door
    finally:
        await door.close()
