"""From Slack's notation of a message to the person's typed text; pure.

Source: docs.slack.dev, messaging/formatting-message-text: three characters are escaped, and links, people and channels
are enclosed in angle brackets.
"""

import re

_SCHEME = re.compile(r"^(https?://|mailto:|tel:)")
_BRACKETS = re.compile(r"<([^<>\n]+)>")


def typed_text(escaped: str) -> str:
    """Return a message's text as the person typed it."""
    return unescape(_BRACKETS.sub(_plain, escaped))


def unescape(escaped: str) -> str:
    """Undo the escaping of the three characters; the ampersand last, or it would be undone twice."""
    return escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _plain(match: re.Match[str]) -> str:
    target, _, label = match[1].partition("|")
    match target[:1]:
        case "@" | "#":
            return f"{target[0]}{label.lstrip('@#') or target[1:]}"
        case "!":
            return label or f"@{target[1:].partition('^')[0]}"
    address = _SCHEME.sub("", target)
    if not label or label.rstrip("/") in (target.rstrip("/"), address.rstrip("/")):
        # Slack turns typed links and addresses into links: the label is the typed text.
        return label or re.sub(r"^(mailto|tel):", "", target)
    return f"{label} ({target})"
