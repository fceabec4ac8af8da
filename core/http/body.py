"""Reading a streamed body, bounded after decompression: a small answer cannot become large in memory."""

import zlib
from collections.abc import AsyncIterator

ENCODINGS = "gzip, deflate"
"""The encodings that are understood here."""
_SLACK = 64 * 1024
"""Bytes by which a compressed body may exceed its limit."""


class UnreadableBody(ValueError):
    """A body whose compression is unknown, damaged or cut short."""


async def read_body(chunks: AsyncIterator[bytes], encoding: str, most: int) -> tuple[bytes, bool]:
    """Return at most `most` bytes, decompressed, and whether there was more, which is not read."""
    body, received = bytearray(), 0
    unpacker = Unpacker(encoding)
    async for chunk in chunks:
        received += len(chunk)
        unpacker.feed(chunk)
        while len(body) <= most and (content := unpacker.take(most + 1 - len(body))):
            body += content
        if len(body) > most or received > most + _SLACK:
            return bytes(body[:most]), True
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
        """Add what was received."""
        self._packed = self._packed + chunk if self._packed else chunk

    def take(self, most: int) -> bytes:
        """Return at most `most` bytes of content; none where more must be fed first. Raises `UnreadableBody`."""
        if self._plain:
            content, self._packed = self._packed[:most], self._packed[most:]
            return content
        try:
            while self._packed or self._holds_back:
                if self._inner is None:
                    self._inner = zlib.decompressobj(self._window(self._packed))
                content = self._inner.decompress(self._packed, most)
                self._packed = self._inner.unconsumed_tail
                # What fills its room may be cut short by it, though nothing packed is left.
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
