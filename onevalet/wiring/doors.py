"""Routes of `web` for people and programs besides channels: the console and the MCP server, loaded when used."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

from core.clock import Clock
from core.credentials.store import CredentialStore
from core.ids import make_id
from core.messaging.channels import Channel
from onevalet.wiring.connections import Connections
from onevalet.wiring.console import build_console
from onevalet.wiring.program_doors import open_program_door
from operations.programs.tokens import ClientTokens

if TYPE_CHECKING:  # unused by `web`
    from core.tools.account_access import PeoplesAccounts


@asynccontextmanager
async def open_doors(
    connections: Connections,
    accounts: "PeoplesAccounts | None",
    credentials: CredentialStore,
    clock: Clock,
    channels: Sequence[Channel],
    *,
    local_console: bool,
    stopping: asyncio.Event,
) -> AsyncIterator[Sequence[web.RouteDef]]:
    """Yield the routes. `local_console`: a browser on this machine needs no session. `stopping`: set at a stop."""
    tokens = ClientTokens.of(connections.database, make_id, credentials.keys)
    console = build_console(connections, accounts, credentials, tokens, clock, channels, local=local_console)
    async with open_program_door(connections, tokens, clock, stopping) as programs:
        yield [*console.routes(), *programs.routes()]
