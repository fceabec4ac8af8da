"""The child process that makes text of a page: a script by itself, which no other module imports.

Request: the page's `url` and `content_type`, and its bytes. Answer: the fields of `core.http.pages.Page`.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any
from urllib.parse import urljoin, urlsplit

from core.children.child_job import JobAnswer, answer_request
from core.language.charsets import decode_page, decode_text

PRELOADED = (
    "resiliparse.extract.html2text",
    "resiliparse.parse.encoding",
    "resiliparse.parse.html",
)
MEMORY = 512 * 1024 * 1024
CPU_SECONDS = 6
MAX_TEXT = 1_000_000
"""Characters of a page's text."""
MAX_TAGS = 60_000
"""Opening and closing tags that are read of a page, about twice those of a long article; each takes 600 bytes."""
_MAX_LINKS = 3000
_MAX_PRICES = 30
_LONG_LINK = 400
"""Characters of an address from which a link is left out: only tracking makes addresses that long."""
_FRAGMENT = 80
"""Characters up to which a main part is rather a fragment of the page."""
_LITTLE = 250
"""Characters of text below which a page counts as empty."""
_SCRIPTED = re.compile(r"(enable|requires?|needs?|turn on|aktivier\w*|activ\w+|habilit\w+)[^.]{0,40}javascript", re.I)
_DATES = (
    "meta[property='article:published_time']",
    "meta[property='og:published_time']",
    "meta[itemprop='datePublished']",
    "meta[name='date']",
    "meta[name='dc.date']",
    "time[datetime]",
)
_DESCRIPTIONS = ("meta[property='og:description']", "meta[name='description']")
_AMOUNTS = ("meta[property='product:price:amount']", "meta[property='og:price:amount']", "[itemprop='price']")
_CURRENCIES = (
    "meta[property='product:price:currency']",
    "meta[property='og:price:currency']",
    "[itemprop='priceCurrency']",
)
_DATE_IN_JSON = re.compile(r'"datePublished"\s*:\s*"([^"]{8,40})"')
_PRICE_IN_JSON = re.compile(r'"(?:price|lowPrice)"\s*:\s*"?([0-9][0-9.,]{0,15})"?')
_CURRENCY_IN_JSON = re.compile(r'"priceCurrency"\s*:\s*"([A-Z]{3})"')
_SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "￥": "CNY", "₹": "INR", "zł": "PLN", "kr": "", "R$": "BRL"}
_CODE = r"€|R\$|\$|£|¥|￥|₹|zł|EUR|USD|GBP|CHF|JPY|CNY|INR|PLN|SEK|NOK|DKK|BRL|CAD|AUD"
_AMOUNT = r"[0-9]{1,3}(?:[.,'’\u00a0\u202f ][0-9]{3})+(?:[.,][0-9]{2})?|[0-9]{1,9}(?:[.,][0-9]{1,2})?"
_PRICE = re.compile(rf"(?:({_CODE})\s?({_AMOUNT})|({_AMOUNT})\s?({_CODE}))(?![0-9A-Za-z])")


def read(asked: Mapping[str, Any], body: bytes) -> JobAnswer:
    """Return the title and other data of a page, and its text."""
    return _extract(body, asked["url"], asked["content_type"]), b""


def _extract(body: bytes, url: str, content_type: str) -> dict[str, Any]:
    kind = content_type.partition(";")[0].strip().lower()
    is_html = "html" in kind or (not kind and body.lstrip()[:1] == b"<")
    said = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", content_type, re.I)
    text = (decode_page if is_html else decode_text)(body, said[1] if said else None)
    if is_html:
        return _of_html(text, url)
    plain = text.replace("\r\n", "\n")
    return {"text": plain[:MAX_TEXT], "cut": len(plain) > MAX_TEXT}


def _of_html(html: str, url: str) -> dict[str, Any]:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    beyond = next(islice(re.finditer("<", html), MAX_TAGS, None), None)
    html = html[: beyond.start()] if beyond else html
    tree = HTMLTree.parse(html)
    document: Any = tree.document
    base = document.query_selector("base[href]")
    _name_links(document, urljoin(url, base.getattr("href") or "") if base else url)
    main = extract_plain_text(tree, main_content=True, links=True, alt_texts=False)
    whole = extract_plain_text(tree, links=True, alt_texts=False)
    # A page of lists, or a shop, has a main part that is only a fragment of it.
    text = main if len(main) > max(_FRAGMENT, len(whole) // 5) else whole
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip()
    has_scripts = bool(_SCRIPTED.search(html)) or document.query_selector("script") is not None
    canonical = document.query_selector("link[rel='canonical'][href]")
    return {
        "title": " ".join((tree.title or "").split())[:300],
        "date": _date(document, html),
        "canonical": _address(url, (canonical.getattr("href") or "") if canonical else ""),
        "text": text[:MAX_TEXT],
        "cut": beyond is not None or len(text) > MAX_TEXT,
        "description": " ".join(_content(document, _DESCRIPTIONS).split())[:1000],
        "needs_script": len(text) < _LITTLE and has_scripts,
        "needs_login": len(text) < 4 * _LITTLE and document.query_selector("input[type='password']") is not None,
        **_prices(document, html, text),
    }


def _name_links(document: Any, base: str) -> None:
    """Write each link's whole address into the tree, and remove it if it leads back to the page."""
    # A slice: resiliparse 2.0 walks to each of a collection's elements from the first.
    for number, link in enumerate(document.query_selector_all("a[href]")[:]):
        address = _address(base, link.getattr("href") or "") if number < _MAX_LINKS else ""
        if address and len(address) <= _LONG_LINK and address != base:
            link.setattr("href", address)
        else:
            link.delattr("href")


def _address(base: str, href: str) -> str:
    """Return a link's address without its fragment; empty if it is not a web address."""
    try:
        address = urljoin(base, href.strip()).partition("#")[0]
        return address if urlsplit(address).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _date(document: Any, html: str) -> str:
    """Return the page's date of publication, as ISO 8601; empty if it names none."""
    found = _DATE_IN_JSON.search(html)
    for text in (_content(document, _DATES), found[1] if found else ""):
        try:
            return datetime.fromisoformat(text.strip()).date().isoformat()
        except ValueError:
            continue
    return ""


def _prices(document: Any, html: str, text: str) -> dict[str, Any]:
    """Return the price that the page marks as its own, and all amounts of money in its text, in order."""
    in_json, currency_in_json = _PRICE_IN_JSON.search(html), _CURRENCY_IN_JSON.search(html)
    own = _number(_content(document, _AMOUNTS) or (in_json[1] if in_json else ""))
    named = _content(document, _CURRENCIES) or (currency_in_json[1] if currency_in_json else "")
    listed: list[dict[str, Any]] = []
    for found in _PRICE.finditer(text[:100_000]):
        sign, amount = (found[1], found[2]) if found[1] else (found[4], found[3])
        listed.append({"price": _number(amount), "currency": _SIGNS.get(sign, sign)})
        if len(listed) == _MAX_PRICES:
            break
    if own is None and listed and all(price == listed[0] for price in listed):
        own, named = listed[0]["price"], str(listed[0]["currency"])
    return {"price": own, "currency": named[:3].upper(), "prices": listed}


def _number(text: str) -> float | int | None:
    """Read an amount as 1,299.00 or 1.299,00 or 1 299; None for none."""
    digits = re.sub(r"[^0-9.,]", "", text)
    if not digits.strip(".,") or len(digits) > 20:
        return None
    whole, mark, rest = digits, "", ""
    last = max(digits.rfind("."), digits.rfind(","))
    # Three digits after the only kind of mark are thousands; after another mark they would be decimals.
    both = "." in digits and "," in digits
    if last >= 0 and (both or (len(digits) - last - 1 != 3 and digits.count(digits[last]) == 1)):
        whole, mark, rest = digits[:last], ".", digits[last + 1 :]
    value = float(re.sub(r"[.,]", "", whole or "0") + mark + rest)
    return int(value) if value.is_integer() else value


def _content(document: Any, selectors: tuple[str, ...]) -> str:
    """Return the content of the first element that any of the selectors finds."""
    for selector in selectors:
        element = document.query_selector(selector)
        if element and (text := element.getattr("content") or element.getattr("datetime") or element.text):
            return str(text)
    return ""


if __name__ == "__main__":
    answer_request(read, memory=MEMORY, cpu_seconds=CPU_SECONDS)
