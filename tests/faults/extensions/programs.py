"""Programs of people's, by the official client of MCP: over HTTP, or over the pipes of a server that they start."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.eventually import eventually
from tests.faults.harness import PUBLIC_URL
from tests.forker import ROOT

SECONDS = 30.0
WITHIN = 90.0


@dataclass(slots=True)
class Program:
    """One program. `ids` and `answers`: all that it was ever told of its one request."""

    url: str
    secret: str
    message: str
    ids: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)

    async def ask(self) -> None:
        """Ask under the one id, once more where that breaks off, until it is told how the request stands."""
        await eventually(self._asked, f"what became of {self.message}", within=WITHIN)

    async def ask_over_pipes(self, environment: Mapping[str, str]) -> None:
        """Ask once by a server that is started for it, and may die."""
        started = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tests.faults.crashing", "mcp"],
            env={**environment, "ONEVALET_MCP_TOKEN": self.secret},
            cwd=str(ROOT),
        )
        with open(os.devnull, "w", encoding="utf-8") as nowhere, suppress(Exception):  # noqa: ASYNC230 - it never blocks
            async with Client(stdio_client(started, errlog=nowhere), read_timeout_seconds=SECONDS) as client:
                await self._ask(client)

    async def _asked(self) -> bool:
        headers = {"Authorization": f"Bearer {self.secret}", "Host": PUBLIC_URL.removeprefix("https://")}
        known = len(self.ids)
        with suppress(Exception):  # the SDK's task groups wrap whatever a dead server comes to
            async with (
                httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
                Client(streamable_http_client(f"{self.url}/mcp", http_client=http)) as client,
            ):
                return await self._ask(client)
        return len(self.ids) > known

    async def _ask(self, client: Client) -> bool:
        told = await client.call_tool("ask", {"message": self.message, "request_id": "r1", "wait_seconds": 1})
        standing: dict[str, Any] = told.structured_content or {}
        if "id" not in standing:
            return False
        self.ids.add(str(standing["id"]))
        if standing["status"] == "answered":
            self.answers.add(str(standing["answer"]))
        return True
