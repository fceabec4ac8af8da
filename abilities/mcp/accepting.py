"""The work of `mcp list`, `mcp accept` and `mcp withdraw`."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from abilities.mcp.ability import ABILITY
from abilities.mcp.errors import LoginRefused
from abilities.mcp.letters import clean
from abilities.mcp.login import login_headers
from abilities.mcp.opening import Mcp, open_mcp
from abilities.mcp.settings import McpSettings
from abilities.mcp.tools import tool_name
from abilities.mcp.types import Definition, McpServer
from abilities.mcp.wording import suspicions, unusable
from core.errors import ConfigError, OneValetError
from core.json_types import JsonObject
from core.tools.accepted import Accepted
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import foundation_of, open_database
from onevalet.settings import Settings


@dataclass(frozen=True, slots=True)
class _Seen:
    """A tool as its server describes it now, compared with its accepted definition."""

    server: McpServer
    definition: Definition
    accepted: Accepted | None
    warnings: tuple[str, ...]
    left_out: str

    @property
    def state(self) -> str:
        if self.left_out:
            return "not offered"
        if self.accepted is None:
            return "new"
        return "accepted" if self.accepted.hash == self.definition.hash else "changed"


async def print_tools(settings: Settings, server: str, tenant: str, *, as_json: bool) -> None:
    """List the servers' present tools; a server that cannot be reached is named with the cause."""
    told: list[JsonObject] = []
    async with _opened(settings) as mcp:
        for one in _named(mcp, server):
            try:
                seen = await _look(settings, mcp, one, tenant)
            except OneValetError as error:
                told.append({"server": one.name, "problem": _problem(error)})
                continue
            told += [
                {
                    "server": one.name,
                    "tool": item.definition.name,
                    "state": item.state,
                    "reads": item.definition.reads and one.trusts_to_read(item.definition.name),
                    "warnings": [*item.warnings],
                    "problem": item.left_out,
                }
                for item in seen
            ]
    if as_json:
        say_json(told)
        return
    for row in told:
        if "tool" not in row:
            say(f"{row['server']}: {row['problem']}")
            continue
        warnings = row["warnings"]
        remarks = [str(row["problem"]), *(map(str, warnings) if isinstance(warnings, list) else ())]
        asks = "without approval" if row["reads"] else "with approval"
        listed = "; ".join(remark for remark in remarks if remark)
        say(f"{row['server']}  {row['tool']}  {row['state']}  {asks}{f'  ({listed})' if listed else ''}")
    if not told:
        say("No server offers anything.")


async def accept(settings: Settings, server: str, tool: str, tenant: str, *, anyway: bool) -> bool:
    """Accept a server's present tools, after showing them; return whether all of them were accepted."""
    whole = True
    async with _opened(settings) as mcp:
        (one,) = _named(mcp, server)
        seen = [
            item
            for item in await _look(settings, mcp, one, tenant)
            if tool in ("", item.definition.name) and not item.left_out
        ]
        if not seen:
            raise ConfigError(f"{server} offers {f'no tool {tool}' if tool else 'nothing that may be used'}.")
        for item in seen:
            if item.state == "accepted":
                say(f"{item.definition.name}: accepted already.")
                continue
            _show(item)
            if item.warnings and not anyway:
                say(f"Not accepted: {'; '.join(item.warnings)}. Read it; --anyway accepts it.\n")
                whole = False
                continue
            definition = item.definition
            await mcp.accepted.accept(Accepted(one.name, definition.name, definition.hash, definition.to_json()))
            say("Accepted.\n")
    return whole


async def withdraw(settings: Settings, server: str, tool: str) -> None:
    """Withdraw accepted tools; raise `ConfigError` if there were none."""
    async with _opened(settings) as mcp:
        accepted = [one for one in await mcp.accepted.list() if one.source == server and tool in ("", one.name)]
        for one in accepted:
            await mcp.accepted.withdraw(one.source, one.name)
    if not accepted:
        raise ConfigError(f"Nothing of that was accepted of {server}.")
    say(f"Withdrawn: {', '.join(one.name for one in accepted)}.")


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Mcp]:
    file = settings.of(McpSettings).onevalet_mcp
    if file is None:
        raise ConfigError("No MCP servers are configured: ONEVALET_MCP names a file of them (docs/mcp.md).")
    async with (
        open_database(settings, "mcp", size=2) as database,
        open_mcp(foundation_of(ABILITY, settings, database), file) as mcp,
    ):
        yield mcp


def _named(mcp: Mcp, name: str) -> Sequence[McpServer]:
    found = [server for server in mcp.servers if name in ("", server.name)]
    if name and not found:
        there = ", ".join(server.name for server in mcp.servers) or "none"
        raise ConfigError(f"There is no MCP server {name}; there are: {there}.")
    return found


async def _look(settings: Settings, mcp: Mcp, server: McpServer, tenant: str) -> list[_Seen]:
    headers: Mapping[str, str] = await login_headers(settings, server, tenant) if server.account else {}
    try:
        offered = await mcp.connections.tools(server.name, headers)
    except OneValetError as error:
        raise ConfigError(f"{server.name}: {_problem(error)}.") from error
    accepted = {one.name: one for one in await mcp.accepted.list() if one.source == server.name}
    names = [definition.name for definition in offered]
    return [
        _Seen(
            server,
            definition,
            accepted.get(definition.name),
            tuple(suspicions(definition, names)),
            _left_out(server, definition),
        )
        for definition in offered
    ]


def _left_out(server: McpServer, definition: Definition) -> str:
    if not server.allows(definition.name):
        return "not on its allow list"
    if tool_name(server.name, definition.name) is None:
        return "its name is too long"
    return unusable(definition, server)


def _show(item: _Seen) -> None:
    definition = item.definition
    say(f"{item.server.name}  {definition.name}  ({item.state})")
    if item.accepted is not None:
        before = Definition.from_json(item.accepted.definition)
        say(f"  Before: {clean(before.description)}\n  {json.dumps(before.schema)}")
    # Escaped as JSON: invisible characters become visible.
    say(f"  It says: {json.dumps(definition.description)}")
    say(f"  Parameters: {json.dumps(definition.schema)}")
    reads = definition.reads and item.server.trusts_to_read(definition.name)
    say(f"  {'Runs without approval.' if reads else 'Each call needs the person’s approval.'}")


def _problem(error: OneValetError) -> str:
    if isinstance(error, LoginRefused):
        return "it refuses the login"
    return str(error) or type(error).__name__
