"""A file as the model sees it with the message: our note, and an excerpt, which others wrote."""

from collections.abc import Sequence

from abilities.documents.file import numbered
from core.files.kinds import FileKind
from core.files.types import SeenFile, StoredFile

MAX_SHOWN = 6000
"""Characters of a file's text that come with the message; the rest is read by tools."""
_MEGABYTE = 1_000_000


def view_of(file: StoredFile, pages: Sequence[str] = (), picture: bytes = b"") -> SeenFile:
    """Return the model's view of a file."""
    lines = [f"Name: {file.name}"] if file.name else []
    shown = 0
    if file.is_picture:
        lines += ["What the picture shows, in another model's words:", *pages] if pages else []
        shown = len(pages)
    else:
        text, shown = _beginning(pages)
        lines += text
    more = ""
    if not file.is_picture and (shown < file.page_count or file.cut):
        more = f" Shown are the pages up to {shown}; read_file has the others, search_file finds words."
    elif not file.is_picture:
        more = " It is shown whole."
    note = f"[The person sent a file: {file.id}, {describe(file)}.{more}]"
    return SeenFile(file.id, note, "\n".join(lines), picture)


def describe(file: StoredFile) -> str:
    """Return a file's kind and size, for the model."""
    if file.is_picture:
        return "a picture"
    if file.is_recording:
        return f"a recording of {max(file.size, 1) / _MEGABYTE:.1f} MB, written down by a machine"
    kind = {FileKind.PDF: "a PDF", FileKind.OFFICE: "a document"}.get(file.kind, "a text")
    pages = "1 page" if file.page_count == 1 else f"{file.page_count} pages"
    size = f"{file.size / _MEGABYTE:.1f} MB" if file.size >= _MEGABYTE / 10 else f"{max(file.size // 1000, 1)} KB"
    return f"{kind} of {pages}, {size}"


def _beginning(pages: Sequence[str]) -> tuple[list[str], int]:
    """Return the first pages, and the number of whole pages among them: at least the first, which may be cut."""
    lines: list[str] = []
    left = MAX_SHOWN
    for number, page in enumerate(pages, start=1):
        if number > 1 and len(page) > left:
            return lines, number - 1
        lines.append(numbered(number, page[:left] + ("\n[cut: read_file has all of it]" if len(page) > left else "")))
        left -= len(page)
        if left <= 0:
            return lines, number
    return lines, len(pages)
