"""HTTP with MCP servers, beneath the SDK's transport: by the guarded client, counted as it comes in, never unpacked."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import aiohttp
import httpx2

from abilities.mcp.errors import AnswerUnreadable, LoginRefused, NoAnswer, ServerLost
from abilities.mcp.hearing import Ear
from abilities.mcp.messages import read_answer, read_messages, written
from core.errors import OneValetError
from core.http.address_guard import Barred
from core.http.guarded_client import GuardedClient
from core.http.peer import PeerExceeded
from core.json_types import Json

_MOST_REQUESTS = 200
"""Requests of ours in a conversation: a server may make the SDK ask again and again."""
_LATE = frozenset({202, 408, 499, 504})
"""Statuses of an answer that came too late for an intermediary: the server may still be at work."""
_EVENTS = "text/event-stream"
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "user-agent"})


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends the SDK's requests by the guarded client: to public addresses, and hosts that the operator named."""

    def __init__(self, http: GuardedClient, silence: float, ear: Ear) -> None:
        self._http = http
        self._silence = silence
        self._ear = ear
        self._requests = 0
        self._status = 0
        self._unauthorized = False
        self._failure: ServerLost | None = None

    def ending(self) -> OneValetError | None:
        """Return HTTP's own reason why the last request had no answer; None if it has none."""
        if self._unauthorized:
            return LoginRefused()
        if self._failure is not None:
            return self._failure
        if self._status in _LATE:
            return NoAnswer(f"status {self._status}")
        if self._status >= 500:
            return ServerLost(f"status {self._status}")
        return None

    def fail(self, error: Exception) -> None:
        """Note why no answer can come."""
        late = isinstance(error, TimeoutError)
        self._failure = NoAnswer("no answer in time") if late else ServerLost("the connection failed")

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET" and "last-event-id" not in request.headers:
            # A stream on which servers speak unasked: nothing of that is listened to.
            return httpx2.Response(405, request=request)
        self._requests += 1
        if self._requests > _MOST_REQUESTS or self._ear.exceeded:
            self._failure = ServerLost("too many requests")
            raise httpx2.ConnectError("too many requests", request=request)
        sent = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
        body = await request.aread()
        opened = self._http.stream(request.method, str(request.url), sent, body, self._silence)
        try:
            answer = await opened.__aenter__()
        except (Barred, aiohttp.ClientError, OSError) as error:
            self.fail(error)
            raise httpx2.ConnectError(type(error).__name__, request=request) from error
        number = _request_in(body)
        stream = _Body(self, self._ear, answer, opened, number)
        if any(one.strip().lower() not in ("", "identity") for one in answer.headers.getall("Content-Encoding", [])):
            # Not requested: unpacked, a little can exceed the limits.
            self._failure = AnswerUnreadable("encoded")
            await stream.aclose()
            raise httpx2.ReadError("an encoding that was not asked for", request=request)
        if number is not None:  # messages in between have answers of their own
            self._status = answer.status
        self._unauthorized = self._unauthorized or answer.status == 401
        headers = [(name, value) for name, value in answer.headers.items() if name.lower() not in _OURS]
        if number is not None and answer.ok and answer.content_type != _EVENTS:
            # Whatever type it claims: it is this, or unreadable.
            headers = [one for one in headers if one[0].lower() != "content-type"]
            headers.append(("Content-Type", "application/json"))
        return httpx2.Response(answer.status, headers=headers, stream=stream, request=request)


class _Body(httpx2.AsyncByteStream):
    """A response's body as it arrives, counted: events line by line, anything else in a single piece."""

    def __init__(
        self,
        door: GuardedTransport,
        ear: Ear,
        answer: aiohttp.ClientResponse,
        opened: AbstractAsyncContextManager[aiohttp.ClientResponse],
        number: Json,
    ) -> None:
        self._door = door
        self._ear = ear
        self._answer = answer
        self._opened = opened
        self._number = number

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for line in self._read():
                yield line
        except (PeerExceeded, aiohttp.ClientError, OSError) as error:
            self._door.fail(error)
            raise _Broken(type(error).__name__) from error

    async def _read(self) -> AsyncIterator[bytes]:
        chunks = self._answer.content.iter_any()
        if self._answer.content_type == _EVENTS:
            async for event in self._events(chunks):
                yield event
            return
        body = bytearray()
        async for chunk in chunks:
            await self._ear.heard(chunk)
            body += chunk
        whole = bytes(body)
        yield await read_answer(whole, self._number) or whole

    async def _events(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the events, each with its data as whole messages."""
        data = list[bytes]()
        async for line in self._ear.lines(chunks):
            field = line.rstrip(b"\r")
            if field.startswith(b"data:"):
                data.append(field.removeprefix(b"data:").removeprefix(b" "))
            elif field and not field.startswith(b"retry:"):  # how long we wait is ours to say
                yield field + b"\n"
            elif not field:
                yield await _event(data)
                data.clear()
        if data:
            yield await _event(data)

    async def aclose(self) -> None:
        self._answer.close()
        await self._opened.__aexit__(None, None, None)


async def _event(data: list[bytes]) -> bytes:
    """Return an event as events of its messages; an event without messages, such as a sign of life, becomes empty."""
    whole = b"\n".join(data)
    messages = [written(one) for one in await read_messages(whole)] if whole else [b""]
    return b"".join(b"data: " + one + b"\n\n" for one in messages) if messages and data else b"\n"


def _request_in(body: bytes) -> Json:
    """Return the number of the request in a body; None if it is not a request."""
    sent = json.loads(body) if body else {}
    return sent.get("id") if "method" in sent else None


class _Broken(httpx2.StreamError):
    """A body that ended too early; the SDK answers the request that it belongs to with an error."""
