"""`doctor` says whether people can connect accounts, and asks a real OpenID server whether it knows us."""

from pathlib import Path

import pytest

from abilities.accounts.probes import check_services
from core.messaging.channels import Check
from onevalet.settings import load_settings
from operations.doctor.types import Installation
from tests.servers.nanoidp import CLIENT, SECRET, Nanoidp

pytestmark = pytest.mark.xdist_group("nanoidp")

URL = "https://valet.example.org"


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


async def checks(monkeypatch: pytest.MonkeyPatch, server: Nanoidp, **changed: str) -> list[Check]:
    """Return what doctor says with these settings of a server."""
    settings = {"ISSUER": server.url, "CLIENT_ID": CLIENT, "CLIENT_SECRET": SECRET, "IMAP": "imaps://mail.example.org"}
    for key, value in (settings | changed).items():
        monkeypatch.setenv(f"ONEVALET_OIDC_WORK_{key}", value)
    return await check_services(Installation(load_settings(public_url=URL)))


async def test_a_server_that_knows_us_is_ok(monkeypatch: pytest.MonkeyPatch, nanoidp: Nanoidp) -> None:
    assert await checks(monkeypatch, nanoidp, SCOPES="offline_access", MAIL_SCOPE="mail") == [
        Check("accounts", True, f"email, caldav, work; redirect URI {URL}/connect/callback"),
        Check("accounts: work", True, f"{nanoidp.url} answers"),
    ]


@pytest.mark.parametrize(
    ("changed", "detail", "fix"),
    [
        ({"CLIENT_SECRET": "another"}, "does not know this client", "correct ONEVALET_OIDC_WORK_CLIENT_ID and"),
        ({"MAIL_SCOPE": "letters"}, "it knows no scope letters", "correct ONEVALET_OIDC_WORK_SCOPES"),
        ({"ISSUER": "http://127.0.0.1:9"}, "cannot be reached", "correct ONEVALET_OIDC_WORK_ISSUER"),
        ({"ISSUER": "{}/"}, "names itself otherwise", "set ONEVALET_OIDC_WORK_ISSUER to exactly http://127.0.0.1:"),
        ({"ISSUER": "{}/elsewhere"}, "does not describe itself", "correct ONEVALET_OIDC_WORK_ISSUER"),
    ],
    ids=["secret", "scope", "away", "slash", "path"],
)
async def test_what_is_wrong_is_named_with_its_setting(
    monkeypatch: pytest.MonkeyPatch, nanoidp: Nanoidp, changed: dict[str, str], detail: str, fix: str
) -> None:
    settings = {key: value.format(nanoidp.url) for key, value in changed.items()}
    _, check = await checks(monkeypatch, nanoidp, **settings)
    assert (check.ok, check.what) == (False, "accounts: work")
    assert detail in check.detail
    assert check.fix.startswith(fix)
    assert SECRET not in check.detail + check.fix


async def test_without_a_safe_public_url_it_says_so() -> None:
    assert await check_services(Installation(load_settings(public_url=""))) == [
        Check("accounts", True, "people cannot connect any", "set PUBLIC_URL: the pages stand there")
    ]
    [check] = await check_services(Installation(load_settings(public_url="http://valet.example.org")))
    assert (check.ok, "https://" in check.fix) == (False, True)
