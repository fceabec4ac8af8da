"""Breaks the assistant's servers on the page's request: for real, and only the product itself recovers."""

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
from redis.asyncio import Redis

from core.errors import RequestRefused
from core.json_types import JsonObject
from onevalet.servers.server import EmbeddedServer
from onevalet.settings import Settings
from workbench.demo.trouble import Trouble, set_trouble, trouble_of
from workbench.dev.processes.assistant import Assistant

log = structlog.get_logger()


def words_of(wanted: JsonObject) -> str:
    """Return a request in the words of a scenario's `break`; empty if it breaks nothing."""
    match wanted:
        case {"kill": str(part)}:
            return part
        case {"stop": "postgres"}:
            return "postgres"
        case {"stop": "valkey"} | {"flush": "valkey"}:
            return "redis"
        case {"model": str(trouble)}:
            return f"model {'works' if trouble == Trouble.NONE else trouble}"
    return ""


@dataclass(slots=True)
class Breaking:
    """The breakable parts. `servers` are the embedded servers; `trouble` is the demo model's file.

    `is_demo` says whether that model answers. `assistant` is there once `dev` has begun to start it.
    """

    servers: Sequence[EmbeddedServer]
    redis_url: str
    trouble: Path
    is_demo: bool = True
    assistant: Assistant | None = None

    def shown(self) -> JsonObject:
        """Return the status of each breakable part."""
        return {
            **(self.assistant.shown() if self.assistant else {"processes": False, "parts": {}}),
            "servers": {server.name: server.running for server in self.servers},
            "model": trouble_of(self.trouble).value if self.is_demo else None,
        }

    def meet(self, settings: Settings) -> None:
        """Take note of another model; the demo model's trouble is over."""
        self.is_demo = not settings.onevalet_model
        set_trouble(self.trouble, Trouble.NONE)

    async def do(self, wanted: JsonObject) -> None:
        """Break a part, or put it right. Raises `RequestRefused`."""
        match wanted:
            case {"processes": bool(on)}:
                await self._started().change(processes=on)
            case {"kill": "worker" | "web" as part}:
                self._started().kill(str(part))
            case {"stop": str(name)}:
                self._stop(name)
            case {"flush": "valkey"}:
                await self._flush()
            case {"model": str(kind)} if self.is_demo and kind in set(Trouble):
                set_trouble(self.trouble, Trouble(kind))
            case _:
                raise RequestRefused("That cannot be broken here.")

    def _started(self) -> Assistant:
        if self.assistant is None:
            raise RequestRefused("The assistant is starting.", status=503)
        return self.assistant

    def _stop(self, name: str) -> None:
        server = next((one for one in self.servers if one.name == name), None)
        if server is None or server.pid is None or not server.running:
            raise RequestRefused(
                f"No {name} of ours runs at the moment; one that you have set an address of is left alone."
            )
        log.warning("stopped_from_the_page", server=name)
        # At once, without a word to its clients: Postgres' "immediate", after which it recovers from its log.
        os.kill(server.pid, signal.SIGQUIT if name == "postgres" else signal.SIGKILL)

    async def _flush(self) -> None:
        client = Redis.from_url(self.redis_url)
        try:
            await client.flushall()
        finally:
            await client.aclose()
