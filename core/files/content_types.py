"""The content type of an outgoing file: from its first bytes, else as its maker declares, else from its name."""

import mimetypes
import re

UNKNOWN = "application/octet-stream"
_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,62}/[a-z0-9][a-z0-9.+-]{0,62}")
_FIRST_BYTES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"OggS", "audio/ogg"),
)
_PROVEN = frozenset(kind for _, kind in _FIRST_BYTES)
"""Types that only the bytes can prove."""
_ENDINGS = {".ics": "text/calendar", ".vcf": "text/vcard", ".md": "text/markdown", ".csv": "text/csv"}


def content_type_of(data: bytes, name: str, declared: str | None = None) -> str:
    """Return a file's type, lower case and without parameters."""
    for begins, kind in _FIRST_BYTES:
        if data.startswith(begins):
            return kind
    said = (declared or "").partition(";")[0].strip().lower()
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    guessed = said if _TYPE.fullmatch(said) else _ENDINGS.get(ending) or mimetypes.guess_type(name)[0] or UNKNOWN
    return UNKNOWN if guessed in _PROVEN else guessed
