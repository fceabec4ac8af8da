"""Limits of the answers that libraries receive in threads by urllib3: a cloud's tokens, a collector's receipts.

Such a library sets no limit of bytes, unpacks all that it receives, and limits the time of each read only.
"""

import io
from collections.abc import Iterable
from functools import partial
from http.client import HTTPException, HTTPResponse
from socket import socket
from typing import Any

from core.http.peer import Allowance, Hearing
from core.http.provider_session import ENCODINGS, Unpacker, UnreadableBody

ALLOWANCE = Allowance(4 * 1024 * 1024, 20_000, 60.0)
"""The limit of a server's answer to a request, as received and as unpacked: tokens and receipts have some kilobytes."""
_AT_ONCE = 64 * 1024


def bound_answers() -> None:
    """Bound the bytes and time of every answer that urllib3 receives in this process; repeatable."""
    import requests.utils
    from urllib3.connection import HTTPConnection

    HTTPConnection.response_class = _Heard
    # It requests every encoding that is installed here.
    requests.utils.DEFAULT_ACCEPT_ENCODING = ENCODINGS  # type: ignore[misc]


def unpacked(encoding: str, chunks: Iterable[bytes]) -> bytes:
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
                plain = unpacked(encoding, iter(partial(self.read, _AT_ONCE), b""))
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
