"""The provider session for an SDK that uses httpx: no redirect is followed, nothing is read without a bound."""

import ssl
from collections.abc import AsyncIterator
from functools import cache, wraps
from typing import Any

import h11
import httpcore
import httpx
from httpcore._async.http11 import AsyncHTTP11Connection
from httpcore._sync.http11 import HTTP11Connection

from core.http.peer import Hearing
from core.http.provider_session import ENCODINGS, MOST, Unpacker, UnreadableBody, read_body

_AT_ONCE = 4096
"""Bytes that are passed on at once: an SDK reads all lines of a piece before other tasks run."""


class StrangeAnswer(httpx.TransportError):
    """The answer is not the provider's: a redirect, or more than a provider sends. `status` is HTTP's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(f"{message}, HTTP {status}")
        self.status = status


def client_options(most: int, verify: ssl.SSLContext | bool | None = None) -> dict[str, Any]:
    """Return the options of an httpx client that limits the bytes of an answer, decompressed.

    `verify`: how servers are verified, if not by the authorities that httpx knows.
    """
    bound_interim()

    async def guard(response: httpx.Response) -> None:
        if 300 <= response.status_code < 400:
            raise StrangeAnswer("a redirect", response.status_code)
        response.stream = _Bounded(response, most)
        # The bytes of that stream are unpacked.
        response.headers.pop("Content-Encoding", None)

    return {
        "verify": _tls() if verify is None else verify,
        "follow_redirects": False,
        "headers": {"Accept-Encoding": ENCODINGS},
        "event_hooks": {"response": [guard]},
    }


def bound_interim() -> None:
    """Bound the interim answers (1xx) of every httpx client in this process; repeatable.

    httpx drops them without an end, and has no documented place for a bound. A flood over each client in
    `tests/core/http/test_interim.py` holds it.
    """
    receive = AsyncHTTP11Connection._receive_event
    receive_in_a_thread = HTTP11Connection._receive_event
    if hasattr(receive, "__wrapped__"):
        return

    @wraps(receive)
    async def few(self: AsyncHTTP11Connection, timeout: float | None = None) -> Any:
        return _count_interim(self, await receive(self, timeout=timeout))

    @wraps(receive_in_a_thread)
    def few_in_a_thread(self: HTTP11Connection, timeout: float | None = None) -> Any:
        return _count_interim(self, receive_in_a_thread(self, timeout=timeout))

    AsyncHTTP11Connection._receive_event = few  # type: ignore[method-assign]
    HTTP11Connection._receive_event = few_in_a_thread  # type: ignore[method-assign]


def _count_interim(connection: object, event: object) -> object:
    kept = vars(connection)
    if isinstance(event, h11.InformationalResponse):
        kept["_interim"] = kept.get("_interim", 0) + 1
        if kept["_interim"] > MOST:
            raise httpcore.RemoteProtocolError("too many interim answers")
    elif isinstance(event, h11.Response):
        kept["_interim"] = 0
    return event


async def hear(response: httpx.Response, hearing: Hearing, *, redirects: bool = False) -> None:
    """Unpack and count the body of a response while it is read; reading may raise `PeerExceeded`.

    Raises `StrangeAnswer` for a redirect, unless `redirects` may be followed.
    """
    if 300 <= response.status_code < 400 and not redirects:
        await response.aclose()
        raise StrangeAnswer("a redirect", response.status_code)
    response.stream = _Heard(response, hearing)
    # The bytes of that stream are unpacked.
    response.headers.pop("Content-Encoding", None)


@cache
def _tls() -> ssl.SSLContext:
    """Return the shared context of all clients: a separate context would read the authorities' certificates again."""
    return httpx.create_ssl_context()


class _Body(httpx.AsyncByteStream):
    """A response's body, packed as its server says."""

    def __init__(self, response: httpx.Response) -> None:
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)  # noqa: S101 - an asynchronous client has no other
        self._stream = stream
        self._encoding = response.headers.get("Content-Encoding", "")

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Bounded(_Body):
    """A body that raises `StrangeAnswer` when it is too long."""

    def __init__(self, response: httpx.Response, most: int) -> None:
        super().__init__(response)
        self._status = response.status_code
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            body, more = await read_body(aiter(self._stream), self._encoding, self._most)
        except UnreadableBody as error:
            raise httpx.ReadError("the body cannot be decompressed") from error
        if more:
            raise StrangeAnswer("longer than an answer of the provider", self._status)
        yield body


class _Heard(_Body):
    """A body that is unpacked and counted as it arrives, in pieces small enough to be read at once."""

    def __init__(self, response: httpx.Response, hearing: Hearing) -> None:
        super().__init__(response)
        self._hearing = hearing

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            unpacker, received = Unpacker(self._encoding), False
            async for chunk in self._stream:
                received = True
                await self._hearing.heard(pieces=1)
                unpacker.feed(chunk)
                while content := unpacker.take(_AT_ONCE):
                    await self._hearing.heard(len(content), content.count(b"\n"))
                    yield content
            if received and not unpacker.whole:
                raise UnreadableBody("it ended early")
        except UnreadableBody as error:
            raise httpx.ReadError("the body cannot be decompressed") from error
