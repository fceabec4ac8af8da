"""The links that Telegram accepts on a button: https://core.telegram.org/bots/api#inlinekeyboardbutton."""

import re
from urllib.parse import urlsplit

_APP_LINK = re.compile(r"(tg|ton|tonsite):(?://)?([A-Za-z0-9_.-]+)([/?#].*)?$", re.I | re.S)


def valid_link(url: str) -> bool:
    """Return whether Telegram accepts a link: to an app of its own, or http with a host."""
    if _APP_LINK.match(url):
        return True
    full = url if re.match(r"[a-z][a-z0-9+.-]*://", url, re.I) else f"http://{url}"
    try:
        parts = urlsplit(full)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if parts.scheme.lower() not in ("http", "https") or (port is not None and port == 0):
        return False
    return not re.search(r"[\s\x00-\x20<>\"]", full) and ("." in host or ":" in host)
