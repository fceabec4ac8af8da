"""Plain text, tables, calendar entries and contacts."""

import re
from typing import Any

from abilities.documents.readers.limits import MAX_PAGES, MAX_TEXT, paged
from core.children.child_job import Unreadable
from core.language.charsets import decode_text

_KEPT = {
    "VCALENDAR": (
        "SUMMARY",
        "DTSTART",
        "DTEND",
        "DUE",
        "DURATION",
        "RRULE",
        "LOCATION",
        "DESCRIPTION",
        "ORGANIZER",
        "ATTENDEE",
        "STATUS",
        "URL",
    ),
    "VCARD": ("FN", "ORG", "TITLE", "TEL", "EMAIL", "ADR", "BDAY", "URL", "GEO", "NOTE"),
}
"""The properties that are read of each entry; alarms, pictures and keys are not."""


def read(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the text in pages."""
    text = decode_text(data).replace("\r\n", "\n").replace("\r", "\n")
    begun = re.match(r"\s*BEGIN:(VCALENDAR|VCARD)\b", text[:200], re.I)
    if begun:
        text = _entries(text, begun[1].upper())
    if not text.strip():
        raise Unreadable("no_text")
    pages = paged(text[:MAX_TEXT])
    return {
        "pages": pages[:MAX_PAGES],
        "page_count": len(pages),
        "cut": len(text) > MAX_TEXT or len(pages) > MAX_PAGES,
    }, b""


def _entries(text: str, kind: str) -> str:
    """Return an iCalendar or vCard file's text (RFC 5545, 6350): a line a property, an empty line between entries."""
    lines: list[str] = []
    for line in re.sub(r"\n[ \t]", "", text).split("\n"):
        name, _, value = line.partition(":")
        name, _, parameters = name.partition(";")
        name = name.rpartition(".")[2].upper()
        if name == "END" and value.strip().upper() in ("VEVENT", "VTODO", "VCARD"):
            lines.append("")
        elif name in _KEPT[kind]:
            zone = re.search(r"TZID=\"?([^;:\"]{1,60})", parameters)
            shown = re.sub(r"\\[nN]", "\n  ", value).replace("\\,", ",").replace("\\;", ";").strip("; ")
            lines.append(f"{name.capitalize()}: {shown}" + (f" ({zone[1]})" if zone else ""))
    return "\n".join(lines)
