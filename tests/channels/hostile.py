"""Requests that no provider sends: what every channel's can be spoilt by, and the shape of a channel's own list."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import aiohttp


@dataclass(frozen=True, slots=True)
class Hostile:
    """A request to the gateway."""

    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "POST"
    path: str = ""

    def with_headers(self, **headers: str) -> "Hostile":
        """Replace or add headers; an underscore stands for a hyphen."""
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers=self.headers | changed)


class Sink(Protocol):
    """What counts the things that came in."""

    calls: int


class ServedChannel(Protocol):
    """A served application with one channel in it."""

    @property
    def port(self) -> int: ...

    @property
    def sink(self) -> Sink: ...

    async def send(
        self, body: bytes, *, path: str = ..., method: str = ..., headers: dict[str, str]
    ) -> aiohttp.ClientResponse:
        """Send any request."""
        ...


@dataclass(frozen=True)
class HostileCases:
    """One channel's list. `good` is taken; `raw` are bytes on the wire; what is `private` must be in no log."""

    serve: Callable[[], AbstractAsyncContextManager[Any]]
    good: Hostile
    proof: str
    """The header that holds the secret part of the proof."""
    forged: dict[str, Hostile]
    malformed: dict[str, Hostile]
    raw: dict[str, bytes]
    private: tuple[str, ...]

    def head(self) -> bytes:
        """Return the head of the good request on the wire, without its length."""
        lines = [f"POST {self.good.path} HTTP/1.1", "Host: valet.example.com", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in self.good.headers.items()]
        return "".join(f"{line}\r\n" for line in lines).encode()

    def whole(self, head: bytes) -> bytes:
        """Return a request with this head and the good body."""
        return head + f"Content-Length: {len(self.good.body)}\r\n\r\n".encode() + self.good.body


SPOILT: dict[str, Callable[[Hostile], Hostile]] = {
    "text": lambda good: good.with_headers(Content_Type="text/plain"),
    "multipart": lambda good: replace(
        good.with_headers(Content_Type="multipart/form-data; boundary=x"), body=b"--x\r\n\r\nhi\r\n--x--"
    ),
    "no content type": lambda good: good.with_headers(Content_Type=""),
    "compressed": lambda good: replace(good.with_headers(Content_Encoding="deflate"), body=b"x\x9c\x03\x00"),
    "larger than 256 KiB": lambda good: replace(good, body=good.body + b" " * 300_000),
    "GET": lambda good: replace(good, body=b"", method="GET"),
    "PUT": lambda good: replace(good, method="PUT"),
    "another path": lambda good: replace(good, path=f"{good.path}s"),
}
"""The good request, spoilt in ways that have nothing to do with a provider."""


def _again(cases: HostileCases, value: bytes) -> bytes:
    return cases.whole(cases.head() + f"{cases.proof}: ".encode() + value + b"\r\n")


HARDLY_HTTP: dict[str, Callable[[HostileCases], bytes]] = {
    "chunked garbage": lambda cases: cases.head() + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nnonsense\r\n",
    "chunk of negative size": lambda cases: cases.head() + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n",
    "length and chunks": lambda cases: (
        cases.head() + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
    ),
    "two lengths": lambda cases: cases.head() + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "length no number": lambda cases: cases.head() + b"Content-Length: five\r\n\r\nhello",
    "proof twice": lambda cases: _again(cases, cases.good.headers[cases.proof].encode()),
    "good proof, then a bad one": lambda cases: _again(cases, b"AAAA"),
    "raw bytes in the proof": lambda cases: cases.whole(
        cases.head().replace(cases.good.headers[cases.proof].encode(), b"\xff\xfe\xfa")
    ),
    "header of 100 kB": lambda cases: cases.head() + b"X-Long: " + b"x" * 100_000 + b"\r\n\r\n",
    "a thousand headers": lambda cases: cases.head() + b"X-Many: 1\r\n" * 1000 + b"\r\n",
    "no HTTP": lambda cases: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
    "HTTP/9.9": lambda cases: cases.head().replace(b"HTTP/1.1", b"HTTP/9.9") + b"\r\n",
}
"""Bytes on the wire, of which most are no request."""
