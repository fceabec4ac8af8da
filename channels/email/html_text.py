"""The words of an HTML mail that has no plain text: blocks as lines, what is quoted left out; pure."""

import re
from html.parser import HTMLParser
from typing import override

_BLOCKS = frozenset(
    {"p", "div", "br", "tr", "li", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "hr", "blockquote"}
)
_UNSEEN = frozenset({"script", "style", "head", "title", "template", "noscript"})
_EMPTY = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
)
_QUOTES = re.compile(r"(?:^|\s)(?:gmail_quote|gmail_extra|moz-cite-prefix|yahoo_quoted|protonmail_quote)(?:\s|$)")
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])", re.IGNORECASE
)
_MAX = 1_000_000
"""Characters of HTML that are read."""
_DEEPEST = 200


def text_of_html(html: str, *, quoted: bool = False) -> str:
    """Return what a person sees of a mail. `quoted`: history too, for what is passed on."""
    reader = _Reader(quoted=quoted)
    reader.feed(html[:_MAX])
    reader.close()
    lines = [" ".join(line.split()) for line in "".join(reader.words).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    """Collect words outside of what is not seen; `skipped`: how deep we are in that."""

    def __init__(self, *, quoted: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._quoted = quoted
        self._open: list[tuple[str, bool]] = []
        self._skipped = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self._break(2 if tag == "p" else 1)
        if tag == "li" and not self._skipped:
            self.words.append("- ")
        if tag in _EMPTY or len(self._open) > _DEEPEST:
            return
        skips = self._skips(tag, {name: text or "" for name, text in attrs})
        self._open.append((tag, skips))
        self._skipped += skips

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._break(2 if tag == "p" else 1)
        if all(name != tag for name, _ in self._open):
            return
        while self._open:
            name, skips = self._open.pop()
            self._skipped -= skips
            if name == tag:
                return

    @override
    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.words.append(re.sub(r"\s+", " ", data))

    def _break(self, lines: int) -> None:
        if not self._skipped and self.words:
            have = len(self.words[-1]) - len(self.words[-1].rstrip("\n"))
            self.words.append("\n" * max(lines - have, 0 if have else 1))

    def _skips(self, tag: str, attributes: dict[str, str]) -> bool:
        if tag in _UNSEEN or _HIDDEN.search(attributes.get("style", "")) or "hidden" in attributes:
            return True
        if self._quoted:
            return False
        is_history = _QUOTES.search(attributes.get("class", "")) or attributes.get("id") == "divRplyFwdMsg"
        return bool(is_history) or (tag == "blockquote" and attributes.get("type") == "cite")
