"""Read a page of the web: its text in parts, with its metadata."""

import re

from abilities.web.page_cache import PageCache
from onevalet import (
    HttpResponse,
    Page,
    TextWithData,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    gettext,
    gettext_noop,
    read_html,
    tool,
)

_DOING = gettext_noop("Reading the page…")
PART = 10_000
"""Characters of a part."""
_ASKED = "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.8,*/*;q=0.1"
_NAMED = re.compile(r"(?:[\w-]+\.)+[^\W\d_]{2,24}(?![\w.-])")
_CACHE = PageCache()


@tool(name="read_page", effect="read", outside=True, addresses=("url",), timeout=90, doing=_DOING)
async def read_page(url: str, context: ToolExecutionContext, part: int = 1) -> TextWithData:
    """Read a page of the web or a PDF as text.

    Args:
        url: Exactly as the person, a search or another page gave it.
        part: Of a long page, from 1.
    """
    address = url.strip() if "://" in url else f"https://{url.strip()}"
    if "://" not in url and not _NAMED.match(url.strip()):
        raise ToolRetry("Give the whole address, with https:// at its beginning.")
    now = context.clock.now()
    page = _CACHE.get(context.tenant_id, address, now)
    if page is None:
        page = await _fetched(address, context)
        _CACHE.put(context.tenant_id, address, page, now)
    parts = parts_of(page.text or page.description)
    if not 1 <= part <= len(parts):
        raise ToolRetry(f"The page has {len(parts)} parts; ask for one from 1.")
    lines = _head(page)
    if len(parts) > 1:
        lines.append(f"This is part {part} of {len(parts)}.")
    return TextWithData("\n".join([*lines, "", parts[part - 1]]), page.to_json())


async def _fetched(address: str, context: ToolExecutionContext) -> Page:
    headers = {"Accept": _ASKED, "Accept-Language": f"{context.language or 'en'}, en;q=0.5"}
    response = await context.http.request("GET", address, headers=headers)
    _check(response)
    page = await read_html(response)
    if not page.text and not page.description:
        if page.needs_login:
            raise ToolFailed(gettext("That page asks for a login, so I cannot read it."))
        if page.needs_script:
            raise ToolFailed(gettext("That page shows nothing without JavaScript, which I do not run."))
        raise ToolFailed(gettext("There is no text on that page."))
    return page


def _check(response: HttpResponse) -> None:
    """Refuse an answer that is no page."""
    status = response.status
    if status in (401, 403, 407, 451) or response.headers.get("cf-mitigated"):
        raise ToolFailed(gettext("That page requires a login, or does not admit programs."))
    if status in (404, 410):
        raise ToolFailed(gettext("There is no such page."))
    if status != 200:
        raise ToolFailed(gettext("The page's server answered with the status {status}.", status=status))


def _head(page: Page) -> list[str]:
    known = {
        "Address": page.url,
        "Canonical address": page.canonical if page.canonical != page.url else "",
        "Title": page.title,
        "Published": page.date,
        "Price": f"{page.price} {page.currency}".strip() if page.price is not None else "",
    }
    lines = [f"{name}: {value}" for name, value in known.items() if value]
    if page.cut:
        lines.append("Only its beginning was fetched: the page is too large.")
    if page.needs_login:
        lines.append("It asks for a login, so this may not be all of it.")
    elif page.needs_script:
        lines.append("It shows little without JavaScript, so this may not be all of it.")
    return lines


def parts_of(text: str) -> list[str]:
    """Cut a text into parts, each at the end of a paragraph, a line or a word if there is any."""
    parts: list[str] = []
    while len(text) > PART:
        cuts = (text.rfind(end, PART * 3 // 4, PART) for end in ("\n\n", "\n", ". ", " "))
        cut = next((cut for cut in cuts if cut > 0), PART - 1) + 1
        parts.append(text[:cut].strip())
        text = text[cut:]
    return [*parts, text.strip()]
