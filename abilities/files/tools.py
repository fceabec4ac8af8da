"""Read files that a person sent: documents by page or by words, pictures by a question; and send them back."""

from onevalet import ToolExecutionContext, ToolGroup, ToolRetry, gettext, gettext_noop, tool

_GROUP = ToolGroup("files", gettext_noop("file, files, document, documents, attachment, attachments, PDF"))
_MAX_READ = 12_000
"""Characters of the pages that a call returns."""
_MAX_FOUND = 12
_AROUND = 160
"""Characters around a word that was found."""


@tool(name="list_files", effect="read", outside=True, group=_GROUP)
async def list_files(context: ToolExecutionContext) -> str:
    """List the files that the person sent lately, with the ids by which the other tools read them."""
    files = await context.files.list()
    lines = [
        f"{file.id}: {file.name or 'without a name'}, {file.kind.value}"
        + (f", {file.page_count} pages" if file.page_count else "")
        + f", sent {file.sent_at:%Y-%m-%d}"
        for file in files
    ]
    return "\n".join(lines) or "There are no files."


@tool(name="read_file", effect="read", outside=True, group=_GROUP, timeout=90)
async def read_file(file: str, context: ToolExecutionContext, page: int = 1, question: str = "") -> str:
    """Read more of a file that the person sent: a document from a page on, or the content of a picture.

    Args:
        file: The file's id, such as f1a2b3c4d5.
        page: The page to begin at, from 1.
        question: Of a picture: the thing to look for in it.
    """
    found = await context.files.find(file)
    if found.is_picture:
        return await context.files.look(file, question)
    pages = await context.files.pages(file)
    if not 1 <= page <= len(pages):
        raise ToolRetry(f"The file has {len(pages)} pages that can be read; ask for one from 1.")
    lines: list[str] = []
    chars, number = 0, page
    for number, text in enumerate(pages[page - 1 :], start=page):
        if lines and chars + len(text) > _MAX_READ:
            number -= 1
            break
        lines.append(f"--- Page {number} ---\n{text}")
        chars += len(text)
    more = f"Read on from page {number + 1}." if number < len(pages) else "That is the end of what can be read."
    return "\n".join([f"Pages {page} to {number} of {found.page_count}.", *lines, more])


@tool(name="search_file", effect="read", outside=True, group=_GROUP)
async def search_file(file: str, words: str, context: ToolExecutionContext) -> str:
    """Find words in a document that the person sent; return the places with their pages.

    Args:
        file: The file's id, such as f1a2b3c4d5.
        words: The words to find; a place that has all of them counts most.
    """
    wanted = [word for word in words.casefold().split() if word]
    if not wanted:
        raise ToolRetry("Give the words to find.")
    pages = await context.files.pages(file)
    ranked = sorted(
        ((sum(word in page.casefold() for word in wanted), -number) for number, page in enumerate(pages, start=1)),
        reverse=True,
    )
    lines = [f"Page {-number}: {_around(pages[-number - 1], wanted)}" for count, number in ranked[:_MAX_FOUND] if count]
    return "\n".join(lines) or f"None of its {len(pages)} pages has any of these words."


@tool(name="send_file", effect="read", outside=True, group=_GROUP)
async def send_file(file: str, context: ToolExecutionContext) -> str:
    """Send the person a file that they sent earlier, or that was made for them.

    Args:
        file: The file's id, such as f1a2b3c4d5, or its name.
    """
    wanted = file.strip().casefold()
    files = await context.files.list()
    found = [kept for kept in files if kept.id == wanted or kept.name.casefold() == wanted]
    found = found[:1] or [kept for kept in files if wanted and wanted in kept.name.casefold()]
    if not found:
        raise ToolRetry(gettext("There is no such file. It may have been deleted."), note="list_files has the ids.")
    if len(found) > 1:
        names = ", ".join(f"{kept.id} ({kept.name})" for kept in found)
        raise ToolRetry(f"Several files fit: {names}. Name one by its id.")
    sent = await context.files.send(found[0].id)
    return gettext("Here is the file {name}.", name=f"“{sent.name}”" if sent.name else sent.id)


def _around(page: str, words: list[str]) -> str:
    folded = page.casefold()
    # Of a phrase its own place, else the first word's.
    places = [folded.find(text) for text in (" ".join(words), *words)]
    at = next(place for place in places if place >= 0)
    begin = max(at - _AROUND, 0)
    return " ".join(f"{'…' if begin else ''}{page[begin : at + 2 * _AROUND]}".split())
