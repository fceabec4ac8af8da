"""Web addresses that stand bare in Markdown: each stays letter for letter, whatever marks are in it; pure.

CommonMark finds emphasis, escapes and entities in a bare address, and a link that lost an underscore leads nowhere.
Where one ends is decided as GFM does: github.github.com/gfm/#autolinks-extension-.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_SCHEME = re.compile(r"(?:^|[^A-Za-z0-9])https?$", re.IGNORECASE)
_REST = re.compile(r"://[^\s<>\[\]`|]+")
_NEVER_LAST = "?!.,:;*_~'\""


def keep_addresses(parser: MarkdownIt) -> None:
    """Make a parser read no mark in a bare address."""
    parser.inline.ruler.before("escape", "bare_address", _take_address)


def _take_address(state: StateInline, silent: bool) -> bool:
    # The scheme was taken as text: a colon is the first letter at which a rule is asked.
    if not state.src.startswith("://", state.pos) or not _SCHEME.search(state.src, max(0, state.pos - 6), state.pos):
        return False
    match = _REST.match(state.src, state.pos, state.posMax)
    rest = _without_end(match[0]) if match else ""
    if len(rest) <= len("://"):
        return False
    if not silent:
        state.pending += rest
    state.pos += len(rest)
    return True


def _without_end(rest: str) -> str:
    """Leave out what belongs to the sentence around an address."""
    end, unopened = len(rest), rest.count(")") - rest.count("(")
    while end and (rest[end - 1] in _NEVER_LAST or (rest[end - 1] == ")" and unopened > 0)):
        unopened -= rest[end - 1] == ")"
        end -= 1
    return rest[:end]
