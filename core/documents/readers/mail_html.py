"""The text of a message that is a page: what a person would see of it."""

import re
from html import unescape
from typing import Any

MAX_HTML = 1_600_000
"""Characters of a page that are read."""
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])|max-height\s*:\s*0|"
    r"text-indent\s*:\s*-\d{3}|(?:left|top)\s*:\s*-\d{3}|mso-hide\s*:\s*all",
    re.I,
)
_TAGS = set(
    re.findall(
        "[a-z0-9]+",
        "a b blockquote br code dd div dl dt em h1 h2 h3 h4 h5 h6 hr i li ol p pre span strong table tbody td tfoot"
        " th thead tr u ul",
    )
)
_LONG_LINK = 400
_NESTING = re.compile(
    r"<(/?)(?!(?:p|li|td|tr|th|tbody|thead|dt|dd|br|hr|img|input|meta|link|col|area|base|wbr|option|o:p)\b)[a-z]", re.I
)
"""Where elements begin and end, without those that are usually never closed."""
_MAX_NESTED = 400


def text_of_html(html: str) -> str:
    """Return what a person would see: no scripts, no pictures, nothing that is hidden from the eye."""
    import nh3
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    html = html[:MAX_HTML]
    if _depth(html) > _MAX_NESTED:
        return " ".join(unescape(re.sub(r"<[^>]{0,2000}>", " ", html)).split())
    tree = HTMLTree.parse(html)
    document: Any = tree.document
    # Slices, here and below: resiliparse 2.0 walks to each of a collection's elements from the first.
    unseen = [*document.query_selector_all("[hidden]")[:], *document.query_selector_all("[style]")[:]]
    for element in unseen:
        style = element.getattr("style") or ""
        if element.hasattr("hidden") or _HIDDEN_STYLE.search(style):
            element.setattr("data-unseen", "1")
    for element in document.query_selector_all("[data-unseen]")[:]:
        if element.parent is not None:
            element.parent.remove_child(element)
    clean = nh3.clean(
        str(tree.body.html if tree.body else tree),
        tags=_TAGS,
        clean_content_tags={"script", "style", "title", "noscript", "template", "svg", "math", "head"},
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )
    tree = HTMLTree.parse(clean)
    links: Any = tree.document
    for link in links.query_selector_all("a[href]")[:]:
        if len(link.getattr("href") or "") > _LONG_LINK:
            link.delattr("href")
    text = extract_plain_text(tree, main_content=False, links=True, alt_texts=False)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", str(text))).strip()


def _depth(html: str) -> int:
    """Return how deep elements lie in each other at the most: the time of a parser grows with its square."""
    depth = deepest = 0
    for closing in _NESTING.findall(html):
        depth = max(depth - 1, 0) if closing else depth + 1
        deepest = max(deepest, depth)
    return deepest
