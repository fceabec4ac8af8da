"""The length of a recording, by its container: nothing of it is decoded.

By hand, because tinytag 2.3 knows neither AMR nor raw AAC, which older phones send: half of this file would stay,
beside 2,500 lines of the library and a second table of formats.
"""

import struct
from typing import Any

_OPUS_RATE = 48_000
_AMR_SIZES = {b"#!AMR\n": (12, 13, 15, 17, 19, 20, 26, 31, 5), b"#!AMR-WB\n": (17, 23, 32, 36, 40, 46, 50, 58, 60, 5)}
"""Bytes after the first of a frame of 20 ms, by its type: RFC 4867, section 5.3."""
_AMR_FRAME = 0.02
_MP3_RATES = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MP3_RATES_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_AAC_RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350)
_MOST = 10_000_000.0
"""Seconds; a longer stated length does not count."""


def read(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the seconds; 0 if the container does not say."""
    try:
        seconds = _seconds(data)
    except (struct.error, IndexError, ZeroDivisionError):
        seconds = 0.0
    return {"seconds": round(seconds, 2) if 0 < seconds < _MOST else 0.0}, b""


def _seconds(data: bytes) -> float:
    if data.startswith(b"OggS"):
        return _ogg(data)
    if data[4:8] == b"ftyp":
        return _mp4(data)
    if data.startswith(b"RIFF"):
        return _wav(data)
    if data.startswith(b"fLaC"):
        packed = int.from_bytes(data[18:26])
        return (packed & (1 << 36) - 1) / (packed >> 44)
    if data.startswith(b"#!AMR"):
        return _amr(data)
    if data.startswith((b"\xff\xf1", b"\xff\xf9")):
        return _adts(data)
    return _mp3(data) if data.startswith((b"ID3", b"\xff")) else 0.0


def _ogg(data: bytes) -> float:
    """Return the position of the last page, in samples, by their rate: RFC 3533 and RFC 7845."""
    last = data.rfind(b"OggS")
    samples = int(struct.unpack_from("<q", data, last + 6)[0])
    if data[28:35] == b"\x01vorbis":
        return float(samples / struct.unpack_from("<I", data, 40)[0])
    skipped = struct.unpack_from("<H", data, 38)[0] if data[28:36] == b"OpusHead" else 0
    return float((samples - skipped) / _OPUS_RATE)


def _mp4(data: bytes) -> float:
    """Return the length in the movie header: ISO/IEC 14496-12, section 8.2.2."""
    at = data.find(b"mvhd")
    if at < 0:
        return 0.0
    fields = ">IQ" if data[at + 4] else ">II"
    rate, length = struct.unpack_from(fields, data, at + (24 if data[at + 4] else 16))
    return float(length / rate)


def _wav(data: bytes) -> float:
    at = data.find(b"fmt ")
    a_second = struct.unpack_from("<I", data, at + 16)[0]
    size = struct.unpack_from("<I", data, data.find(b"data", at) + 4)[0]
    # A file that is written while it is recorded does not know its size.
    return float(min(size, len(data)) / a_second)


def _amr(data: bytes) -> float:
    head = b"#!AMR-WB\n" if data.startswith(b"#!AMR-WB\n") else b"#!AMR\n"
    sizes, at, frames = _AMR_SIZES[head], len(head), 0
    while at < len(data):
        kind = data[at] >> 3 & 15
        at += 1 + (sizes[kind] if kind < len(sizes) else 0)
        frames += 1
    return frames * _AMR_FRAME


def _adts(data: bytes) -> float:
    """Return the frames of 1,024 samples by their rate: ISO/IEC 13818-7, section 6.2."""
    rate, at, frames = _AAC_RATES[data[2] >> 2 & 15], 0, 0
    while at + 7 <= len(data) and data[at] == 0xFF:
        size = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        if size < 7:
            break
        at, frames = at + size, frames + 1
    return frames * 1024 / rate


def _mp3(data: bytes) -> float:
    """Return the size by the bit rate of the first frame: near enough if the rate varies."""
    at = 0
    if data.startswith(b"ID3"):
        at = 10 + (data[6] << 21 | data[7] << 14 | data[8] << 7 | data[9])
    rates = _MP3_RATES if data[at + 1] & 8 else _MP3_RATES_2
    return (len(data) - at) * 8 / (rates[data[at + 2] >> 4] * 1000)
