"""Recordings without a sound, as long as it takes to say their words: whole files that every player plays."""

import struct
from collections.abc import Iterator

A_SECOND = 14
"""Characters that are said in a second."""
_OPUS_SILENCE = b"\xf8\xff\xfe"
"""A frame of 20 ms: RFC 6716, section 3.1."""
_OPUS_FRAME, _A_PAGE = 960, 250
"""Samples of a frame at 48 kHz, and the frames of a page."""
_MP3_FRAME = b"\xff\xfb\x10\xc0" + bytes(100)
"""A frame of 26 ms: MPEG 1, layer 3, 32 kbit/s, 44.1 kHz, mono."""
_MP3_SECONDS = 1152 / 44_100


def recorded(text: str, sound: str) -> bytes:
    """Return a recording of a text: `opus` in Ogg, or else MP3. Each text's differs."""
    seconds = max(1.0, len(text) / A_SECOND)
    return _ogg(text, seconds) if sound == "opus" else _mp3(text, seconds)


def _ogg(text: str, seconds: float) -> bytes:
    told = text.encode()[:200]
    tags = b"OpusTags" + struct.pack("<I", len(told)) + told + bytes(4)
    packets = [_OPUS_SILENCE] * int(seconds * 50)
    pages = [packets[start : start + _A_PAGE] for start in range(0, len(packets), _A_PAGE)]
    return b"".join(_pages([[b"OpusHead\x01\x01" + struct.pack("<HIhB", 0, 48_000, 0, 0)], [tags], *pages]))


def _pages(pages: list[list[bytes]]) -> Iterator[bytes]:
    """Yield the pages of an Ogg file: RFC 3533, section 6."""
    samples = 0
    for number, packets in enumerate(pages):
        samples += _OPUS_FRAME * len(packets) if number > 1 else 0
        kind = 2 if not number else 4 if number == len(pages) - 1 else 0
        head = struct.pack("<4sBBqII", b"OggS", 0, kind, samples, 1, number)
        lengths = bytes(map(len, packets))
        rest = bytes([len(lengths)]) + lengths + b"".join(packets)
        yield head + struct.pack("<I", _checksum(head + bytes(4) + rest)) + rest


def _checksum(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
    return value


def _mp3(text: str, seconds: float) -> bytes:
    title = b"\x03" + text.encode()[:100]
    frame = b"TIT2" + struct.pack(">IH", len(title), 0) + title
    size = bytes([0, 0, len(frame) >> 7, len(frame) & 127])
    return b"ID3\x04\x00\x00" + size + frame + _MP3_FRAME * int(seconds / _MP3_SECONDS)
