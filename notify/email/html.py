"""A reply's Markdown as the simple HTML of a mail; pure.

No pictures: a mail program fetches their addresses unasked, and a model that obeys a page could leak data in such an
address.
"""

from markdown_it import MarkdownIt

from notify.markdown_blocks import keep_addresses, keep_all_cells
from notify.plain_markdown import without_controls

_MAX_NESTING = 24
_PAGE = (
    '<!DOCTYPE html><html><head><meta charset="utf-8"></head>'
    '<body style="font-family: sans-serif; line-height: 1.4; max-width: 42em">\n{body}</body></html>\n'
)
_TABLE = '<table border="1" cellpadding="4" style="border-collapse: collapse">'


def to_html(markdown: str) -> str:
    """Return a page; empty if the text is nested too deeply to be shown completely."""
    body = body_html(markdown)
    return _PAGE.format(body=body.replace("<table>", _TABLE)) if body else ""


def body_html(markdown: str) -> str:
    """Return the text as HTML for the body of a page; empty if it is nested too deeply to be shown completely."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": _MAX_NESTING})
    parser.disable(["reference", "image"]).enable(["table", "strikethrough"])
    keep_all_cells(parser)
    keep_addresses(parser)
    source = without_controls(markdown)
    tokens = parser.parse(source)
    if any(token.level >= _MAX_NESTING - 2 for token in tokens):
        return ""
    return str(parser.renderer.render(tokens, parser.options, {}))
