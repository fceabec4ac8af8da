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
    decoder = _Decoder(encoding)
    async for chunk in chunks:
        received += len(chunk)
        decoder.decode(chunk, body, most + 1)
        if len(body) > most or received > most + _SLACK:
            return bytes(body[:most]), True
    if received and not decoder.whole:
        raise UnreadableBody("it ended early")
    return bytes(body), False


class _Decoder:
    """Decompresses chunk by chunk, never more at a time than is needed."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise UnreadableBody("unknown content encoding")
        self._plain = self._encoding in ("", "identity")
        self._inner: zlib._Decompress | None = None

    @property
    def whole(self) -> bool:
        return self._plain or (self._inner is not None and self._inner.eof)

    def decode(self, chunk: bytes, into: bytearray, most: int) -> None:
        """Append the content of a chunk, up to `most` bytes in all."""
        if self._plain:
            into += chunk[: most - len(into)]
            return
        try:
            while chunk and len(into) < most:
                if self._inner is None:
                    self._inner = zlib.decompressobj(self._window(chunk))
                into += self._inner.decompress(chunk, most - len(into))
                if not self._inner.eof:
                    return
                chunk = self._next_member(self._inner.unused_data)
        except zlib.error as error:
            raise UnreadableBody("damaged compression") from error

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
