"""The messages between the MCP SDK and a server: by pipes or over HTTP, counted, made storable and cut.

A server's output is counted on arrival (`abilities.mcp.hearing`), and repaired before the SDK parses it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self

import anyio
from mcp import types
from mcp.shared.message import SessionMessage
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from abilities.mcp.hearing import Ear, in_turns, sound_object
from abilities.mcp.mending import mended
from abilities.mcp.messages import read_messages
from abilities.mcp.pipes import Pipes, started
from abilities.mcp.types import McpServer


class _Stream:
    """A stream of messages of the SDK; `asked` are the methods of the requests that were not answered yet."""

    def __init__(self, stream: Any, asked: dict[str, str]) -> None:
        self._stream = stream
        self._asked = asked

    async def aclose(self) -> None:
        """Close it."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class SaidStream(_Stream):
    """The stream of messages to a server."""

    async def send(self, item: SessionMessage) -> None:
        """Note a request's method, and send it."""
        if isinstance(item.message, JSONRPCRequest):
            self._asked[str(item.message.id)] = item.message.method
        await self._stream.send(item)


class HeardStream(_Stream):
    """The stream of messages from a server: each is counted, and repaired as far as possible."""

    def __init__(self, stream: Any, ear: Ear, asked: dict[str, str]) -> None:
        super().__init__(stream, asked)
        self._ear = ear

    @property
    def last_context(self) -> Any:
        """Return the context in which the message was sent, which the SDK asks for."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage:
        """Return the next message that the SDK has to know of. Raises `PeerExceeded`."""
        while True:
            item = await self._stream.receive()
            is_request = isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCRequest)
            await self._ear.message(request=is_request)
            if isinstance(item, SessionMessage) and await self._sound(item):
                return item

    async def _sound(self, item: SessionMessage) -> bool:
        """Make a message storable; return whether the SDK needs it then."""
        message, size = item.message, self._ear.taken()
        try:
            match message:
                case JSONRPCResponse():
                    method = self._asked.pop(str(message.id), "")
                    message.result = await in_turns(size, mended, method, message.result)
                case JSONRPCRequest() | JSONRPCNotification() if message.params is not None:
                    message.params = await in_turns(size, sound_object, message.params)
                case JSONRPCError(error=told):
                    self._asked.pop(str(message.id), "")
                    sound = await in_turns(size, sound_object, {"message": told.message, "data": told.data})
                    told.message, told.data = str(sound["message"]), sound["data"]
        except (ValueError, RecursionError):
            if not isinstance(message, JSONRPCResponse | JSONRPCError):
                return False
            item.message = _unreadable(message.id)
        return True

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


@asynccontextmanager
async def over_pipes(server: McpServer, ear: Ear) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server and yield the streams by which the SDK speaks with it."""
    async with started(server, ear) as pipes:
        incoming, read = anyio.create_memory_object_stream[SessionMessage](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        with incoming, read, write, outgoing:
            async with anyio.create_task_group() as group:
                group.start_soon(_receive, pipes, incoming)
                group.start_soon(_send, pipes, outgoing, incoming)
                yield read, write
                group.cancel_scope.cancel()


async def _receive(pipes: Pipes, incoming: Any) -> None:
    """Pass on a server's output, line by line. A line without a message is skipped."""
    with incoming:
        async for line in pipes.lines():
            for said in await read_messages(line):
                try:
                    message = jsonrpc_message_adapter.validate_python(said, by_name=False)
                except (ValueError, RecursionError):
                    if not isinstance(said.get("id"), int) or "method" in said:
                        continue
                    message = _unreadable(said["id"])  # an answer to us, as far as can be told
                try:
                    await incoming.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return


async def _send(pipes: Pipes, outgoing: Any, incoming: Any) -> None:
    """Write our messages to a server; once that fails, the incoming stream is closed, too."""
    with suppress(OSError):
        async for said in outgoing:
            await pipes.send(said.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
    incoming.close()


def _unreadable(request: Any) -> JSONRPCError:
    """Return the error that replaces an unreadable answer."""
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=types.PARSE_ERROR, message=""))
