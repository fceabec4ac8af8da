"""The text of a PDF, page by page."""

import logging
import time
from io import BytesIO
from typing import Any

from abilities.documents.readers.limits import MAX_PAGES, MAX_TEXT
from core.children.child_job import Unreadable

_SECONDS = 12.0
"""CPU after which the pages so far are returned."""


def read(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the pages, and their number."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not _opened(reader):
        raise Unreadable("locked")
    count, chars, pages = len(reader.pages), 0, list[str]()
    if count == 0:
        raise Unreadable("broken")
    for index in range(min(count, MAX_PAGES)):
        try:
            text = reader.pages[index].extract_text().strip()
        except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError):
            text = ""  # a page that is broken costs its own text only
        pages.append(text[: MAX_TEXT - chars])
        chars += len(text)
        if chars >= MAX_TEXT or time.process_time() > _SECONDS:
            break
    if not any(pages):
        raise Unreadable("no_text")
    return {"pages": pages, "page_count": count, "cut": len(pages) < count or chars > MAX_TEXT}, b""


def _opened(reader: Any) -> bool:
    """Open a PDF that asks for no password of its reader."""
    from pypdf.errors import DependencyError

    try:
        return bool(reader.decrypt(""))
    except (DependencyError, NotImplementedError):  # an encryption that pypdf does not know by itself
        return False
