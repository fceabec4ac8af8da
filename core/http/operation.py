"""Requests that belong together, limited as an operation: limits of single answers do not limit their number."""

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

from core.http.peer import Allowance, Hearing, Pauses, PeerExceeded, left_alone
from core.http.types import HttpClient, HttpResponse
from core.json_types import Json


class Operation:
    """A client for an operation with servers that others run. Implements `core.http.types.HttpClient`.

    All its answers, as unpacked, share an allowance, and an answer is a piece. Raises `LeftAlone` if a server exceeds
    it, and for every request under the same key during the pause that follows.
    """

    def __init__(self, http: HttpClient, allowance: Allowance, pauses: Pauses, *key: str) -> None:
        """`key` names the person and the servers of the pauses."""
        self._http = http
        self._hearing = Hearing(allowance)
        self._pauses = pauses
        self._key = key
        self._is_over = False

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Json = None,
        body: bytes | None = None,
        max_bytes: int,
    ) -> HttpResponse:
        host = urlsplit(url).hostname or ""
        self._pauses.check(*self._key, host=host)
        most = min(max_bytes, self._hearing.size_left + 1)
        ends = asyncio.timeout(self._hearing.seconds_left)
        try:
            async with ends:
                response = await self._http.request(method, url, headers=headers, json=json, body=body, max_bytes=most)
            await self._hearing.heard(len(response.body), 1)
        except TimeoutError as error:
            if not ends.expired():
                raise
            self._end()
            raise left_alone(host) from error
        except PeerExceeded as error:
            self._end()
            raise left_alone(host) from error
        return response

    def _end(self) -> None:
        # Concurrent requests exceed the allowance together, which counts once.
        if not self._is_over:
            self._is_over = True
            self._pauses.exceeded(*self._key)
