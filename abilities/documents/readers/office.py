"""The text of Word documents and Excel workbooks, read from their XML (ECMA-376)."""

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import Element, iterparse
from xml.parsers.expat import ExpatError, ParserCreate

from abilities.documents.readers.limits import MAX_PAGES, MAX_TEXT, paged
from core.children.child_job import Unreadable

MAX_PART = 60 * 1024 * 1024
"""Bytes of an unpacked part."""
_CHUNK = 64 * 1024
_MAX_COLUMNS = 200
_DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 - a workbook's days have no zone
_DATE_FORMATS = {*range(14, 23), *range(45, 48)}
_DATE_LETTERS = re.compile(r"[dmyhs]", re.I)
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')


def read(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the pages of a document, or the rows of a workbook's sheets."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = set(archive.namelist())
        if "word/document.xml" in names:
            pages = _document(archive)
        elif "xl/workbook.xml" in names:
            pages = _workbook(archive)
        else:
            raise Unreadable("unknown")
    cut = len(pages) > MAX_PAGES or sum(map(len, pages)) >= MAX_TEXT
    if not any(page.strip() for page in pages):
        raise Unreadable("no_text")
    return {"pages": pages[:MAX_PAGES], "page_count": len(pages), "cut": cut}, b""


def _part(archive: zipfile.ZipFile, name: str) -> BytesIO:
    """Unpack a part, bounded by its true size and not by the archive's statement."""
    with archive.open(name) as packed:
        data = packed.read(MAX_PART + 1)
    if len(data) > MAX_PART:
        raise Unreadable("too_much")
    _check_type(data)
    return BytesIO(data)


def _check_type(data: bytes) -> None:
    """Refuse a part with a document type, in any encoding: honest parts have none, and entities can be made to explode.

    The parser that reads the part looks for it, up to the first element; after that none can come.
    """

    def refuse(*_: object) -> None:
        raise Unreadable("broken")

    def begun(*_: object) -> None:
        raise _Begun

    parser = ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, begun
    try:
        for at in range(0, len(data), _CHUNK):
            parser.Parse(data[at : at + _CHUNK], at + _CHUNK >= len(data))
    except _Begun:
        return
    except ExpatError as error:
        raise Unreadable("broken") from error
    raise Unreadable("broken")


class _Begun(Exception):
    """The first element of a part has begun."""


def _elements(part: BytesIO, *names: str) -> Iterator[Element]:
    """Yield the elements of these names as they end, and let go of their content afterwards."""
    for _, element in iterparse(part):  # noqa: S314 - bounded, without entities, in a process of its own
        if _local(element) in names:
            yield element
            element.clear()


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _document(archive: zipfile.ZipFile) -> list[str]:
    pages, lines, chars = list[str](), list[str](), 0
    for paragraph in _elements(_part(archive, "word/document.xml"), "p"):
        line = list[str]()
        for element in paragraph.iter():
            name = _local(element)
            if name == "t":
                line.append(element.text or "")
            elif name == "tab":
                line.append("\t")
            elif name == "lastRenderedPageBreak" or (name == "br" and "page" in element.attrib.values()):
                pages += paged("\n".join([*lines, "".join(line)]))
                lines, line = [], []
            elif name in ("br", "cr"):
                line.append("\n")
        lines.append("".join(line))
        chars += len(lines[-1])
        if chars >= MAX_TEXT:
            break
    return [*pages, *paged("\n".join(lines))]


def _workbook(archive: zipfile.ZipFile) -> list[str]:
    names, shared, dates = set(archive.namelist()), _shared_strings(archive), _date_styles(archive)
    titles = [element.get("name", "") for element in _elements(_part(archive, "xl/workbook.xml"), "sheet")]
    sheets = sorted(
        (name for name in names if re.fullmatch(r"xl/worksheets/sheet[0-9]{1,4}\.xml", name)),
        key=lambda name: int(re.sub(r"\D", "", name)),
    )
    pages, chars = list[str](), 0
    for index, sheet in enumerate(sheets):
        title = titles[index] if index < len(titles) else f"Sheet {index + 1}"
        lines = [f"Sheet: {title}"]
        for row in _elements(_part(archive, sheet), "row"):
            cells = [_cell(cell, shared, dates) for cell in row if _local(cell) == "c"][:_MAX_COLUMNS]
            if any(cells):
                lines.append(" | ".join(cells))
                chars += len(lines[-1])
            if chars >= MAX_TEXT:
                break
        pages += paged("\n".join(lines))
    return pages


def _shared_strings(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    items = _elements(_part(archive, "xl/sharedStrings.xml"), "si")
    return ["".join(text.text or "" for text in item.iter() if _local(text) == "t") for item in items]


def _date_styles(archive: zipfile.ZipFile) -> set[int]:
    """Return the styles of cells whose numbers are dates."""
    if "xl/styles.xml" not in archive.namelist():
        return set()
    formats, styles = set(_DATE_FORMATS), list[int]()
    for element in _elements(_part(archive, "xl/styles.xml"), "numFmt", "cellXfs"):
        if _local(element) == "cellXfs":
            styles = [int(style.get("numFmtId", "0")) for style in element if _local(style) == "xf"]
        elif _DATE_LETTERS.search(_QUOTED.sub("", element.get("formatCode", ""))):
            formats.add(int(element.get("numFmtId", "0")))
    return {number for number, style in enumerate(styles) if style in formats}


def _cell(cell: Element, shared: list[str], dates: set[int]) -> str:
    kind, texts = cell.get("t", "n"), [part.text or "" for part in cell.iter() if _local(part) in ("v", "t")]
    value = "".join(texts).strip()
    try:
        if kind == "s":
            return shared[int(value)]
        if kind == "n" and value and int(cell.get("s", "0")) in dates:
            return _date(float(value))
    except (ValueError, IndexError, OverflowError):
        return value
    return {"0": "false", "1": "true"}.get(value, value) if kind == "b" else value


def _date(days: float) -> str:
    moment = _DAY_ZERO + timedelta(seconds=round(days * 86400))
    return moment.date().isoformat() if days == int(days) else moment.isoformat(" ", "minutes")
