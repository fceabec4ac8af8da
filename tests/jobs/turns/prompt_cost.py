"""What the prompt of a "hello" costs with everything that can be offered, counted on what arrives at the model."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from abilities.mcp.types import Definition
from abilities.skills.types import Skill
from abilities.skills.use import USE
from core.db.database import Database
from core.json_types import JsonObject
from core.llm.types import BYTES_PER_TOKEN
from core.tools.accepted import Accepted, AcceptedDefinitions
from core.tools.toolbox import SWITCH
from tests.abilities.memory.talking import Talking, talking
from tests.scripted_model import ModelCall, Script

SERVERS = ("linear", "notion", "sentry", "drive", "jira")
VERBS = ("list", "find", "create", "archive", "assign")
THINGS = ("tickets", "boards")
SKILLS = 20
_PARTS = {SWITCH: "names of the tools in groups", USE: "list of twenty skills"}


def definition(verb: str, thing: str) -> Definition:
    """Return a tool as servers describe theirs."""
    words: JsonObject = {"type": "string", "description": "Words to look for, or the identifier."}
    count: JsonObject = {"type": "integer", "description": "How many to return at most; 20 unless given."}
    schema: JsonObject = {"type": "object", "properties": {"query": words, "limit": count}, "required": ["query"]}
    says = f"{verb.title()} {thing} of the workspace. Returns identifier, title, state and owner of each, newest first."
    return Definition(f"{verb}_{thing}", says, schema)


@asynccontextmanager
async def everything(
    database_url: str, redis_url: str, home: Path, patch: pytest.MonkeyPatch, script: Script, **configured: object
) -> AsyncIterator[Talking]:
    """Yield a worker with all tools that ship, fifty tools of MCP servers and twenty skills."""
    servers = home / "mcp.toml"
    servers.write_text("".join(f'[servers.{name}]\nurl = "https://mcp.example/{name}"\n' for name in SERVERS))
    settings: dict[str, object] = {
        "onevalet_mcp": servers,
        "onevalet_search": "searxng",
        "onevalet_search_url": "http://search.example",
    }
    async with talking(database_url, redis_url, home, patch, script, **(settings | configured)) as person:
        await _accept(person.store.database)
        yield person


async def _accept(database: Database) -> None:
    tools, skills = AcceptedDefinitions(database, "mcp"), AcceptedDefinitions(database, "skill")
    for tool in [definition(verb, thing) for verb in VERBS for thing in THINGS]:
        for server in SERVERS:
            await tools.accept(Accepted(server, tool.name, tool.hash, tool.to_json()))
    line = "When somebody wants the weekly report of a project, or asks how it went"
    for number in range(SKILLS):
        skill = Skill(f"report-{number}", line, "Ask for the project first.", {})
        await skills.accept(Accepted(skill.name, skill.name, skill.hash, skill.to_json()))


def tokens_of(call: ModelCall) -> int:
    """Return the tokens of a prompt, its tools included, at four bytes each."""
    return sum(map(_bytes, [*call.messages, *described(call)])) // BYTES_PER_TOKEN


def parts_of(call: ModelCall) -> Mapping[str, int]:
    """Return the tokens of a prompt by what they are for."""
    sizes: dict[str, int] = {}
    for message in call.messages:
        part = "system prompt" if message["role"] == "system" else "messages"
        sizes[part] = sizes.get(part, 0) + _bytes(message)
    for tool in described(call):
        part = _PARTS.get(tool["name"], "tools of MCP servers" if "__" in tool["name"] else "tools that ship")
        sizes[part] = sizes.get(part, 0) + _bytes(tool)
    return {name: size // BYTES_PER_TOKEN for name, size in sizes.items()}


def described(call: ModelCall) -> Sequence[dict[str, Any]]:
    """Return the tools of a prompt as it describes them."""
    return [tool["function"] for tool in cast(list[Any], call.body.get("tools", []))]


def _bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
