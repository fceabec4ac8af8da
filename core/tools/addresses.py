"""Addresses of the web in texts: found, and compared, without any request."""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

from yarl import URL

from core.json_types import Json

_ADDRESS = re.compile(r"https?://(?:\[[0-9a-f:.]+\])?[^\s<>\"'`{}|\\^\[\]]*", re.IGNORECASE)
_NAMED = re.compile(
    r"(?<![\w@/:.-])(?:www\.)?(?:[\w-]{1,63}\.)+[^\W\d_]{2,24}(?::\d{2,5})?(?:/[^\s<>\"'`{}|\\^\[\]]*)?", re.IGNORECASE
)
_LINK_BEGINS = re.compile(r"!?\[[^\[\]]*\]\(|<?https?:|(?<!\w)www\.|(?:[\w-]+\.)+[^\W\d_]{2,24}[/?]", re.IGNORECASE)
_TRAILING = ".,;:!?*_~…'\"”’»"
MAX_TEXT = 2_000_000


def addresses_in(text: str) -> Iterator[str]:
    """Yield the addresses in a text, without the punctuation after them."""
    for found in _ADDRESS.finditer(text[:MAX_TEXT]):
        yield trimmed(found[0])


def named_in(text: str) -> Iterator[str]:
    """Yield all that a person may mean as an address: also `example.com/page`, which a browser would take."""
    yield from addresses_in(text)
    for found in _NAMED.finditer(text[:MAX_TEXT]):
        yield f"https://{trimmed(found[0])}"


def addresses_of(value: Json) -> Iterator[str]:
    """Yield the addresses in a JSON value: all of a text with `://`, else text that a tool may take for an address."""
    if isinstance(value, str):
        yield from [value] if "://" in value else named_in(value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from addresses_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from addresses_of(item)


def exact(address: str) -> str | None:
    """Return the part of an address that a server sees, so that two spellings of a request are equal; None for none.

    Nothing is decoded: a choice among spellings could carry a message.
    """
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return None
    host = parts.hostname.lower().rstrip(".")
    where = host if port in (None, 80, 443) else f"{host}:{port}"
    where = f"{parts.netloc.rpartition('@')[0]}@{where}" if "@" in parts.netloc else where
    return f"{where}{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"


def loosely(address: str) -> str | None:
    """Return an address as two people would call it the same: without `www.`, the last slash, and escapes.

    The host is in a browser's form (`xn--…`): hosts that look the same, or fold to the same letters, stay two.
    """
    key = exact(address)
    if key is None:
        return None
    host, slash, rest = key.partition("/")
    return f"{_as_asked(host).removeprefix('www.')}{slash}{unquote(rest)}".rstrip("/").casefold()


def _as_asked(host: str) -> str:
    if host.isascii():
        return host
    try:
        return URL(f"https://{host}").raw_authority
    except ValueError:
        return host


def roots_of(addresses: Iterable[str]) -> set[str]:
    """Return the front pages of the servers, each as `loosely` writes it."""
    return {key.partition("/")[0] for address in addresses if (key := loosely(address))}


def before_links(text: str) -> str:
    """Return the beginning of a text that holds no link yet, nor the beginning of a link."""
    found = _LINK_BEGINS.search(text)
    return text[: found.start()].rstrip() if found else text


def trimmed(address: str) -> str:
    """Return an address without the punctuation and the closing brackets of the sentence around it."""
    while address and (address[-1] in _TRAILING or (address[-1] == ")" and address.count(")") > address.count("("))):
        address = address[:-1]
    return address
