"""Interim answers (1xx, RFC 9110 section 15.2): nothing of ours asks for any, and aiohttp takes them without an end.

It reads up to 256 KB of them at once, on an event loop that stands still for a quarter of a second each time.
"""

from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

MOST = 16
"""Interim answers to one request, after which the connection is closed."""
_AT_ONCE = 4096
"""Bytes that are parsed before anybody counts, until the answer has begun."""


def bound_interim(connector: aiohttp.BaseConnector) -> None:
    """Have a connector's connections take few interim answers; a second time changes nothing.

    aiohttp has no documented place for this. A flood over each client in `tests/core/http/test_interim.py` holds it.
    """
    if not isinstance(connector._factory, _Factory):
        connector._factory = _Factory(_FewInterim, loop=connector._loop)


class _Factory(partial[ResponseHandler]):
    """What makes our connections."""


class _FewInterim(ResponseHandler):
    """One connection to a server."""

    _heard = 0
    _has_begun = False
    """Whether the answer itself has: what comes then is its body."""

    def set_response_params(self, **given: Any) -> None:
        self._heard, self._has_begun = 0, False
        super().set_response_params(**given)

    def data_received(self, data: bytes) -> None:
        while not self._has_begun and len(data) > _AT_ONCE:
            super().data_received(data[:_AT_ONCE])
            data = data[_AT_ONCE:]
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
