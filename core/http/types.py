"""Web access for tools: the client and its responses."""

import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from core.json_types import Json


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A server's response. `body` is cut at the client's limit, in which case `cut` is True.

    `headers` ignore case; `url` is the target of the last redirect.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""
    cut: bool = False

    @property
    def content_type(self) -> str:
        """Return the media type in lower case, such as `text/html`; empty when there is none."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()


class HttpClient(Protocol):
    """Web access for tools."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Json = None,
        body: bytes | None = None,
        max_bytes: int | None = None,
    ) -> HttpResponse:
        """Make a request. Raises `core.errors.ToolFailed` if there is no response or the address is barred.

        `body` are bytes to send in place of `json`; a response's body is cut at `max_bytes`, or the client's limit.
        """
        ...


@runtime_checkable
class SocketAccess(Protocol):
    """A client that can connect to servers besides those of the web."""

    async def connect(self, host: str, port: int, ports: Collection[int]) -> socket.socket:
        """Return a connected socket. `ports`: the permitted ports if the operator has not named the host.

        Raises `core.http.address_guard.Barred` for a forbidden address, and `OSError`.
        """
        ...
