"""The kind of a file by its first bytes: its sender's word and its name prove nothing."""

from enum import StrEnum


class FileKind(StrEnum):
    """The kind of a file, which decides how it is read."""

    PICTURE = "picture"
    PDF = "pdf"
    OFFICE = "office"
    """A zip that may be a document or a workbook: its reader looks inside."""
    TEXT = "text"
    AUDIO = "audio"
    VIDEO = "video"
    OTHER = "other"


class FileFailure(StrEnum):
    """The reason why a person's file cannot be used."""

    TOO_LARGE = "too_large"
    GONE = "gone"
    """Its provider no longer has it, or keeps it from us."""
    UNREACHABLE = "unreachable"
    """Its provider did not answer: it may be sent again."""
    BROKEN = "broken"
    TOO_MUCH = "too_much"
    """It takes more time or memory than a file may."""
    UNREAD = "unread"
    """The reader cannot be started here: the file may be sent again."""
    LOCKED = "locked"
    NO_TEXT = "no_text"
    UNKNOWN = "unknown"
    NO_READER = "no_reader"
    """Its reader is an extra that is not installed."""
    AUDIO = "audio"
    VIDEO = "video"
    UNHEARD = "unheard"
    """A recording that could not be transcribed: it may be tried again."""
    TOO_LONG = "too_long"
    SILENT = "silent"
    """A recording without words."""
    UNSEEN = "unseen"
    """A picture, but no model can see it."""
    FULL = "full"
    """The store has no room."""
    UNSHOWN = "unshown"
    """It is kept, but no ability reads files."""


_HEAD = 1024
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"BM", b"II*\x00", b"MM\x00*")
_PICTURE_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"})
_AUDIO_BRANDS = frozenset({b"M4A ", b"M4B "})
_AUDIO = {
    b"OggS": "ogg",
    b"ID3": "mp3",
    b"fLaC": "flac",
    b"#!AMR": "amr",
    b"caff": "caf",
    b"\xff\xf1": "aac",
    b"\xff\xf9": "aac",
    b"\xff\xfb": "mp3",
    b"\xff\xfa": "mp3",
    b"\xff\xf3": "mp3",
    b"\xff\xf2": "mp3",
    b"\xff\xe3": "mp3",
}
"""The first bytes of recordings, with the endings of their names."""
_EBML = b"\x1aE\xdf\xa3"
_TEXT_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16, whose text is full of zeros."""


def kind_of(data: bytes) -> FileKind:
    """Return the kind of a file."""
    head = data[:_HEAD]
    if head.startswith(_PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return FileKind.PICTURE
    if head[4:8] == b"ftyp":
        return _by_brand(head)
    if b"%PDF-" in head:
        return FileKind.PDF
    if head.startswith(b"PK\x03\x04"):
        return FileKind.OFFICE
    if head.startswith(_TEXT_MARKS):
        return FileKind.TEXT
    if head.startswith(tuple(_AUDIO)) or (head[:4] == b"RIFF" and head[8:12] == b"WAVE"):
        return FileKind.AUDIO
    if head.startswith(_EBML):
        return FileKind.AUDIO if b"A_" in head and b"V_" not in head else FileKind.VIDEO
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return FileKind.VIDEO
    return FileKind.OTHER if not head or _is_binary(head) else FileKind.TEXT


def sound_format(data: bytes) -> str:
    """Return the ending of a recording's name, by which servers tell its format."""
    head = data[:_HEAD]
    for first, ending in _AUDIO.items():
        if head.startswith(first):
            return ending
    if head.startswith(_EBML):
        return "webm"
    if head[4:8] == b"ftyp":
        return "m4a" if head[8:12] in _AUDIO_BRANDS else "mp4"
    return "wav"


def _by_brand(head: bytes) -> FileKind:
    brand = head[8:12]
    if brand in _PICTURE_BRANDS:
        return FileKind.PICTURE
    return FileKind.AUDIO if brand in _AUDIO_BRANDS else FileKind.VIDEO


def _is_binary(head: bytes) -> bool:
    control = sum(byte < 9 or 13 < byte < 32 for byte in head)
    return b"\x00" in head or control > len(head) // 20
