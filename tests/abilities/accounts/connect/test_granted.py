"""An account of an OpenID server, from the link to the stored tokens."""

from urllib.parse import parse_qs, urlsplit

import pytest

from abilities.accounts import oauth
from abilities.accounts.kinds import CALENDAR, MAIL
from abilities.accounts.opening import build_services
from abilities.accounts.services import Services
from core.credentials.store import CredentialStore
from core.credentials.types import Ability
from core.db.database import Database
from core.http.peer import Allowance, Pauses
from onevalet.settings import Settings
from tests.abilities.accounts.connect.harness import Browser, Pages, scoped, served
from tests.servers.nanoidp import CLIENT, SECRET, Nanoidp

pytestmark = pytest.mark.xdist_group("nanoidp")

READ, MAIL_READ = Ability.CALENDAR_READ, Ability.MAIL_READ


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


async def test_more_is_asked_for_when_it_is_needed_and_nothing_is_lost(
    database: Database, store: CredentialStore, nanoidp: Nanoidp, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")

    async def connect(pages: Pages, ability: Ability, scopes: str, user: str = "ann") -> str:
        """Connect for what a tool needs; return the page that asked."""
        link = await pages.link(service="google", abilities=[ability])
        shown = await phone.get(link)
        away = await phone.submit(link)
        assert parse_qs(urlsplit(away).query)["scope"] == [f"openid email offline_access {scopes}"]
        await phone.get(await nanoidp.log_in(away, user))
        assert phone.status == 200, phone.page
        return shown

    async with served(database, store, Services.of([scoped(nanoidp)]), nanoidp.host) as pages:
        accounts = pages.connecting.accounts
        shown = await connect(pages, READ, "calendar.readonly")
        assert "I need more" not in shown
        assert "create and change events" not in shown
        assert [account.abilities for account in await accounts.list("ann")] == [{READ}]
        shown = await connect(pages, MAIL_READ, "calendar.readonly mail")
        assert shown.index("see your calendars") < shown.index("I need more") < shown.index("read and search your mail")
        assert "send mail in your name" in shown  # its scope allows that too
        assert [account.abilities for account in await accounts.list("ann")] == [{READ, *MAIL}]
        await connect(pages, Ability.CALENDAR_CHANGE, "calendar mail", "bob")  # another address: another account
        assert {account.address: account.abilities for account in await accounts.list("ann")} == {
            "ann@idp.example": {READ, *MAIL},
            "bob@idp.example": {*CALENDAR, *MAIL},
        }


async def test_a_server_of_the_settings_alone_is_connected(
    database: Database, store: CredentialStore, nanoidp: Nanoidp, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    server = {"ISSUER": nanoidp.url, "CLIENT_ID": CLIENT, "CLIENT_SECRET": SECRET, "SCOPES": "offline_access"}
    server |= {"LABEL": "The Office", "IMAP": "imaps://mail.example.org", "MAIL_SCOPE": "mail"}
    for key, value in server.items():
        monkeypatch.setenv(f"ONEVALET_OIDC_OFFICE_{key}", value)
    services = build_services(Settings(_env_file=None))
    async with served(database, store, services, nanoidp.host) as pages:
        link = await pages.link(service="office")
        assert "Connect The Office" in await phone.get(link)
        await phone.get(await nanoidp.log_in(await phone.submit(link, mail="on")))
        assert phone.status == 200, phone.page
        opened = await pages.connecting.accounts.open("ann", "mail.read")
        assert opened.servers == {"imap": "imaps://mail.example.org"}
        kept = await store.get("ann", "office", "ann@idp.example")
        assert kept is not None
        assert "mail" in kept["scopes"]  # type: ignore[operator]


@pytest.mark.parametrize("allowance", [Allowance(10**7, 3, 60.0), Allowance(3_000, 20, 60.0)], ids=["answers", "bytes"])
async def test_a_server_that_sends_too_much_in_one_sign_in_is_told_in_a_sentence(
    pages: Pages, nanoidp: Nanoidp, phone: Browser, monkeypatch: pytest.MonkeyPatch, allowance: Allowance
) -> None:
    monkeypatch.setattr(oauth, "_pauses", Pauses("test"))
    link = await pages.link(account="job")
    await phone.get(link)
    away = await phone.submit(link, mail="on")
    back = await nanoidp.log_in(away)
    monkeypatch.setattr(oauth, "SIGN_IN", allowance)
    pages.connecting.servers._known.clear()  # as after an hour
    told = await phone.get(back)
    assert "sent too much data, so I leave it alone for now" in told
    assert not await pages.connecting.accounts.list("ann")
