"""Limits of the answers when a cloud's own library (boto3, azure-identity, requests) fetches a token for litellm's
calls.

They receive by urllib3, and litellm itself by httpx's client for threads, on which our time-outs have no effect; they
read each answer whole, and unpack it.
"""

import asyncio
import inspect
import io
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from http.client import HTTPException, HTTPResponse
from socket import socket
from typing import Any

from core.http.peer import Allowance, Hearing, PeerExceeded
from core.http.provider_session import ENCODINGS, Unpacker, UnreadableBody
from providers.provider_httpx import bound_interim

ALLOWANCE = Allowance(4 * 1024 * 1024, 20_000, 60.0)
"""The limit of a server's answer to a request, as received and as unpacked: tokens have some kilobytes."""
_AT_ONCE = 64 * 1024
_THREADS = ThreadPoolExecutor(2, "cloud_tokens")
"""Threads of their own, so that a slow server delays no other work."""


def bound_tokens() -> None:
    """Bound the bytes and time of every response received in threads of this process; repeatable."""
    import httpx
    import requests.utils
    from openai.lib.azure import AsyncAzureOpenAI
    from urllib3.connection import HTTPConnection

    HTTPConnection.response_class = _Heard
    # It requests every encoding that is installed here.
    requests.utils.DEFAULT_ACCEPT_ENCODING = ENCODINGS  # type: ignore[misc]
    if not hasattr(AsyncAzureOpenAI._get_azure_ad_token, "__wrapped__"):
        AsyncAzureOpenAI._get_azure_ad_token = _in_a_thread(AsyncAzureOpenAI._get_azure_ad_token)  # type: ignore[method-assign]
    if not hasattr(httpx.HTTPTransport.handle_request, "__wrapped__"):
        httpx.HTTPTransport.handle_request = _heard_by_httpx(httpx.HTTPTransport.handle_request)  # type: ignore[method-assign]
    bound_interim()


def _heard_by_httpx(send: Callable[[Any, Any], Any]) -> Any:
    """Return `handle_request` for httpx's client for threads: its answers have been read, and are plain."""

    @wraps(send)
    def handle_request(self: Any, request: Any) -> Any:
        import httpx  # litellm has loaded it

        # Litellm never closes these clients, and asks again in an hour.
        request.headers["Connection"], request.headers["Accept-Encoding"] = "close", ENCODINGS
        response = send(self, request)
        stream, hearing, received = response.stream, Hearing(ALLOWANCE), bytearray()
        try:
            for chunk in stream:
                hearing.count(len(chunk), 1)
                received += chunk
            plain = _unpacked(response.headers.get("Content-Encoding", ""), [bytes(received)])
        except (UnreadableBody, PeerExceeded) as error:
            raise httpx.ReadError(str(error), request=request) from error
        finally:
            stream.close()
        response.headers.pop("Content-Encoding", None)
        response.stream = httpx.ByteStream(plain)
        return response

    return handle_request


def _unpacked(encoding: str, chunks: Iterable[bytes]) -> bytes:
    """Return a body as it is read. Raises `UnreadableBody` and `PeerExceeded`."""
    hearing, plain, received = Hearing(ALLOWANCE), bytearray(), False
    unpacker = Unpacker(encoding)
    for chunk in chunks:
        received = received or bool(chunk)
        unpacker.feed(chunk)
        while content := unpacker.take(_AT_ONCE):
            hearing.count(len(content))
            plain += content
    if received and not unpacker.whole:
        raise UnreadableBody("it ended early")
    return bytes(plain)


def _in_a_thread(fetch: Callable[[Any], Awaitable[str | None]]) -> Any:
    """Return how Azure's client fetches a token, which would ask azure-identity on the event loop."""

    @wraps(fetch)
    async def fetched(self: Any) -> str | None:
        ask = self._azure_ad_token_provider
        if ask is not None and not inspect.iscoroutinefunction(ask):

            async def beside() -> Any:
                return await asyncio.get_running_loop().run_in_executor(_THREADS, ask)

            self._azure_ad_token_provider = beside
        return await fetch(self)

    return fetched


class _Heard(HTTPResponse):
    """An answer that raises `PeerExceeded` if it is too long, and is returned unpacked."""

    def __init__(self, sock: socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Counted(sock, self.fp.detach(), Hearing(ALLOWANCE)))

    def begin(self) -> None:
        """Read the head, and of a packed body all of it."""
        super().begin()
        encoding = ", ".join(self.headers.get_all("Content-Encoding", []))
        if encoding.strip().lower() not in ("", "identity"):
            try:
                plain = _unpacked(encoding, iter(partial(self.read, _AT_ONCE), b""))
            except UnreadableBody as error:
                raise HTTPException("the body cannot be decompressed") from error
            del self.headers["Content-Encoding"], self.headers["Content-Length"], self.headers["Transfer-Encoding"]
            self.fp, self.length, self.chunked = io.BufferedReader(io.BytesIO(plain)), len(plain), False


class _Counted(io.RawIOBase):
    """The bytes from a socket, counted; no wait is longer than the time that is left."""

    def __init__(self, sock: socket, raw: io.RawIOBase, hearing: Hearing) -> None:
        self._sock = sock
        self._raw = raw
        self._hearing = hearing

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read the available bytes."""
        given = self._sock.gettimeout()
        left = max(self._hearing.seconds_left, 0.001)
        self._sock.settimeout(left if given is None else min(given, left))
        size = self._raw.readinto(buffer)
        self._hearing.count(size or 0, 1)
        return size

    def close(self) -> None:
        """Close the socket's stream."""
        self._raw.close()
        super().close()
