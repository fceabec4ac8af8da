"""The text of a fetched page or PDF, made in a child process: a hostile page costs a sentence, never a worker."""

from pathlib import Path
from typing import Any

import structlog

from abilities.documents.file import numbered, read_content
from core.children.child_job import Unreadable
from core.children.child_process import ChildFailed, NoChild, ask_child
from core.errors import ToolFailed
from core.files.kinds import FileFailure, FileKind, kind_of
from core.files.types import FileUnreadable
from core.http.pages import Page
from core.http.types import HttpResponse
from core.language.catalogue import gettext, gettext_noop
from core.language.unseen import without_unseen

_SCRIPT = Path(__file__).with_name("page_script.py")
_BROKEN = gettext_noop("That page cannot be read: it is broken or too complex.")
_NOT_NOW = gettext_noop("No page can be read just now. Please try again later.")
_PDF_TOO_LARGE = gettext_noop("That PDF is too large to be read from the web.")
_UNREADABLE_PDF = {
    FileFailure.UNREAD: _NOT_NOW,
    FileFailure.LOCKED: gettext_noop("That PDF is locked with a password."),
    FileFailure.NO_TEXT: gettext_noop("There is no text in that PDF, perhaps only scans."),
}
_TEXTS = ("application/json", "application/xml", "application/rss+xml", "application/atom+xml", "application/xhtml+xml")

_log = structlog.get_logger()


async def read_html(response: HttpResponse) -> Page:
    """Return the text of a response that is a page, plain text or a PDF. Raises `ToolFailed` with a plain sentence."""
    kind = response.content_type
    if kind == "application/pdf" or kind_of(response.body) is FileKind.PDF:
        return await _read_pdf(response)
    if kind and not kind.startswith("text/") and kind not in _TEXTS and not kind.endswith("+json"):
        raise ToolFailed(gettext("That page cannot be read: it is {type}.", type=kind[:60]))
    given = {"url": response.url, "content_type": response.headers.get("Content-Type", "")[:200]}
    try:
        found, _ = await ask_child(_SCRIPT, given, response.body)
    except NoChild as error:
        _log.error("no_child_process", error=str(error))
        raise ToolFailed(gettext(_NOT_NOW)) from error
    except (ChildFailed, Unreadable) as error:
        raise ToolFailed(gettext(_BROKEN)) from error
    prices = tuple(found.pop("prices", ()))
    cut = found.pop("cut") or response.cut
    seen: dict[str, Any] = {
        name: without_unseen(value) if isinstance(value, str) else value for name, value in found.items()
    }
    return Page(url=response.url, cut=cut, prices=prices, **seen)


async def _read_pdf(response: HttpResponse) -> Page:
    """Return the text of a PDF, each page below its number, by the reader of people's files."""
    if response.cut:  # its index of pages is at its end
        raise ToolFailed(gettext(_PDF_TOO_LARGE))
    try:
        content = await read_content(response.body, FileKind.PDF)
    except FileUnreadable as error:
        raise ToolFailed(gettext(_UNREADABLE_PDF.get(error.failure, _BROKEN))) from error
    pages = [numbered(number, text) for number, text in enumerate(content.pages, start=1)]
    return Page(response.url, "\n\n".join(pages), title=f"PDF, {content.page_count} pages", cut=content.cut)
