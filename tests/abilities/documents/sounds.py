"""Recordings made in code: whole containers around sound that nobody decodes."""

import struct

from abilities.files.probes import silence as wav

__all__ = ["SOUNDS", "aac", "amr", "flac", "m4a", "mp3", "ogg", "wav", "webm"]


def ogg(seconds: float = 3.0, words: bytes = b"") -> bytes:
    """Return Opus in Ogg, as Telegram sends a voice note; other `words` make another recording."""
    head = b"OpusHead\x01\x01" + struct.pack("<HIHB", 312, 48_000, 0, 0)
    return _page(0, head, 2) + _page(0, b"OpusTags" + bytes(8), 0) + _page(int(seconds * 48_000) + 312, words, 4)


def _page(position: int, body: bytes, kind: int) -> bytes:
    assert len(body) < 255
    fixed = struct.pack("<4sBBqIIIBB", b"OggS", 0, kind, position, 7, 0, 0, 1, len(body))
    return fixed + body


def m4a(seconds: float = 3.0, brand: bytes = b"M4A ") -> bytes:
    """Return MPEG-4, as phones and Slack record it."""
    kind = struct.pack(">I4s4sI", 16, b"ftyp", brand, 0)
    head = struct.pack(">I4sIIIII", 28, b"mvhd", 0, 0, 0, 1000, int(seconds * 1000))
    return kind + struct.pack(">I4s", 8 + len(head), b"moov") + head


def amr(seconds: float = 3.0) -> bytes:
    """Return AMR, as older phones record it: 50 frames a second."""
    return b"#!AMR\n" + (b"\x3c" + bytes(31)) * int(seconds * 50)


def flac(seconds: float = 3.0) -> bytes:
    """Return FLAC: no more than its first block."""
    packed = 44_100 << 44 | 1 << 41 | 15 << 36 | int(seconds * 44_100)
    return b"fLaC\x80\x00\x00\x22" + bytes(10) + packed.to_bytes(8) + bytes(16)


def mp3(seconds: float = 3.0) -> bytes:
    """Return MPEG audio of 64 kbit/s behind an ID3 tag."""
    tag = b"ID3\x04\x00\x00\x00\x00\x00\x0a" + bytes(10)
    return tag + b"\xff\xfb\x50\x00" + bytes(int(seconds * 8_000) - 4)


def aac(seconds: float = 3.0) -> bytes:
    """Return AAC in ADTS, at 16 kHz."""
    size = 107
    frame = bytes([0xFF, 0xF1, 0x60, 0x40 | size >> 11, size >> 3 & 255, (size & 7) << 5 | 0x1F, 0xFC])
    return (frame + bytes(size - 7)) * int(seconds * 16_000 / 1024)


def webm() -> bytes:
    """Return the head of what browsers record, which says nothing of its length."""
    return b"\x1aE\xdf\xa3\x9fB\x86\x81\x01webm" + bytes(40) + b"\x86\x86A_OPUS" + bytes(100)


SOUNDS = {
    "ogg": ogg(),
    "m4a": m4a(),
    "mp4": m4a(brand=b"isom"),
    "amr": amr(),
    "flac": flac(),
    "mp3": mp3(),
    "aac": aac(),
    "webm": webm(),
    "wav": wav(),
}
