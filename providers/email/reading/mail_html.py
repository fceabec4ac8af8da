"""The text of an HTML message: the part visible to a person, with ">" before quotes.

Mail programs mark a quote each in its way (`_is_quote`); an indented paragraph is a person's own.
"""

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
"""Beginnings and ends of elements, without those that are usually never closed."""
_MAX_NESTED = 400
_BEGINS, _ENDS, _RULE = "\ue000", "\ue001", "\ue002"
"""Placeholders for the beginning and end of a quote, and for the rule above a quoted message."""
_BLANKS = 8
"""Empty elements between a quote and its attribution line."""
_RULE_LINE = "_" * 32
_QUOTE_NAMES = re.compile(
    r"gmail_quote|protonmail_quote|tutanota_quote|yahoo_quoted|zmail_extra|moz-quote|isReplyContent"
)
_BORDER_LEFT = re.compile(r"border-left(?:-width)?\s*:(?!\s*(?:none|0))", re.I)
_INDENT = re.compile(r"border\s*:\s*none", re.I)
_ATTRIBUTED = re.compile(r"@\S+[^@\n]{0,80}[:\uff1a]\s*$")
_RULES = "#divRplyFwdMsg, #mail-editor-reference-message-container, .ms-outlook-mobile-reference-message"
_RULED = re.compile(r"border-top\s*:\s*solid\s+#[0-9a-f]{6}\s+1\.0pt.{0,40}padding\s*:\s*3\.0pt", re.I | re.S)
"""The mark that Outlook puts above the headers of a quoted message."""


def text_of_html(html: str) -> str:
    """Return the visible text: no scripts, no pictures, no hidden text."""
    import nh3
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    html = html[:MAX_HTML].translate(dict.fromkeys(map(ord, (_BEGINS, _ENDS, _RULE))))
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
    _mark_quotes(tree)
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
        address = link.getattr("href") or ""
        if len(address) > _LONG_LINK or _plain_address(address) == _plain_address(link.text.strip()):
            _unwrap(link)
    text = str(extract_plain_text(tree, main_content=False, links=True, alt_texts=False))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", _quoted(text))).strip()


def _unwrap(link: Any) -> None:
    """Replace a link by its content."""
    parent = link.parent
    while parent is not None and link.first_child is not None:
        parent.insert_before(link.first_child, link)
    if parent is not None:
        parent.remove_child(link)


def _plain_address(address: str) -> str:
    return re.sub(r"^(?:https?://|mailto:)", "", address.strip(), flags=re.I).rstrip("/").lower()


def _mark_quotes(tree: Any) -> None:
    document = tree.document
    for quote in document.query_selector_all("blockquote, div[name=quote]")[:]:
        if _is_quote(quote):
            _mark(tree, quote, _BEGINS, before=True)
            _mark(tree, quote, _ENDS, before=False)
    ruled = [one for one in document.query_selector_all("div[style]")[:] if _RULED.search(one.getattr("style") or "")]
    for rule in [*document.query_selector_all(_RULES)[:], *ruled]:
        _mark(tree, rule, _RULE, before=True)


def _mark(tree: Any, element: Any, sign: str, *, before: bool) -> None:
    """Put a sign into an element as a line of its own, at its beginning or its end."""
    line = tree.create_element("div")
    line.text = sign
    if before and element.first_child is not None:
        element.insert_before(line, element.first_child)
    else:
        element.append_child(line)


def _is_quote(element: Any) -> bool:
    """Return whether an element is a quote: by its name in programs, by its line at the left, or by the text above."""
    style = element.getattr("style") or ""
    if _INDENT.search(style) and not _BORDER_LEFT.search(style):
        return False  # Gmail and Outlook indent a paragraph by a quote without a line
    within = element.parent
    names = " ".join(one.getattr(name) or "" for one in (element, within) if one for name in ("class", "id"))
    if element.getattr("type") == "cite" or element.getattr("name") == "quote" or _QUOTE_NAMES.search(names):
        return True
    if _BORDER_LEFT.search(style):
        return True
    above = element.prev
    for _ in range(_BLANKS):
        if above is None or (said := above.text.strip()):
            return above is not None and _ATTRIBUTED.search(said[-400:]) is not None
        above = above.prev
    return False


def _quoted(text: str) -> str:
    """Return a text with its placeholders as mail programs write them: ">" before quotes, a line above a message."""
    lines, depth = list[str](), 0
    for line in text.split("\n"):
        said = line.strip()
        if said == _RULE:
            lines.append(_line(_RULE_LINE, depth))
        elif said and set(said) <= {_BEGINS, _ENDS}:
            depth = max(0, depth + said.count(_BEGINS) - said.count(_ENDS))
        else:
            lines.append(_line(line, depth))
    return "\n".join(lines)


def _line(line: str, depth: int) -> str:
    return f"{'>' * depth} {line.strip()}".rstrip() if depth else f" {line}" if line.startswith(">") else line


def _depth(html: str) -> int:
    """Return the maximum nesting of elements: the time of a parser grows with its square."""
    depth = deepest = 0
    for closing in _NESTING.findall(html):
        depth = max(depth - 1, 0) if closing else depth + 1
        deepest = max(deepest, depth)
    return deepest
