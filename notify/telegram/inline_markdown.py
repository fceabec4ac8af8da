"""A run of inline Markdown as a text with marks: emphasis, code, links; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from urllib.parse import urlsplit

from markdown_it.token import Token

from notify.markdown_blocks import link_of
from notify.telegram.entities import Mark, Rich
from notify.telegram.text import is_visible

_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+", re.IGNORECASE)
_INLINE = {"em_open": "italic", "strong_open": "bold", "s_open": "strikethrough"}


def read_inline(tokens: Sequence[Token], *, linked: bool = True) -> Rich:
    """Read a run of inline tokens: URLs whole, emphasis as marks; unless `linked`, every URL is written out."""
    run = _Run(linked)
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                run.put("\n")
            case "code_inline":
                run.begin(token, "code")
                run.put(token.content)
                run.end()
            case "link_open":
                run.begin(token)
            case "link_close":
                _end_link(run)
            case "image":
                run.begin(token)
                run.put(read_inline(token.children or (), linked=False).text)
                _end_link(run)
            case "em_open" | "strong_open" | "s_open":
                # `2*3*4` is arithmetic to a person: marks inside a word stay.
                inside = "".join(run.pieces[-1:])[-1:].isalnum()
                run.put(token.markup if inside else "")
                run.begin(token, "" if inside else _INLINE[token.type])
            case "em_close" | "strong_close" | "s_close":
                inside = not run.open[-1].kind
                run.end()
                run.put(token.markup if inside else "")
            case _:
                run.put(token.content)
    return Rich("".join(run.pieces), tuple(run.marks))


@dataclass(frozen=True, slots=True)
class _Begun:
    """Where a mark or link began: its kind ('' to mark nothing), its token, the piece and the place."""

    kind: str
    token: Token
    piece: int
    start: int


@dataclass(slots=True)
class _Run:
    """A run of inline text; `open` holds what is not closed yet."""

    linked: bool
    pieces: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    size: int = 0
    open: list[_Begun] = field(default_factory=list)

    def put(self, text: str) -> None:
        """Append a text."""
        self.pieces.append(text)
        self.size += len(text)

    def begin(self, token: Token, kind: str = "") -> None:
        """Begin what is marked as `kind` when it is closed, or is only remembered."""
        self.open.append(_Begun(kind, token, len(self.pieces), self.size))

    def end(self) -> _Begun:
        """Mark what began last, if it is to be marked."""
        begun = self.open.pop()
        if begun.kind and begun.start < self.size:
            self.marks.append(Mark(begun.kind, begun.start, self.size))
        return begun


def _end_link(run: _Run) -> None:
    """Link the text since the link began, or write the URL behind it where that would lose it."""
    begun = run.end()
    text = "".join(run.pieces[begun.piece :])
    url, title = link_of(begun.token, text)
    # Telegram keeps one link or code of several on one text; and it finds bare URLs by itself.
    inner = takewhile(lambda kept: kept.end > begun.start, reversed(run.marks))
    shared = any(kept.kind in ("code", "text_link") for kept in inner)
    within = any(outer.token.type == "link_open" for outer in run.open)
    if not url:
        pass
    elif not is_visible(text):
        run.put(url)
    elif run.linked and _is_linkable(url) and not shared and not within:
        run.marks.append(Mark("text_link", begun.start, run.size, url=url))
    else:
        run.put(f" ({url})")
    if title:
        run.put(f' "{title}"')


def _is_linkable(url: str) -> bool:
    """Return whether Telegram surely takes it: of any other it silently keeps the text alone."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    plain = re.fullmatch(r"[!-~]{1,2000}", url) and not re.search(r"[<>\"\\`{}|^]", url)
    return bool(plain and parts.scheme in ("http", "https") and _HOST.fullmatch(host) and port != 0)
