"""MCP servers for tests: what they offer stands in a file that a test may change while they run."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abilities.mcp.types import McpServer
from tests.eventually import eventually_blocking
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ScriptedMcp:
    """A server's script."""

    path: Path
    name: str = "home"
    program: tuple[str, ...] = (sys.executable, "-m", "tests.servers.mcp_script")
    """What starts it: a Python of its own, or the fixture `mcp_forks`, which takes milliseconds."""

    def offers(self, *tools: dict[str, Any], **more: Any) -> None:
        """Say what the server offers from now on."""
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({"tools": tools, **more}))
        fresh.replace(self.path)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Return the calls that it got."""
        path = self.path.with_suffix(".calls")
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def command(self) -> tuple[str, ...]:
        """Return what starts it over its pipes."""
        return (*self.program, str(self.path))

    def over_pipes(self, **options: Any) -> McpServer:
        """Return it as an operator would configure it."""
        return McpServer(self.name, command=self.command, folder=str(ROOT), timeout=SECONDS, **options)

    @contextmanager
    def over_http(self, **options: Any) -> Iterator[McpServer]:
        """Run it on a port of loopback inside the block."""
        port = free_port()
        process = subprocess.Popen([*self.command, str(port)], cwd=ROOT, env={**os.environ})
        try:
            _wait(port, process)
            yield McpServer(self.name, url=f"http://127.0.0.1:{port}/mcp", timeout=SECONDS, **options)
        finally:
            process.kill()
            process.wait()


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    def listens() -> bool:
        if process.poll() is not None:
            raise RuntimeError("the MCP server ended")
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), SECONDS).close()
            return True
        return False

    eventually_blocking(listens, "the MCP server at its port")
