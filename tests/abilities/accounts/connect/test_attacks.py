"""Whoever has a link, a state, a code or a form of somebody else's connects nothing by it."""

from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import asyncpg
import pytest

from tests.abilities.accounts.connect.harness import Browser, Pages
from tests.servers.nanoidp import Nanoidp

pytestmark = pytest.mark.xdist_group("nanoidp")

type Admin = asyncpg.Connection[asyncpg.Record]


async def away_of(phone: Browser, link: str) -> str:
    """Press the page's button; return the address of the service's page."""
    await phone.get(link)
    return await phone.submit(link, mail="on")


def changed(url: str, **values: str) -> str:
    """Return an address with other parameters."""
    parts = urlsplit(url)
    query = {name: found[0] for name, found in parse_qs(parts.query).items()} | values
    return urlunsplit(parts._replace(query=urlencode(query)))


async def nothing_connected(pages: Pages, *tenants: str) -> bool:
    return not any([await pages.connecting.accounts.list(tenant) for tenant in tenants or ("ann", "bob")])


async def test_a_preview_uses_no_link_up(pages: Pages, nanoidp: Nanoidp, phone: Browser, thief: Browser) -> None:
    link = await pages.link()
    for _ in range(3):
        assert "Connect Work" in await thief.get(link)  # a chat's own servers look at links
    await phone.get(await nanoidp.log_in(await away_of(phone, link)))
    assert phone.status == 200


async def test_a_forged_or_foreign_state_connects_nothing(pages: Pages, nanoidp: Nanoidp, phone: Browser) -> None:
    back = await nanoidp.log_in(await away_of(phone, await pages.link()))
    for state in ("forged", "", "x" * 5000):
        await phone.get(changed(back, state=state))
        assert phone.status in (400, 409)
    assert await nothing_connected(pages)
    await phone.get(back)
    assert phone.status == 200


async def test_a_replayed_answer_and_a_used_link_are_over(pages: Pages, nanoidp: Nanoidp, phone: Browser) -> None:
    link = await pages.link()
    back = await nanoidp.log_in(await away_of(phone, link))
    await phone.get(back)
    await phone.get(back)
    assert phone.status == 409
    assert "already" in await phone.get(link)
    assert phone.status == 404
    assert len(await pages.connecting.accounts.list("ann")) == 1


async def test_another_browser_neither_goes_on_nor_comes_back(
    pages: Pages, nanoidp: Nanoidp, phone: Browser, thief: Browser
) -> None:
    link = await pages.link()
    back = await nanoidp.log_in(await away_of(phone, link), "bob")
    await thief.get(back)  # with the state, but without the browser that began
    assert thief.status == 409
    await thief.get(link)
    assert "another browser" in await thief.submit(link, mail="on")
    assert thief.status == 409
    assert await nothing_connected(pages)


async def test_an_injected_code_does_not_open(pages: Pages, nanoidp: Nanoidp, phone: Browser, thief: Browser) -> None:
    stolen = await nanoidp.log_in(await away_of(thief, await pages.link("bob")), "bob")
    mine = await nanoidp.log_in(await away_of(phone, await pages.link("ann")))
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    await phone.get(changed(mine, code=code))  # PKCE: the code was made for another verifier
    assert phone.status == 409
    assert await nothing_connected(pages)


async def test_an_answer_of_another_issuer_is_refused(pages: Pages, nanoidp: Nanoidp, phone: Browser) -> None:
    back = await nanoidp.log_in(await away_of(phone, await pages.link()))
    assert "cannot be trusted" in await phone.get(changed(back, iss="https://evil.example"))
    assert phone.status == 409
    assert await nothing_connected(pages)


async def test_the_right_issuer_may_name_itself(pages: Pages, nanoidp: Nanoidp, phone: Browser) -> None:
    back = await nanoidp.log_in(await away_of(phone, await pages.link()))
    await phone.get(changed(back, iss=nanoidp.url))
    assert phone.status == 200


async def test_what_the_person_did_not_allow_can_be_tried_again(pages: Pages, nanoidp: Nanoidp, phone: Browser) -> None:
    link = await pages.link()
    away = await away_of(phone, link)
    state = parse_qs(urlsplit(away).query)["state"][0]
    refused = await phone.get(f"{pages.url}/connect/callback?{urlencode({'state': state, 'error': 'access_denied'})}")
    assert "was not allowed" in refused
    await phone.get(await nanoidp.log_in(await away_of(phone, link)))
    assert phone.status == 200


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
async def test_a_form_of_another_page_is_refused(pages: Pages, phone: Browser, headers: dict[str, str]) -> None:
    link = await pages.link()
    await phone.get(link)
    await phone.submit(link, headers=headers, mail="on")
    assert phone.status == 403


async def test_a_form_without_the_proof_of_its_browser_is_refused(pages: Pages, phone: Browser, thief: Browser) -> None:
    link = await pages.link()
    await phone.get(link)
    await phone.submit(link, proof="0" * 64, mail="on")
    assert phone.status == 403
    thief.page = phone.page  # the whole form, and no cookie
    await thief.submit(link, mail="on")
    assert thief.status == 403


async def test_a_link_leads_nowhere_but_to_its_service(pages: Pages, nanoidp: Nanoidp, phone: Browser) -> None:
    link = await pages.link()
    for extra in ("?next=https://evil.example", "?redirect_uri=https://evil.example"):
        await phone.get(link + extra)
        away = await phone.submit(link + extra, mail="on", redirect_uri="https://evil.example", next="https://evil")
        assert away.startswith(f"{nanoidp.url}/authorize?")
        assert parse_qs(urlsplit(away).query)["redirect_uri"] == [f"{pages.url}/connect/callback"]
    await phone.get(f"{pages.url}/connect/callback?state=a&state=b")
    assert phone.status == 400


async def test_an_old_link_is_over(pages: Pages, phone: Browser, admin: Admin) -> None:
    link = await pages.link()
    await admin.execute("update connect_links set expires_at = now() - interval '1 second'")
    assert "too old" in await phone.get(link)
    assert phone.status == 404
    for token in ("0" * 32, "x", "%2e%2e", "0" * 33):
        await phone.get(f"{pages.url}/connect/{token}")
        assert phone.status == 404


async def test_a_dead_link_says_what_to_write_in_the_language_of_its_reader(
    pages: Pages, nanoidp: Nanoidp, phone: Browser, admin: Admin
) -> None:
    used, unknown = await pages.link(), f"{pages.url}/connect/{'0' * 32}"
    back = await nanoidp.log_in(await away_of(phone, used))
    await phone.get(back)
    wanted = {"Accept-Language": "it, fr-CA;q=0.8, en;q=0.5, de;q=0"}
    write = {
        "en": "For a new one, write “connect” in the chat.",
        "de": "Für einen neuen schreib „connect“ in den Chat.",
        "fr": "Pour en obtenir un nouveau, écrivez « connect » dans le chat.",
    }
    for url in (used, unknown):
        assert write["en"] in await phone.get(url)
        assert '<html lang="en">' in phone.page
    phone.session.headers.update(wanted)
    for url in (used, unknown, await pages.link()):
        await phone.get(url)
        assert '<html lang="fr">' in phone.page
        assert (write["fr"] in phone.page) is (phone.status == 404)
    await admin.execute("update tenants set language = 'de'")
    assert write["de"] in await phone.get(used), "the person's own language, not the browser's"
    assert write["fr"] in await phone.get(unknown)
    assert "gehört zu keinem deiner Links" not in await phone.get(back), "whose answer that was is not known any more"
    assert "« connect »" in phone.page


async def test_every_page_names_its_person_and_escapes_what_they_are_called(
    pages: Pages, nanoidp: Nanoidp, phone: Browser, admin: Admin
) -> None:
    evil = "<img src=x onerror=alert(1)>\"'"
    await admin.execute("update tenants set name = $1 where tenant_id = 'ann'", evil)
    seen, link = [], ""
    for service in ("", "work", "email", "caldav"):
        link = await pages.link(service=service)
        seen.append(await phone.get(link))
        assert "connected for: &lt;img" in phone.page
    seen.append(await phone.submit(link, {"url": evil, "user": evil, "password": evil}))
    assert phone.status == 422
    assert 'value="&lt;img src=x onerror=alert(1)&gt;&#34;&#39;"' in phone.page
    link = await pages.link(account=evil)
    seen.append(await phone.get(await nanoidp.log_in(await away_of(phone, link))))
    assert "disconnect &lt;img" in phone.page
    assert [page for page in seen if "<img" in page] == []


async def test_no_page_runs_a_script_and_its_cookie_is_its_own(pages: Pages, phone: Browser) -> None:
    await phone.get(await pages.link())
    policy = phone.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'none'" in policy
    cookie = phone.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


async def test_a_person_gets_so_many_links_a_day(pages: Pages) -> None:
    links = pages.connecting.links
    made = [await links.make("ann", None, pages.connecting.clock.now()) for _ in range(22)]
    assert [url is not None for url in made] == [True] * 20 + [False] * 2
    assert await links.make("bob", None, pages.connecting.clock.now()) is not None


async def test_promise_11_neither_link_nor_state_nor_token_is_in_the_database(
    pages: Pages, nanoidp: Nanoidp, phone: Browser, admin: Admin
) -> None:
    link = await pages.link()
    away = await away_of(phone, link)
    rows = str([tuple(row) for row in await admin.fetch("select * from connect_links")])
    assert link.rpartition("/")[2] not in rows
    assert parse_qs(urlsplit(away).query)["state"][0] not in rows
    await phone.get(await nanoidp.log_in(away))
    kept = await pages.store.get("ann", "work", "ann@idp.example")
    assert kept is not None
    rows = str([tuple(row) for row in await admin.fetch("select * from credentials")])
    assert str(kept["refresh_token"]) not in rows
    assert "ann@idp.example" not in rows.replace("'ann@idp.example'", "", 1)


async def test_another_account_never_takes_the_place_of_a_known_one(
    pages: Pages, nanoidp: Nanoidp, phone: Browser
) -> None:
    await phone.get(await nanoidp.log_in(await away_of(phone, await pages.link(account="job"))))
    shown = await phone.get(await nanoidp.log_in(await away_of(phone, await pages.link(account="job")), "bob"))
    assert phone.status == 409
    assert "already the name of ann@idp.example" in shown
    (account,) = await pages.connecting.accounts.list("ann")
    assert account.address == "ann@idp.example"
