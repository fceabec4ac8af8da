"""The HTTP session that providers' SDKs use: no redirect is followed, no answer is read without a bound.

Between us and a provider stand proxies, captive portals and whatever else answers for it. What such a thing says is
told apart here, before an SDK takes it for the provider's word.
"""

import logging
import re
from datetime import timedelta
from typing import Final

import aiohttp

from core.http.body import ENCODINGS, UnreadableBody, read_body
from core.http.interim import bound_interim
from core.json_types import read_json

MAX_ANSWER = 1024 * 1024
"""Bytes of the answer to a call that changes something: providers answer with a few kilobytes."""
MAX_LIST = 16 * 1024 * 1024
"""Bytes of the answer to a call that reads: a page of messages."""
TIMED_OUT_BEHIND: Final = frozenset({504, 522, 524})
"""What a proxy says that passed the call on and got no answer in time: it may have arrived."""
MAX_RETRY_AFTER = timedelta(days=7)
"""What a Retry-After is read as at the most, so that no number is too large for a date."""

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


class StrangeAnswer(aiohttp.ClientError):
    """What came back is not the provider's: a redirect, a page, or more than a provider sends. `status` is HTTP's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(f"{message}, HTTP {status}")
        self.status = status


class BoundedResponse(aiohttp.ClientResponse):
    """An answer that raises `StrangeAnswer` when it is longer than any of a provider's."""

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
        # A session unpacks before anybody can count.
        auto_decompress=False,
        headers={"Accept-Encoding": ENCODINGS},
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def silent_logger(name: str) -> logging.Logger:
    """Return a logger that writes nothing: SDKs log payloads, numbers and what people write."""
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
