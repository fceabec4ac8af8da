"""A part of a document or workbook with a document type is not read, however it is written: no entity is expanded."""

import codecs
from collections.abc import Callable

import pytest

from abilities.documents.file import read_content
from core.files.kinds import FileFailure, FileKind
from core.files.types import FileUnreadable
from tests.abilities.documents import samples

_TYPE = '<!DOCTYPE d [<!ENTITY said "Hidden words">]>'
_DOCUMENT = "<d><p><t>&said;</t></p></d>"
_PARTS = {
    "word__document_xml": _DOCUMENT,
    "xl__workbook_xml": '<w><sheet name="&said;"/></w>',
    "xl__sharedStrings_xml": "<s><si><t>&said;</t></si></s>",
    "xl__styles_xml": '<s><numFmt numFmtId="1" formatCode="&said;"/></s>',
    "xl__worksheets__sheet1_xml": '<s><row><c t="inlineStr"><is><t>&said;</t></is></c></row></s>',
}
_ENCODED: dict[str, Callable[[str], bytes]] = {
    "utf-8": lambda text: text.encode(),
    "utf-8 with a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16-be": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "utf-16 without a mark": lambda text: text.encode("utf-16-le"),
    "declared": lambda text: f'<?xml version="1.0" encoding="iso-8859-1"?>{text}'.encode("iso-8859-1"),
    "after much": lambda text: f"<!--{'x' * 200_000}-->{text}".encode(),
}


@pytest.mark.parametrize("encoding", _ENCODED)
@pytest.mark.parametrize("part", _PARTS)
async def test_a_part_with_a_document_type_is_not_read(part: str, encoding: str) -> None:
    whole: dict[str, str | bytes] = {"xl__workbook_xml": "<w/>"} if part.startswith("xl") else {}
    whole["xl__worksheets__sheet1_xml"] = '<s><row><c t="inlineStr"><is><t>Words</t></is></c></row></s>'
    whole[part] = _ENCODED[encoding](_TYPE + _PARTS[part])
    with pytest.raises(FileUnreadable) as refused:
        await read_content(samples.archive(**whole), FileKind.OFFICE)
    assert refused.value.failure is FileFailure.BROKEN


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
async def test_a_document_in_another_encoding_is_read(encoding: str) -> None:
    data = samples.archive(word__document_xml=_ENCODED[encoding]("<d><p><t>Plain words</t></p></d>"))
    assert (await read_content(data, FileKind.OFFICE)).pages == ("Plain words",)
