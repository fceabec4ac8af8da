"""Settings of services that people connect: what is wrong is said in one sentence, at start."""

from pathlib import Path

import pytest

from abilities.accounts.opening import build_services, named_hosts
from core.credentials.types import Ability
from core.errors import ConfigError
from onevalet.settings import load_settings
from onevalet.wiring.http import guarded_client

WORK = {
    "ISSUER": "https://id.example.org/realms/one/",
    "CLIENT_ID": "valet",
    "IMAP": "imaps://mail.example.org:993",
    "CALDAV": "https://dav.example.org/{address}/",
}


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def given(monkeypatch: pytest.MonkeyPatch, **server: str) -> None:
    """Set a server's settings in the environment."""
    for key, value in server.items():
        monkeypatch.setenv(f"ONEVALET_OIDC_WORK_{key}", value)


def test_any_server_is_a_service_by_its_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, **WORK, LABEL="Example Inc.", SCOPES="offline_access", MAIL_SCOPE="mail", CALENDAR_SCOPE="cal")
    monkeypatch.setenv("ONEVALET_GOOGLE_CLIENT_ID", "id")
    monkeypatch.setenv("ONEVALET_GOOGLE_CLIENT_SECRET", "secret")
    services = build_services(load_settings())
    assert [service.name for service in services] == ["google", "work", "email", "caldav"]
    work = services.get("work")
    assert work is not None
    assert work.client is not None
    assert (work.label, work.client.issuer) == ("Example Inc.", "https://id.example.org/realms/one/")  # to the letter
    assert (work.client.secret, work.client.always) == ("", ("openid", "email", "offline_access"))
    assert work.offers == {
        Ability.MAIL_READ,
        Ability.MAIL_CHANGE,
        Ability.CALENDAR_READ,
        Ability.CALENDAR_CHANGE,
    }
    assert work.scopes_for(frozenset({Ability.CALENDAR_READ})) == ("cal",)


def test_a_service_of_mcp_servers_and_plugins_has_no_servers_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, **{key: WORK[key] for key in ("ISSUER", "CLIENT_ID")}, SCOPES="offline_access issues")
    work = build_services(load_settings()).get("work")
    assert work is not None
    assert work.client is not None
    assert (work.offers, work.client.always) == (frozenset(), ("openid", "email", "offline_access", "issues"))


async def test_the_hosts_of_a_server_may_lie_in_the_operators_network(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, **WORK | {"CALDAV": "https://10.1.2.3/dav/"})
    http = guarded_client(settings := load_settings(), named_hosts(settings))
    assert "10.1.2.3" in str(vars(http))
    await http.close()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"ISSUER": ""}, "ONEVALET_OIDC_WORK_ISSUER and ONEVALET_OIDC_WORK_CLIENT_ID belong together"),
        ({"CLIENT_ID": ""}, "ONEVALET_OIDC_WORK_ISSUER and ONEVALET_OIDC_WORK_CLIENT_ID belong together"),
        ({"ISSUER": "id.example.org"}, "ONEVALET_OIDC_WORK_ISSUER cannot be used: it must start with https://"),
        ({"ISSUER": "http://id.example.org"}, "ONEVALET_OIDC_WORK_ISSUER cannot be used: it must start with https://,"),
        ({"ISSUER": "https://id.example.org/?a=b"}, "ONEVALET_OIDC_WORK_ISSUER cannot be used: an issuer has neither"),
        ({"IMAP": "mail.example.org"}, "ONEVALET_OIDC_WORK_IMAP cannot be used: it must start with imaps://"),
        ({"CALDAV": "https://"}, "ONEVALET_OIDC_WORK_CALDAV cannot be used: it is not a complete URL"),
        ({"IMAP": "imaps://mail.example.org:port"}, "ONEVALET_OIDC_WORK_IMAP cannot be used: it is not a complete URL"),
        ({"MAIL_SCOPE": "mail"}, "ONEVALET_OIDC_WORK_CALENDAR_SCOPE must be set as well as ONEVALET_OIDC_WORK_MAIL_"),
        (
            {"MAIL_SCOPE": "m", "CALENDAR_SCOPE": "c", "CONTACTS_SCOPE": "x"},
            "ONEVALET_OIDC_WORK_CONTACTS_SCOPE is of no use without ONEVALET_OIDC_WORK_CARDDAV",
        ),
        ({"ISSUEER": "https://x.example"}, "ONEVALET_OIDC_WORK_ISSUEER is no setting: ONEVALET_OIDC_ is followed by"),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], problem: str
) -> None:
    given(monkeypatch, **WORK | changed)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


def test_the_name_of_another_service_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WORK.items():
        monkeypatch.setenv(f"ONEVALET_OIDC_GOOGLE_{key}", value)
    with pytest.raises(ConfigError, match="google is another service's name"):
        load_settings()


@pytest.mark.parametrize("name", ["GOOGLE", "MICROSOFT"])
def test_half_a_client_is_named_with_its_other_half(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"ONEVALET_{name}_CLIENT_ID", "id")
    with pytest.raises(ConfigError, match=f"ONEVALET_{name}_CLIENT_ID and ONEVALET_{name}_CLIENT_SECRET belong"):
        load_settings()
