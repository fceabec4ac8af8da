"""The HTTP session that providers' SDKs use: no redirect is followed, no answer is read without a bound.

Proxies, captive portals and the like answer in a provider's place. Their answers are recognised here, before an SDK
takes them for the provider's.

A body is bounded after decompression: a small answer cannot become large in memory. Of interim answers (1xx, RFC 9110
section 15.2) nothing of ours asks for any, and aiohttp takes them without an end: it reads up to 256 KB of them at
once, which blocks the event loop for a quarter of a second each time.
"""

import asyncio
import logging
import re
import zlib
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

from core.json_types import read_json

MOST = 16
"""Interim answers to a request, after which the connection is closed."""
_PARSED_AT_ONCE = 4096
"""Bytes that are parsed before interim answers are counted, until the answer has begun."""


def bound_interim(connector: aiohttp.BaseConnector) -> None:
    """Limit the interim answers that a connector's connections take; a second time changes nothing.

    aiohttp has no documented place for this. A flood over each client in `tests/core/http/test_interim.py` holds it.
    """
    if not isinstance(connector._factory, _Factory):
        connector._factory = _Factory(_FewInterim, loop=connector._loop)


class _Factory(partial[ResponseHandler]):
    """The factory of our connections."""


class _FewInterim(ResponseHandler):
    """A connection to a server."""

    _heard = 0
    _has_begun = False
    """Whether the answer itself has begun: the data after that are its body."""

    def set_response_params(self, **given: Any) -> None:
        self._heard, self._has_begun = 0, False
        super().set_response_params(**given)

    def data_received(self, data: bytes) -> None:
        while not self._has_begun and len(data) > _PARSED_AT_ONCE:
            super().data_received(data[:_PARSED_AT_ONCE])
            data = data[_PARSED_AT_ONCE:]
            if self._heard > MOST:
                return
        super().data_received(data)

    def feed_data(self, data: Any, size: int = 0) -> None:
        message, _ = data
        if message.code >= 200 or message.code == 101:
            self._has_begun = True
        else:
            self._heard += 1
        if self._heard <= MOST:
            super().feed_data(data, size)
        elif self.exception() is None:
            if self.transport is not None:
                self.transport.close()
            self.set_exception(HttpProcessingError(code=502, message="too many interim answers"))


ENCODINGS = "gzip, deflate"
"""The encodings that are understood here."""
_SLACK = 64 * 1024
"""Bytes by which a compressed body may exceed its limit."""
_UNPACKED_AT_ONCE = 256 * 1024
"""Bytes that are unpacked before other tasks get a turn: a small chunk may unpack to a thousand times its size."""


class UnreadableBody(ValueError):
    """A body whose compression is unknown, damaged or cut short."""


async def read_body(chunks: AsyncIterator[bytes], encoding: str, most: int) -> tuple[bytes, bool]:
    """Return at most `most` bytes, decompressed, and whether there was more, which is not read."""
    body, received = bytearray(), 0
    unpacker = Unpacker(encoding)
    async for chunk in chunks:
        received += len(chunk)
        unpacker.feed(chunk)
        while len(body) <= most and (content := unpacker.take(min(most + 1 - len(body), _UNPACKED_AT_ONCE))):
            body += content
            if len(content) == _UNPACKED_AT_ONCE:
                await asyncio.sleep(0)
        if len(body) > most or received > most + _SLACK:
            del body[most:]
            return bytes(body), True
    if received and not unpacker.whole:
        raise UnreadableBody("it ended early")
    return bytes(body), False


class Unpacker:
    """Unpacks a body that comes in chunks: each is fed, and then its content taken until there is none."""

    def __init__(self, encoding: str) -> None:
        """Raises `UnreadableBody` for an encoding that is not understood here."""
        self._encoding = encoding.strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise UnreadableBody("unknown content encoding")
        self._plain = self._encoding in ("", "identity")
        self._inner: zlib._Decompress | None = None
        self._packed = b""
        self._holds_back = False

    @property
    def whole(self) -> bool:
        """Return whether the body may end here."""
        return self._plain or (self._inner is not None and self._inner.eof)

    def feed(self, chunk: bytes) -> None:
        """Add received bytes."""
        self._packed = self._packed + chunk if self._packed else chunk

    def take(self, most: int) -> bytes:
        """Return at most `most` bytes of content; none if more must be fed first. Raises `UnreadableBody`."""
        if self._plain:
            content, self._packed = self._packed[:most], self._packed[most:]
            return content
        try:
            while self._packed or self._holds_back:
                if self._inner is None:
                    self._inner = zlib.decompressobj(self._window(self._packed))
                content = self._inner.decompress(self._packed, most)
                self._packed = self._inner.unconsumed_tail
                # Content that fills the limit may be cut short by it, though nothing packed is left.
                self._holds_back = len(content) == most and not self._inner.eof
                if self._inner.eof:
                    self._packed = self._next_member(self._inner.unused_data)
                if content:
                    return content
        except zlib.error as error:
            raise UnreadableBody("damaged compression") from error
        return b""

    def _next_member(self, rest: bytes) -> bytes:
        # A gzip file may have several members in a row; anything else after the end is padding.
        if self._encoding == "deflate" or not rest.startswith(b"\x1f\x8b"):
            return b""
        self._inner = None
        return rest

    def _window(self, chunk: bytes) -> int:
        if self._encoding != "deflate":
            return 16 + zlib.MAX_WBITS
        # Servers send "deflate" with zlib's header, as RFC 9110 says, or without.
        return zlib.MAX_WBITS if chunk[0] & 0x0F == 8 else -zlib.MAX_WBITS


MAX_ANSWER = 1024 * 1024
"""Bytes of the answer to a call that changes something: providers answer with a few kilobytes."""
MAX_LIST = 16 * 1024 * 1024
"""Bytes of the answer to a call that reads: a page of messages."""
TIMED_OUT_BEHIND: Final = frozenset({504, 522, 524})
"""Statuses of a proxy that passed the call on and got no answer in time: the call may have arrived."""
MAX_RETRY_AFTER = timedelta(days=7)
"""The longest time that is read from a Retry-After, so that no number is too large for a date."""

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


class StrangeAnswer(aiohttp.ClientError):
    """The answer is not the provider's: a redirect, a page, or more than a provider sends. `status` is HTTP's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(f"{message}, HTTP {status}")
        self.status = status


class BoundedResponse(aiohttp.ClientResponse):
    """An answer that raises `StrangeAnswer` if it is longer than any answer of a provider."""

    async def read(self) -> bytes:
        """Read the body, once."""
        if self._body is None:
            try:
                self._body = await self._bounded()
            except BaseException:
                self.close()
                raise
        return await super().read()

    async def _bounded(self) -> bytes:
        most = MAX_LIST if self.method == "GET" else MAX_ANSWER
        try:
            body, more = await read_body(self.content.iter_any(), self.headers.get("Content-Encoding", ""), most)
        except UnreadableBody as error:
            raise StrangeAnswer("the body cannot be decompressed", self.status) from error
        if more:
            raise StrangeAnswer("longer than an answer of the provider", self.status)
        return body


def open_session(
    timeout: aiohttp.ClientTimeout, *, connector: aiohttp.BaseConnector | None = None, trust_env: bool = False
) -> aiohttp.ClientSession:
    """Open a session for calls to a provider; needs the running loop. Its calls raise `StrangeAnswer` for a redirect.

    `trust_env`: use the proxies that the environment names.
    """
    connector = connector or aiohttp.TCPConnector()
    bound_interim(connector)
    return aiohttp.ClientSession(
        timeout=timeout,
        connector=connector,
        trust_env=trust_env,
        middlewares=(_refuse_redirects,),
        response_class=BoundedResponse,
        # A session unpacks before the bytes can be counted.
        auto_decompress=False,
        headers={"Accept-Encoding": ENCODINGS},
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def silent_logger(name: str) -> logging.Logger:
    """Return a logger that writes nothing: SDKs log payloads, numbers and people's texts."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.CRITICAL)
    logger.disabled = True
    return logger


def is_object(body: str | bytes) -> bool:
    """Return whether a body is a JSON object, as every answer of a provider is."""
    try:
        return isinstance(read_json(body), dict)
    except ValueError:
        return False


def retry_after(value: object) -> timedelta | None:
    """Read a Retry-After in seconds, as a header or a number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or not _SECONDS.fullmatch(str(value)[:400]):
        return None
    return timedelta(seconds=min(float(str(value)[:400]), MAX_RETRY_AFTER.total_seconds()))


async def _refuse_redirects(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Raise for a redirect before it is followed: an address that is not the provider's gets no request of ours."""
    response = await handler(request)
    if 300 <= response.status < 400:
        response.close()
        raise StrangeAnswer("a redirect", response.status)
    return response
