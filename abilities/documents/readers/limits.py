"""The limits of readers' text, and its pages."""

MAX_TEXT = 1_000_000
"""Characters of all pages of a file."""
MAX_PAGES = 1000
PAGE = 4000
"""Characters of a page if the file has no pages of its own."""


def paged(text: str) -> list[str]:
    """Cut a text into pages, each at the end of a line if there is any."""
    pages: list[str] = []
    text = text.strip()
    while len(text) > PAGE:
        cut = text.rfind("\n", PAGE // 2, PAGE)
        cut = cut if cut > 0 else PAGE
        pages.append(text[:cut].rstrip())
        text = text[cut:].lstrip("\n")
    return [*pages, text]
