"""Connections with MCP servers: a process is kept and restarted with backoff, a remote server is connected for each
use.

Before each call the server's tools are listed: a tool whose definition differs from the accepted definition is not
called. A server that exceeds its limits is left alone for a while, longer each time.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from abilities.mcp.errors import (
    AnswerTooLarge,
    AnswerUnreadable,
    DefinitionChanged,
    NoAnswer,
    ServerAway,
    ServerLost,
    Silent,
    ToolGone,
    Unreadable,
)
from abilities.mcp.types import Definition, McpServer, ServerReply
from core.http.guarded_client import GuardedClient
from core.http.peer import Pauses, PeerExceeded
from core.json_types import JsonObject

if TYPE_CHECKING:
    from abilities.mcp.sdk import Session

_LONGEST_PAUSE = 60.0
_STOPPING = 5.0

_log = structlog.get_logger()


class Connections:
    """The connections of a process with all servers.

    `who` is the person whose account a server uses; if such a server exceeds its limits, it is left alone for them
    only, any other for all people. All methods raise `LeftAlone` during that time, and `ServerAway` if it does not
    answer.
    """

    def __init__(self, servers: Sequence[McpServer], http: GuardedClient, pauses: Pauses | None = None) -> None:
        self._http = http
        self._pauses = pauses or Pauses("mcp")
        self._servers = {server.name: server for server in servers}
        self._processes = {server.name: _Process(server, http, self._exceeded) for server in servers if server.command}

    async def tools(self, server: str, headers: Mapping[str, str] | None = None, who: str = "") -> Sequence[Definition]:
        """Return the tools that a server offers now."""
        return await self._use(server, headers, who, lambda session: _reading(session.tools()))

    async def call(
        self,
        server: str,
        accepted: Definition,
        arguments: JsonObject,
        headers: Mapping[str, str] | None = None,
        who: str = "",
    ) -> ServerReply:
        """Call a tool whose definition was accepted.

        Raises `DefinitionChanged`, `ToolGone` or `ServerAway` if the tool was not called, `ErrorAnswered` if the server
        answered with an error, and `ServerLost` if the outcome is unknown.
        """

        async def call(session: "Session") -> ServerReply:
            await _check(session, accepted)
            return await session.call(accepted.name, arguments)

        return await self._use(server, headers, who, call)

    async def resources(self, server: str, headers: Mapping[str, str] | None = None, who: str = "") -> ServerReply:
        """Return the list of a server's resources, in words."""
        return await self._use(server, headers, who, _resources)

    async def read(self, server: str, uri: str, headers: Mapping[str, str] | None = None, who: str = "") -> ServerReply:
        """Read a resource of a server."""
        return await self._use(server, headers, who, lambda session: _reading(session.read(uri)))

    async def close(self) -> None:
        """End all processes."""
        for process in self._processes.values():
            await process.close()

    async def _use[T](
        self, name: str, headers: Mapping[str, str] | None, who: str, work: "Callable[[Session], Awaitable[T]]"
    ) -> T:
        self._pauses.check(who, name, host=name)
        try:
            result = await self._worked(name, headers, work)
        except AnswerTooLarge:
            self._exceeded(name, who)
            raise
        except PeerExceeded:
            self._exceeded(name, who)
            self._pauses.check(who, name, host=name)
            raise  # unless the pause is over already
        self._pauses.kept_to_it(who, name)
        return result

    async def _worked[T](
        self, name: str, headers: Mapping[str, str] | None, work: "Callable[[Session], Awaitable[T]]"
    ) -> T:
        if process := self._processes.get(name):
            return await process.use(work)
        from abilities.mcp.sdk import open_session  # takes seconds: only if a server is used

        async with open_session(self._servers[name], self._http, headers) as session:
            return await work(session)

    def _exceeded(self, name: str, who: str = "") -> None:
        seconds = self._pauses.exceeded(who, name)
        _log.warning("mcp_server_left_alone", server=name, seconds=seconds)


class _Process:
    """A server that runs as our child process, kept between calls."""

    def __init__(self, server: McpServer, http: GuardedClient, exceeded: Callable[[str], None]) -> None:
        """`exceeded` is called for a server that exceeds its limits between requests."""
        self._server = server
        self._http = http
        self._exceeded = exceeded
        self._users = 0
        self._session: Session | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._starting = asyncio.Lock()
        self._failures = 0
        self._not_before = 0.0

    async def use[T](self, work: "Callable[[Session], Awaitable[T]]") -> T:
        """Work with the process, starting it if it does not run."""
        self._users += 1
        try:
            session = await self._running()
            try:
                result = await work(session)
            except (ServerLost, ServerAway, PeerExceeded) as error:
                if not self._may_go_on(error):
                    await self._lost(session)
                raise
        finally:
            self._users -= 1
        self._failures = 0
        return result

    async def close(self) -> None:
        """End the process."""
        self._stop.set()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError, TimeoutError):
                await asyncio.wait_for(asyncio.gather(self._task, return_exceptions=True), _STOPPING)
        self._task = self._session = None

    async def _running(self) -> "Session":
        async with self._starting:
            if self._session is not None and await self._answers(self._session):
                return self._session
            pause = self._not_before - time.monotonic()
            if pause > 0:
                raise ServerAway(f"{self._server.name} failed and is started again in {pause:.0f} seconds")
            return await self._start()

    async def _answers(self, session: "Session") -> bool:
        """Return whether a kept process lives: a request to a dead process would have an unknown outcome."""
        try:
            await session.tools()
        except ServerLost as error:
            if self._may_go_on(error):
                return True
            await self._lost(session)
            return False
        except PeerExceeded:
            await self._lost(session)
            raise
        except Exception:  # any other answer proves that it lives
            return True
        return True

    def _may_go_on(self, error: Exception) -> bool:
        """Return whether a session still works: it answered, if badly, or may be busy with others' calls."""
        return isinstance(error, AnswerUnreadable | Unreadable) or (
            isinstance(error, NoAnswer | Silent) and self._users > 1
        )

    async def _start(self) -> "Session":
        self._stop = asyncio.Event()
        ready: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(ready, self._stop), name=f"MCP server {self._server.name}")
        try:
            self._session = await asyncio.shield(ready)
        except BaseException as error:
            self._stop.set()  # a caller who stops waiting leaves no unused process behind
            if isinstance(error, Exception):
                self._failed()
            raise
        _log.info("mcp_server_started", server=self._server.name, era=self._session.era)
        return self._session

    async def _run(self, ready: "asyncio.Future[Session]", stop: asyncio.Event) -> None:
        """Hold the session: it is left in the task that entered it."""
        try:
            from abilities.mcp.sdk import open_session  # takes seconds: only if a server is used

            async with open_session(self._server, self._http) as session:
                ready.set_result(session)
                await stop.wait()
        except Exception as error:  # reported to the waiting caller; later there is none
            if not ready.done():
                ready.set_exception(error)
                return
            _log.info("mcp_server_ended", server=self._server.name, cause=type(error).__name__)
            if isinstance(error, PeerExceeded | AnswerTooLarge) and not self._users:
                self._exceeded(self._server.name)

    async def _lost(self, session: "Session") -> None:
        if self._session is session:
            self._session = None
            self._stop.set()
            self._failed()

    def _failed(self) -> None:
        """Wait longer with each failure in a row; the first start after a loss is at once."""
        pause = min(2.0 ** (self._failures - 1), _LONGEST_PAUSE) if self._failures else 0.0
        self._failures += 1
        self._not_before = time.monotonic() + pause
        _log.warning("mcp_server_failed", server=self._server.name, failures=self._failures)


async def _check(session: "Session", accepted: Definition) -> None:
    offered = next((tool for tool in await _reading(session.tools(accepted.name)) if tool.name == accepted.name), None)
    if offered is None:
        raise ToolGone(accepted.name)
    if offered.hash != accepted.hash:
        raise DefinitionChanged(accepted.name)


async def _resources(session: "Session") -> ServerReply:
    return ServerReply(await _reading(session.resources()))


async def _reading[T](asked: Awaitable[T]) -> T:
    """Wait for a request without effects: a lost answer leaves nothing unknown."""
    try:
        return await asked
    except AnswerUnreadable as error:
        raise Unreadable(str(error)) from error
    except NoAnswer as error:
        raise Silent(str(error)) from error
    except ServerLost as error:
        raise ServerAway(str(error)) from error
