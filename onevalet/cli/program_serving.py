"""The assistant as an MCP server over the pipes of its parent process, and the tokens for that."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from core.clock import Clock
from core.errors import ConfigError
from core.ids import make_id
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import one_tenant, open_database, reach, system_keys
from onevalet.settings import Settings
from onevalet.wiring.connections import open_connections
from onevalet.wiring.extras import require
from onevalet.wiring.logs import set_up_logs
from onevalet.wiring.program_doors import VERSION, build_client_tools
from operations.programs.tokens import LIFE, Client, ClientTokens

VARIABLE = "ONEVALET_MCP_TOKEN"


async def serve_pipes(settings: Settings) -> None:
    """Serve the MCP client that started this process; its token is in ONEVALET_MCP_TOKEN."""
    require("mcp", "`mcp`", "let the program connect to the address of `web` instead")
    token = os.environ.get(VARIABLE, "")
    if not token:
        raise ConfigError(f"{VARIABLE} is not set: make a token with `mcp token NAME`, or write that in a chat.")
    set_up_logs(settings.onevalet_log, settings.secrets(), sys.stderr)  # the pipe out is the protocol's
    reached = reach(settings)
    settings = settings.model_copy(
        update={"database_url": SecretStr(reached.database_url), "redis_url": SecretStr(reached.redis_url)}
    )
    clock = Clock(settings.onevalet_clock)
    async with open_connections(settings, "onevalet mcp", size=3) as connections:
        tokens = ClientTokens.of(connections.database, make_id, system_keys(settings))
        if await tokens.client(token, clock.now()) is None:
            raise ConfigError(f"{VARIABLE} holds no token that is good now.")

        async def who(_: Any) -> Client | None:
            return await tokens.client(token, clock.now())  # each time: it may have been revoked

        sdk = await asyncio.to_thread(_sdk)
        await sdk.serve_pipes(build_client_tools(connections, clock), who, VERSION)


async def make(settings: Settings, tenant: str, name: str) -> None:
    """Create a token, and print it this once."""
    async with _tokens(settings, tenant) as (tokens, owner, clock):
        made = await tokens.make(owner, name, clock.now(), LIFE)
    if made is None:
        raise ConfigError(f"{owner} has too many tokens: revoke one.")
    url = settings.public_url or reach(settings).gateway_url or f"http://{settings.host}:{settings.port}"
    say(f"token   {made.secret}   (shown this once)\nnumber  {made.number}, of {owner}\nURL     {url.rstrip('/')}/mcp")


async def print_tokens(settings: Settings, tenant: str, *, as_json: bool) -> None:
    """List a person's tokens."""
    async with _tokens(settings, tenant) as (tokens, owner, clock):
        found = await tokens.list(owner, clock.now())
    if as_json:
        rows = [
            {
                "number": token.number,
                "name": token.name,
                "made_at": token.made_at.isoformat(),
                "expires_at": token.expires_at.isoformat() if token.expires_at else None,
                "last_used_at": token.last_used_at.isoformat() if token.last_used_at else None,
                "uses": token.uses,
            }
            for token in found
        ]
        say_json(rows)
        return
    for token in found:
        until = f"{token.expires_at:%Y-%m-%d}" if token.expires_at else "it is revoked"
        used = f"{token.last_used_at:%Y-%m-%d %H:%M}" if token.last_used_at else "never"
        say(f"{token.number:>3}  {token.name:<24} valid until {until}, last used {used}, {token.uses} requests")
    if not found:
        say(f"{owner} has no tokens: make one with `mcp token NAME`.")


async def revoke(settings: Settings, tenant: str, number: int) -> None:
    """Revoke a token; raise `ConfigError` if there is none of this number."""
    async with _tokens(settings, tenant) as (tokens, owner, clock):
        name = await tokens.revoke(owner, number, clock.now())
    if name is None:
        raise ConfigError(f"{owner} has no token {number}.")
    say(f"Revoked: {name}, of {owner}.")


@asynccontextmanager
async def _tokens(settings: Settings, tenant: str) -> AsyncIterator[tuple[ClientTokens, str, Clock]]:
    async with open_database(settings, "mcp") as database:
        owner = await one_tenant(database, tenant)
        yield ClientTokens.of(database, make_id, system_keys(settings)), owner, Clock(settings.onevalet_clock)


def _sdk() -> Any:
    from operations.programs import sdk  # takes seconds

    return sdk
