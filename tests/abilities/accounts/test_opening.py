"""Which services people can connect, and for what: what the abilities that are there do in accounts, and no more."""

from collections.abc import Callable

import pytest
from pydantic import SecretStr

from abilities.accounts.accounts import Accounts
from abilities.accounts.links import ConnectLinkStore
from abilities.accounts.offers import ConnectOffers
from abilities.accounts.opening import build_services
from abilities.accounts.services import EMAIL, Services
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.errors import ConfigError, ToolFailed
from onevalet.ability import Ability
from onevalet.ability_registry import all_abilities
from onevalet.settings import Settings
from tests.core.credentials.harness import KEYS

type Without = Callable[..., None]

_SETTINGS = {
    "onevalet_google_client_id": "ours",
    "onevalet_google_client_secret": SecretStr("secret"),
    "onevalet_microsoft_client_id": "ours",
    "onevalet_microsoft_client_secret": SecretStr("secret"),
    "openid": {
        "work": {
            "issuer": "https://id.example.org",
            "client_id": "ours",
            "imap": "imaps://mail.example.org",
            "caldav": "https://dav.example.org",
            "mail_scope": "letters",
            "calendar_scope": "days",
        }
    },
}
_MAIL = {"https://mail.google.com/"}
_CALENDAR = {"https://www.googleapis.com/auth/calendar"}
_CONTACTS = {"https://www.googleapis.com/auth/carddav"}


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Without:
    """Return what takes abilities away."""

    def take_away(*names: str) -> None:
        others = tuple(ability for ability in all_abilities() if ability.name not in names)
        monkeypatch.setattr("abilities.accounts.opening.all_abilities", lambda: others)

    return take_away


def services() -> Services:
    """Return the services of an installation that has clients at each server."""
    return build_services(Settings(_env_file=None, **_SETTINGS))  # type: ignore[arg-type]


def asked(services: Services) -> dict[str, set[str]]:
    """Return the scopes that each service is asked for where a person allows all that it offers."""
    return {service.name: set(service.scopes_for(service.offers)) for service in services if service.client}


def test_all_that_abilities_do_in_accounts_is_asked_for() -> None:
    assert asked(services()) == {
        "google": _MAIL | _CALENDAR | _CONTACTS,
        "microsoft": {
            "https://outlook.office.com/IMAP.AccessAsUser.All",
            "https://outlook.office.com/SMTP.Send",
        },
        "work": {"letters", "days"},
    }


def test_without_mail_no_service_is_asked_for_mail(without: Without) -> None:
    without("mail")
    assert asked(services()) == {"google": _CALENDAR | _CONTACTS, "work": {"days"}}
    assert [service.name for service in services()] == ["google", "work", "caldav"]


def test_without_calendars_no_service_is_asked_for_them(without: Without) -> None:
    without("calendar")
    assert asked(services())["google"] == _MAIL | _CONTACTS
    assert asked(services())["work"] == {"letters"}
    caldav = services().get("caldav")
    assert caldav is not None
    assert {ability.value for ability in caldav.offers} == {"contacts.read", "contacts.change"}


def test_a_grant_of_before_allows_nothing_that_no_ability_does(without: Without) -> None:
    without("mail")
    google = services().get("google")
    assert google is not None
    assert {ability.value for ability in google.allowed_by([*_MAIL, *_CALENDAR])} == {
        "calendar.read",
        "calendar.change",
    }


def test_a_service_whose_password_no_ability_can_try_is_not_offered(without: Without) -> None:
    without("dav")
    assert [service.name for service in services() if not service.client] == ["email"]


def test_a_service_of_which_nothing_is_wanted_is_not_offered(without: Without) -> None:
    without("mail", "calendar", "contacts")
    assert [service.name for service in services()] == ["work"]  # tools of its own may use it


def test_access_that_no_account_knows_is_named_with_its_ability(monkeypatch: pytest.MonkeyPatch) -> None:
    strange = Ability(name="letters", access=("mail.reed",))
    monkeypatch.setattr("abilities.accounts.opening.all_abilities", lambda: (strange,))
    with pytest.raises(ConfigError, match=r"^The ability letters has access='mail\.reed': write one of mail\.read, "):
        services()


async def test_nobody_is_told_to_connect_where_there_is_no_service(store: CredentialStore) -> None:
    none = Services.of((), ())
    links = ConnectLinkStore(store._database, "https://valet.example.org", KEYS)
    offers = ConnectOffers(links, none, Clock())
    assert Accounts(store, none, offers=offers).asker is None
    assert offers.overview([]) == "Nothing is connected."
    with pytest.raises(ToolFailed, match="cannot be connected here"):
        await offers.offer("ann", None, EMAIL.name)
