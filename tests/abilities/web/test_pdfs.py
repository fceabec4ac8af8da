"""A PDF behind a link: its text with page numbers, in parts, bounded, by the reader of people's files."""

from collections.abc import Callable
from io import BytesIO

import pytest
from aiohttp import web
from pypdf import PdfWriter

from abilities.web.reading import read_page
from core.errors import ToolFailed
from core.tools.context import ToolExecutionContext
from tests.abilities.documents import samples
from tests.abilities.documents.test_files import HOSTILE
from tests.abilities.web.test_reading import context, site
from tests.servers.site import Site

__all__ = ["context", "site"]
MB = 1024 * 1024


def answer(body: bytes, kind: str = "application/pdf") -> web.Response:
    """Answer with a PDF."""
    return web.Response(body=body, content_type=kind)


def locked() -> bytes:
    """Return a PDF that asks for a password."""
    writer, out = PdfWriter(clone_from=BytesIO(samples.pdf(["Secret"]))), BytesIO()
    writer.encrypt("a password", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


async def test_a_pdf_is_read_in_parts_by_page(site: Site, context: ToolExecutionContext) -> None:
    lease = samples.pdf([f"Page {number} of the lease. " + "Words. " * 50 for number in range(1, 81)])
    site.pages["/lease"] = lambda: _fresh(lease)
    first = await read_page(f"{site.url}/lease", context)
    assert "Title: PDF, 80 pages" in first
    assert "--- Page 1 ---\nPage 1 of the lease." in first
    assert "This is part 1 of 4." in first
    last = await read_page(f"{site.url}/lease", context, part=4)
    assert "--- Page 80 ---\nPage 80 of the lease." in last
    assert site.asked == ["/lease"], "it is fetched once"


@pytest.mark.parametrize("kind", ["application/octet-stream", "text/html", "image/png"])
async def test_a_pdf_is_known_by_its_first_bytes(site: Site, context: ToolExecutionContext, kind: str) -> None:
    site.pages["/a"] = answer(samples.pdf(["Plain words"]), kind)
    assert "--- Page 1 ---\nPlain words" in await read_page(f"{site.url}/a", context)


async def test_a_pdf_may_be_larger_than_a_page(site: Site, context: ToolExecutionContext) -> None:
    site.pages["/a"] = answer(samples.pdf([f"Plain words) Tj\n%{'x' * 3 * MB}\n(more"]))  # a comment in its page
    assert "Plain words" in await read_page(f"{site.url}/a", context)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (locked, "locked with a password"),
        (lambda: samples.pdf(["", ""]), "no text in that PDF, perhaps only scans"),
        (lambda: samples.pdf(["x"]) + bytes(8 * MB), "too large to be read from the web"),
        (lambda: b"%PDF-1.7", "broken or too complex"),
        (lambda: b"no PDF at all", "broken or too complex"),
        (HOSTILE["pdf_loop"][0], "broken or too complex|no text"),
        (HOSTILE["pdf_bomb"][0], "broken or too complex|no text"),
    ],
    ids=["locked", "scans", "large", "head", "words", "loop", "bomb"],
)
async def test_what_cannot_be_read_of_a_pdf_is_one_sentence(
    site: Site, context: ToolExecutionContext, body: Callable[[], bytes], why: str
) -> None:
    site.pages["/a"] = answer(body())
    with pytest.raises(ToolFailed, match=why):
        await read_page(f"{site.url}/a", context)


async def _fresh(body: bytes) -> web.StreamResponse:
    return answer(body)
