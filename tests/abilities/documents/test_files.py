"""What a file holds, by its reader in a child process; and files that are made to break it."""

import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from typing import cast

import pytest
from PIL import Image

from abilities.documents.file import read_content
from abilities.files.showing import FileShowing
from core.files.access import Files
from core.files.intake import FileIntake
from core.files.kinds import FileFailure, FileKind, kind_of
from core.files.names import MAX_NAME, clean_name
from core.files.store import FileStore
from core.files.types import SentFile
from core.messaging.messages import Media
from tests.abilities.documents import samples

VCARD = (
    b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann Example\r\nTEL;TYPE=CELL:+15550001111\r\nPHOTO;ENCODING=b:AAAA\r\nEND:VCARD"
)
EVENT = (
    b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch\\, with\r\n  Ann\r\nDTSTART;TZID=Europe/Berlin:20260101T120000"
    b"\r\nEND:VEVENT\r\nEND:VCALENDAR"
)


async def pages(data: bytes) -> tuple[str, ...]:
    return (await read_content(data, kind_of(data))).pages


async def test_documents_become_pages() -> None:
    assert await pages(samples.docx("First", "Second", "\f", "Third")) == ("First\nSecond", "Third")
    table = await pages(samples.xlsx([["Item", "Day"], ["Rent", 46023.0], ["Food", 46024.5]]))
    assert table == ("Sheet: Costs\nItem | Day\nRent | 2026-01-01\nFood | 2026-01-02 12:00",)
    assert await pages("Größe;Preis\nklein;3 €".encode("utf-16")) == ("Größe;Preis\nklein;3 €",)
    assert await pages(VCARD) == ("Fn: Ann Example\nTel: +15550001111",)
    assert await pages(EVENT) == ("Summary: Lunch, with Ann\nDtstart: 20260101T120000 (Europe/Berlin)",)


async def test_a_heic_becomes_a_jpeg() -> None:
    data = samples.heic()
    content = await read_content(data, kind_of(data))
    with Image.open(BytesIO(content.picture)) as image:
        assert (image.format, image.size) == ("JPEG", (64, 48))


def _png_of(width: int, height: int) -> bytes:
    """Return a PNG that says it is that large and holds next to nothing."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 10**6)) + chunk(b"IEND", b"")
    )


def _laughs() -> bytes:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    return f'<!DOCTYPE d [<!ENTITY l0 "ha">{entities}]><d><p><t>&l11;</t></p></d>'.encode()


def _pdf(objects: bytes) -> bytes:
    return b"%PDF-1.4\n" + objects + b"\ntrailer << /Root 1 0 R /Size 9 >>\nstartxref\n0\n%%EOF"


LOOP = b"1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [2 0 R] /Count 1 >>\nendobj"
BOMB_PDF = (
    b"1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
    b"3 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>\nendobj\n"
    b"4 0 obj\n<< /Filter /FlateDecode /Length %d >>\nstream\n%b\nendstream\nendobj"
)


def _bomb_pdf() -> bytes:
    squeezed = zlib.compress(b" " * 200_000_000, 9)
    return _pdf(BOMB_PDF % (len(squeezed), squeezed))


HOSTILE: dict[str, tuple[Callable[[], bytes], set[FileFailure]]] = {
    "empty": (lambda: b"", {FileFailure.UNKNOWN}),
    "zeros": (lambda: bytes(100_000), {FileFailure.UNKNOWN}),
    "program": (lambda: b"\x7fELF\x02\x01\x01" + bytes(1000), {FileFailure.UNKNOWN}),
    "script_with_zeros": (lambda: b"#!/bin/sh\nrm -rf /\x00", {FileFailure.UNKNOWN}),
    "png_bomb": (lambda: _png_of(60_000, 60_000), {FileFailure.TOO_MUCH}),
    "png_largest": (lambda: _png_of(2**31 - 1, 2**31 - 1), {FileFailure.TOO_MUCH, FileFailure.BROKEN}),
    "png_without_end": (lambda: samples.picture("PNG")[:80], {FileFailure.BROKEN}),
    "png_head_only": (lambda: b"\x89PNG\r\n\x1a\n", {FileFailure.BROKEN}),
    "jpeg_cut": (lambda: samples.picture()[:300], {FileFailure.BROKEN}),
    "jpeg_of_noise": (lambda: b"\xff\xd8\xff" + bytes(range(256)) * 50, {FileFailure.BROKEN}),
    "gif_head_only": (lambda: b"GIF89a\xff\xff\xff\xff", {FileFailure.TOO_MUCH, FileFailure.BROKEN}),
    "tiff_of_itself": (lambda: b"II*\x00\x08\x00\x00\x00" + b"\x01\x00" * 200, {FileFailure.BROKEN}),
    "heic_of_nothing": (lambda: b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", {FileFailure.BROKEN}),
    "webp_of_nothing": (lambda: b"RIFF\xff\xff\xff\x7fWEBPVP8L", {FileFailure.BROKEN}),
    "pdf_of_words": (lambda: b"%PDF-1.7 but not really", {FileFailure.BROKEN}),
    "pdf_loop": (lambda: _pdf(LOOP), {FileFailure.BROKEN, FileFailure.TOO_MUCH, FileFailure.NO_TEXT}),
    "pdf_bomb": (
        _bomb_pdf,
        {FileFailure.TOO_MUCH, FileFailure.NO_TEXT, FileFailure.BROKEN},
    ),
    "pdf_of_scans": (lambda: samples.pdf(["", ""]), {FileFailure.NO_TEXT}),
    "zip_of_nothing": (lambda: samples.archive(a_txt="x"), {FileFailure.UNKNOWN}),
    "zip_cut": (lambda: samples.docx("x" * 1000)[:-30], {FileFailure.BROKEN}),
    "docx_bomb": (lambda: samples.archive(word__document_xml=b" " * 300_000_000), {FileFailure.TOO_MUCH}),
    "docx_of_laughs": (lambda: samples.archive(word__document_xml=_laughs()), {FileFailure.BROKEN}),
    "docx_of_depth": (
        lambda: samples.archive(word__document_xml=b"<p>" * 300_000),
        {FileFailure.BROKEN, FileFailure.TOO_MUCH},
    ),
    "docx_without_words": (lambda: samples.docx("", " "), {FileFailure.NO_TEXT}),
    "xlsx_bomb": (
        lambda: samples.archive(xl__workbook_xml=b"<w/>", xl__worksheets__sheet1_xml=b" " * 300_000_000),
        {FileFailure.TOO_MUCH},
    ),
    "xlsx_of_wrong_numbers": (
        lambda: samples.archive(
            xl__workbook_xml=b"<w/>", xl__styles_xml=b"<s><numFmt formatCode='y' numFmtId='x'/></s>"
        ),
        {FileFailure.BROKEN},
    ),
    "video": (lambda: b"\0\0\0\x18ftypisom" + bytes(100), {FileFailure.VIDEO}),
    "film": (lambda: b"\x1aE\xdf\xa3" + bytes(40) + b"V_VP9" + bytes(60), {FileFailure.VIDEO}),
    "contact_of_nothing": (lambda: b"BEGIN:VCARD\r\nEND:VCARD", {FileFailure.NO_TEXT}),
    "blank_text": (lambda: b" \n" * 5000, {FileFailure.NO_TEXT}),
}


SENTENCES = {
    FileFailure.UNKNOWN: "I cannot read the file “it.bin”: I do not know that kind of file.",
    FileFailure.TOO_MUCH: "I cannot read the file “it.bin”: it takes too much time or memory.",
    FileFailure.BROKEN: "I cannot read the file “it.bin”: it is damaged, or not what it claims to be.",
    FileFailure.NO_TEXT: "I cannot read the file “it.bin”: there is no text in it, perhaps only scans.",
    FileFailure.AUDIO: "I cannot listen to sound yet. Please write to me what the file “it.bin” says.",
    FileFailure.VIDEO: "I cannot watch videos. Please send a picture in place of the file “it.bin”.",
}


@dataclass(frozen=True, slots=True)
class OneFile:
    """A message with one file, its provider, and the notes of what became of it."""

    data: bytes
    noted: list[str | FileFailure] = field(default_factory=list)

    async def fetch(self, media: Media, max_bytes: int) -> SentFile:
        return SentFile("application/octet-stream", self.data)

    async def media_of(self, tenant_id: str, inbound_id: str) -> list[Media]:
        return [Media("https://a/1", "application/octet-stream", "it.bin")]

    async def taken(self, tenant_id: str, inbound_id: str) -> dict[int, str | FileFailure]:
        return {}

    async def known(self, tenant_id: str, data: bytes) -> str | None:
        return None

    async def record(self, tenant_id: str, inbound_id: str, number: int, outcome: str | FileFailure) -> None:
        self.noted.append(outcome)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.whole("each file uses up its limits")
async def test_a_hostile_file_ends_in_one_sentence(name: str) -> None:
    make, reasons = HOSTILE[name]
    message = OneFile(make())
    files = Files(FileIntake(cast(FileStore, message), {"sms": message}, reader=read_content), FileShowing())
    (seen,) = await files.take_in("t", "turn", "m", "sms")
    assert seen.failure in {SENTENCES[reason] for reason in reasons}
    assert [seen.failure] == [SENTENCES[FileFailure(noted)] for noted in message.noted], "it is not fetched again"


def test_thirty_files_are_hostile() -> None:
    assert len(HOSTILE) >= 30


async def test_a_polyglot_is_read_as_what_it_begins_as() -> None:
    data = samples.pdf(["Plain words"]) + samples.docx("Other words")
    assert kind_of(data) is FileKind.PDF
    assert "Other" not in str(await pages(data))
    picture = samples.picture("GIF") + b"<script>alert(1)</script>" + samples.docx("Words")
    content = await read_content(picture, kind_of(picture))
    assert b"script" not in content.picture


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Windows\\x.exe", "x.exe"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\r\nb\x00\x1b[31m.txt", "a b[31m.txt"),
        ("..", ""),
        ("", ""),
        ("lease.pdf", "lease.pdf"),
    ],
)
def test_a_name_is_shown_without_path_and_tricks(name: str, shown: str) -> None:
    assert clean_name(name) == shown


def test_a_long_name_keeps_its_ending() -> None:
    shown = clean_name("x" * 5000 + ".pdf")
    assert len(shown) <= MAX_NAME
    assert shown.endswith("….pdf")


@pytest.mark.whole("it loads a process of its own")
def test_web_and_worker_load_no_reader() -> None:
    source = (
        "import sys, json, onevalet.app, onevalet.wiring.worker, onevalet.wiring.files, abilities.files.tools\n"
        "print(json.dumps([name for name in ('PIL', 'pillow_heif', 'pypdf', 'moto', 'boto3') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
