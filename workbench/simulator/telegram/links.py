"""The links that Telegram accepts in a text: https://core.telegram.org/bots/api#formatting-options."""

import re
from urllib.parse import parse_qs, urlsplit

_APP_LINK = re.compile(r"(tg|ton|tonsite):(?://)?([A-Za-z0-9_.-]+)([/?#].*)?$", re.I | re.S)


def linked_user(url: str) -> int:
    """Return the id in tg://user?id=…, or 0."""
    match = _APP_LINK.match(url)
    if not match or match[1].lower() != "tg" or match[2].lower() != "user":
        return 0
    ids = parse_qs((match[3] or "").lstrip("/").lstrip("?")).get("id", [""])
    return int(ids[0]) if ids[0].isdecimal() else 0


def linked_emoji(url: str) -> str:
    """Return the id in tg://emoji?id=…, or nothing."""
    match = re.match(r"tg:(?://)?emoji/?\?id=(\d+)$", url, re.I)
    return match[1] if match and int(match[1]) else ""


def linked_moment(url: str) -> tuple[int, str] | None:
    """Return the time and format in tg://time?unix=…&format=…, or None."""
    match = re.match(r"tg:(?://)?time/?\?(.*)$", url, re.I)
    if not match:
        return None
    values = parse_qs(match[1])
    unix, form = values.get("unix", [""])[0], values.get("format", [""])[0]
    if not unix.isdecimal() or not int(unix) or not valid_date_format(form):
        return None
    return int(unix), form


def valid_date_format(form: str) -> bool:
    """Return whether a date_time_format is valid: https://core.telegram.org/bots/api#date-time-entity-formatting."""
    return re.fullmatch(r"|[rR]|[tTdDwW]+", form) is not None


def checked_link(url: str) -> str:
    """Return the link as Telegram would keep it, or nothing if it drops the link but keeps its text."""
    if _APP_LINK.match(url):
        return url
    full = url if re.match(r"[a-z][a-z0-9+.-]*://", url, re.I) else f"http://{url}"
    try:
        parts = urlsplit(full)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or (port is not None and port == 0):
        return ""
    if re.search(r"[\s\x00-\x20<>\"]", full) or ("." not in host and ":" not in host):
        return ""
    if not parts.path:
        full = parts._replace(path="/").geturl()
    return full
