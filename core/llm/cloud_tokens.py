"""What a cloud's own library (boto3, azure-identity, requests) hears when it fetches a token for litellm's calls.

All of them receive by urllib3, in threads that no time-out of ours ends; they read each answer whole, and unpack it.
"""

import asyncio
import inspect
import io
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from http.client import HTTPException, HTTPResponse
from socket import socket
from typing import Any

from core.http.body import ENCODINGS, Unpacker, UnreadableBody
from core.http.peer import Allowance, Hearing

ALLOWANCE = Allowance(4 * 1024 * 1024, 20_000, 60.0)
"""What a server may say to one request, as it comes and as unpacked: tokens have some kilobytes."""
_AT_ONCE = 64 * 1024
_THREADS = ThreadPoolExecutor(2, "cloud_tokens")
"""Of their own: a server that is slow takes none from anybody else."""


def bound_tokens() -> None:
    """Have all that urllib3 receives in this process heard, beside the event loop; a second time changes nothing."""
    import requests.utils
    from openai.lib.azure import AsyncAzureOpenAI
    from urllib3.connection import HTTPConnection

    HTTPConnection.response_class = _Heard
    # It asks for whatever is installed here.
    requests.utils.DEFAULT_ACCEPT_ENCODING = ENCODINGS  # type: ignore[misc]
    if not hasattr(AsyncAzureOpenAI._get_azure_ad_token, "__wrapped__"):
        AsyncAzureOpenAI._get_azure_ad_token = _in_a_thread(AsyncAzureOpenAI._get_azure_ad_token)  # type: ignore[method-assign]


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
    """An answer that raises `PeerExceeded` where it is too long, and comes out plain."""

    def __init__(self, sock: socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Counted(sock, self.fp.detach(), Hearing(ALLOWANCE)))

    def begin(self) -> None:
        """Read the head, and of a packed body all of it."""
        super().begin()
        encoding = ", ".join(self.headers.get_all("Content-Encoding", []))
        if encoding.strip().lower() not in ("", "identity"):
            plain = self._unpacked(encoding)
            del self.headers["Content-Encoding"], self.headers["Content-Length"], self.headers["Transfer-Encoding"]
            self.fp, self.length, self.chunked = io.BufferedReader(io.BytesIO(plain)), len(plain), False

    def _unpacked(self, encoding: str) -> bytes:
        hearing, plain, received = Hearing(ALLOWANCE), bytearray(), False
        try:
            unpacker = Unpacker(encoding)
            while chunk := self.read(_AT_ONCE):
                received = True
                unpacker.feed(chunk)
                while content := unpacker.take(_AT_ONCE):
                    hearing.count(len(content))
                    plain += content
            if received and not unpacker.whole:
                raise UnreadableBody("it ended early")
        except UnreadableBody as error:
            raise HTTPException("the body cannot be decompressed") from error
        return bytes(plain)


class _Counted(io.RawIOBase):
    """What comes in by a socket, counted; no wait is longer than the time that is left."""

    def __init__(self, sock: socket, raw: io.RawIOBase, hearing: Hearing) -> None:
        self._sock = sock
        self._raw = raw
        self._hearing = hearing

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what has come."""
        given = self._sock.gettimeout()
        left = max(self._hearing.seconds_left, 0.001)
        self._sock.settimeout(left if given is None else min(given, left))
        size = self._raw.readinto(buffer)
        self._hearing.count(size or 0, 1)
        return size

    def close(self) -> None:
        """Close it."""
        self._raw.close()
        super().close()
