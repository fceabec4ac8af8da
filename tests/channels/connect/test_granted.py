"""An account of an OpenID server, from the link to the stored tokens."""

from urllib.parse import parse_qs, urlsplit

from core.credentials.types import Ability
from tests.channels.connect.harness import Browser, Pages
from tests.servers.nanoidp import Nanoidp


async def test_a_link_leads_to_a_connected_account(pages: Pages, nanoidp: Nanoidp, phone: Browser) -> None:
    link = await pages.link(account="job")
    shown = await phone.get(link)
    assert phone.status == 200
    assert "Connect Work" in shown
    away = await phone.submit(link, mail="on")
    assert phone.status == 303, phone.page
    asked = {name: values[0] for name, values in parse_qs(urlsplit(away).query).items()}
    assert away.startswith(f"{nanoidp.url}/authorize?")
    assert asked["redirect_uri"] == f"{pages.url}/connect/callback"
    assert (asked["code_challenge_method"], asked["response_type"]) == ("S256", "code")
    back = await nanoidp.log_in(away)
    done = await phone.get(back)
    assert phone.status == 200, done
    assert "ann@idp.example" in done
    (account,) = await pages.connecting.accounts.list("ann")
    assert (account.service, account.name, account.address) == ("work", "job", "ann@idp.example")
    opened = await pages.connecting.accounts.open("ann", "calendar.read")
    assert (opened.bearer, opened.login) == (True, "ann@idp.example")
    assert opened.servers["caldav"] == "https://dav.example.org/ann%40idp.example/"
    assert Ability.MAIL_READ in account.abilities
    kept = await pages.store.get("ann", "work", "job")
    assert kept is not None
    assert kept["refresh_token"]
