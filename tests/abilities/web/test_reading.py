"""Pages as the tool reads them: the text, what is known of it, parts, and what cannot be read."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from aiohttp import web

from abilities.web.page_cache import KEPT_FOR, MAX_CHARS, MAX_PAGES_EACH, PageCache
from abilities.web.reading import PART, parts_of, read_page
from onevalet import Page, ToolExecutionContext, ToolFailed, ToolRetry
from tests.clocks import StandingClock
from tests.core.builders import a_context
from tests.servers.site import Site, guarded, open_site

ARTICLE = """<html lang="de"><head><title>Die  Fähre</title><link rel="canonical" href="/faehre">
<meta property="article:published_time" content="2026-10-01T08:00:00Z"><script>track()</script></head>
<body><nav><a href="/home">Start</a></nav><article><h1>Die Fähre</h1><p>Sie fährt täglich um neun, wie <a
href="/plan?tag=heute#oben">der Plan</a> sagt, und kehrt am Abend zurück; an Feiertagen fährt sie gar nicht.</p>
<p style="display:none">Versteckt.</p></article><footer>Impressum</footer></body></html>"""


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with open_site() as site:
        yield site


@pytest.fixture
async def context(site: Site) -> AsyncIterator[ToolExecutionContext]:
    """Yield a context of its own person, since pages are remembered by person."""
    async with guarded(site) as http:
        yield replace(a_context(tenant_id=site.url), http=http, clock=StandingClock())


async def test_an_article_is_its_text_with_title_day_and_links(site: Site, context: ToolExecutionContext) -> None:
    site.pages["/a"] = ARTICLE
    said = await read_page(f"{site.url}/a", context)
    assert said.splitlines()[:4] == [
        f"Address: {site.url}/a",
        f"Canonical address: {site.url}/faehre",
        "Title: Die Fähre",
        "Published: 2026-10-01",
    ]
    assert f"wie der Plan ({site.url}/plan?tag=heute) sagt" in said
    assert not any(word in said for word in ("Start", "Impressum", "Versteckt", "track"))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<p>Grüße aus Köln</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ('<meta charset="iso-8859-1"><p>Grüße aus Köln</p>'.encode("latin-1"), "text/html"),
        ("\ufeff<p>Grüße aus Köln</p>".encode("utf-16-le"), "text/html"),
        ("<p>Grüße aus Köln</p>".encode(), "text/html"),
        ("Grüße aus Köln".encode("cp1252"), "text/plain; charset=windows-1252"),
    ],
)
async def test_the_charset_is_found(site: Site, context: ToolExecutionContext, body: bytes, kind: str) -> None:
    site.kind, site.pages["/a"] = kind, body
    assert "Grüße aus Köln" in await read_page(f"{site.url}/a", context)


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"<p>\xad\xa1 \xc6\xfc\xcb\xdc</p>", "text/html; charset=euc-jp", "\u2460 \u65e5\u672c"),
        (b"<meta charset=gb2312><p>\xa6\xd9\xfe\x59</p>", "text/html", "\ufe10\u9fb4"),
        ("\ud55c\uad6d".encode("iso2022_kr"), "text/plain; charset=iso-2022-kr", "\ud55c\uad6d"),
    ],
    ids=["japanese", "chinese", "korean"],
)
async def test_a_page_is_read_under_its_label_as_mail_is(
    site: Site, context: ToolExecutionContext, body: bytes, kind: str, said: str
) -> None:
    site.kind, site.pages["/a"] = kind, body
    assert said in await read_page(f"{site.url}/a", context)


async def test_a_long_page_comes_in_parts_from_memory(site: Site, context: ToolExecutionContext) -> None:
    site.pages["/a"] = "".join(f"<p>Paragraph {number} of a story that goes on.</p>" for number in range(600))
    first = await read_page(f"{site.url}/a", context)
    assert "This is part 1 of 3." in first
    last = await read_page(f"{site.url}/a", context, part=3)
    assert "Paragraph 599 of" in last
    with pytest.raises(ToolRetry, match="has 3 parts"):
        await read_page(f"{site.url}/a", context, part=4)
    assert site.asked == ["/a"]


def test_parts_are_whole_and_end_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(5000))
    parts = parts_of(text)
    assert " ".join(parts) == text
    assert all(len(part) <= PART for part in parts)
    assert len(parts_of("x" * (PART * 2 + 1))) == 3


async def test_a_page_is_kept_for_its_person_and_for_minutes(site: Site, context: ToolExecutionContext) -> None:
    site.pages["/a"] = ARTICLE
    clock = context.clock
    assert isinstance(clock, StandingClock)
    await read_page(f"{site.url}/a", context)
    await read_page(f"{site.url}/a", context)
    await read_page(f"{site.url}/a", replace(context, tenant_id="another"))
    assert len(site.asked) == 2
    clock.at += KEPT_FOR
    await read_page(f"{site.url}/a", context)
    assert len(site.asked) == 3


def test_the_memory_for_pages_is_bounded_for_one_and_for_all() -> None:
    cache, now = PageCache(), StandingClock().now()
    for number in range(MAX_PAGES_EACH + 3):
        cache.put("ada", f"u{number}", Page("u", "x"), now)
    assert [cache.get("ada", f"u{number}", now) is None for number in (0, 2, 3)] == [True, True, False]
    big = Page("u", "x" * (MAX_CHARS // 3))
    for name in ("a", "b", "c", "d"):
        cache.put(name, "u", big, now)
    assert cache.get("ada", f"u{MAX_PAGES_EACH + 2}", now) is None
    assert cache.get("d", "u", now) is big
    assert cache.get("d", "u", now + timedelta(days=-1)) is None


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ('<script src="app.js"></script><div id="root"></div>', "nothing without JavaScript"),
        ('<title>Sign in</title><form><input type="password"></form>', "asks for a login"),
        (web.Response(status=401), "requires a login, or does not admit programs"),
        (web.Response(status=503, headers={"cf-mitigated": "challenge"}), "does not admit programs"),
        (web.Response(status=500), "answered with the status 500"),
        (web.Response(body=b"\xff\xd8", content_type="image/jpeg"), "That page cannot be read: it is image/jpeg"),
        ("<html></html>", "There is no text"),
    ],
)
async def test_what_cannot_be_read_is_said_in_one_sentence(
    site: Site, context: ToolExecutionContext, page: str | web.Response, why: str
) -> None:
    site.pages["/a"] = page
    with pytest.raises(ToolFailed, match=why):
        await read_page(f"{site.url}/a", context)


async def test_the_inner_network_is_not_read(context: ToolExecutionContext, site: Site) -> None:
    site.pages["/a"] = web.Response(status=302, headers={"Location": "http://169.254.169.254/latest/meta-data/"})
    for address in ("http://127.0.0.1:1/", "http://169.254.169.254/", f"{site.url}/a"):
        with pytest.raises(ToolFailed, match=r"public internet|usual ports"):
            await read_page(address, context)


async def test_a_page_behind_a_login_says_so_beside_its_text(site: Site, context: ToolExecutionContext) -> None:
    site.pages["/a"] = '<p>The first words of an article.</p><form><input type="password"></form>'
    said = await read_page(f"{site.url}/a", context)
    assert "It asks for a login, so this may not be all of it." in said
    assert "The first words" in said


async def test_prices_are_found_for_watches(site: Site, context: ToolExecutionContext) -> None:
    site.pages["/a"] = '<meta property="product:price:amount" content="1299.50"><p>Now 1.299,50 €, before $1,400</p>'
    said = await read_page(f"{site.url}/a", context)
    assert (said.data["price"], said.data["prices"]) == (
        1299.5,
        [{"price": 1299.5, "currency": "EUR"}, {"price": 1400, "currency": "USD"}],
    )
