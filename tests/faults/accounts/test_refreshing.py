"""Promise 7: whole workers, each a process of its own, refresh a token of nanoidp ahead of its end, and only once."""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
import pytest

from core.credentials.secret_keys import SecretKeys, read_secret_key
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.json_types import JsonObject
from tests.eventually import eventually
from tests.faults.accounts.house import PLUGINS
from tests.faults.accounts.points import Kind
from tests.faults.database import execute, read_text
from tests.faults.harness import SECRET_KEY, Harness, make_people, open_harness
from tests.faults.sends import sends
from tests.forker import Forker
from tests.patience import PATIENCE
from tests.servers.dovecot import Dovecot, running_dovecot
from tests.servers.nanoidp import CLIENT, SECRET, Nanoidp, running_nanoidp

BACK = "http://127.0.0.1/connect/callback"
_TENANT = "select tenant_id from identities where user_key = $1"
_DUE = "update credentials set attend_at = clock_timestamp()"


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
@pytest.mark.needs("dovecot")
async def test_promise_7_whole_workers_refresh_one_token_once(tmp_path: Path, forker: Forker) -> None:
    with running_nanoidp(BACK) as server, running_dovecot(f"{server.url}/userinfo") as dovecot:
        async with open_harness(tmp_path, forker, make_people(1), webs=1, workers=2) as harness:
            settings = _settings(server, dovecot)
            for worker in harness.workers:
                await worker.end()
            await _asks(harness)
            first = await _grant(server)
            database = Database(harness.url)
            store = CredentialStore(database, SecretKeys([read_secret_key(SECRET_KEY)]))
            tenant = await _tenant(harness)
            # A text waits, and the sweep of either worker is due: they need the token at the same time.
            await _keep(harness, store, tenant, first, minutes=-1)
            for worker in harness.workers:
                worker.start(**settings)
            second = await _refreshed(store, tenant, first)
            await harness.until_quiet(PATIENCE)
            assert _answered(harness)
            assert server.refreshes() == (1, 0)
            # Then nobody writes at all: near its end, a sweep of either worker finds it by itself.
            await _keep(harness, store, tenant, second, minutes=2)
            await _refreshed(store, tenant, second)
            assert server.refreshes() == (2, 0)
            await database.close()


async def _asks(harness: Harness) -> None:
    """Let the person write a text that needs their mailbox."""
    [person] = harness.people
    token = harness.token(person.key)
    await harness.act(person.key, "twilio", "say", text=f"{token} {Kind.LENIENT}", wait=True)
    assert await harness.until_kept({token}, PATIENCE) == set()


def _settings(server: Nanoidp, dovecot: Dovecot) -> Mapping[str, str]:
    imap = f"127.0.0.1:{dovecot.imap}"
    client = {"ISSUER": server.url, "CLIENT_ID": CLIENT, "CLIENT_SECRET": SECRET, "IMAP": f"imap://{imap}"}
    return {f"ONEVALET_OIDC_WORK_{name}": value for name, value in client.items()} | {
        "OAUTHLIB_INSECURE_TRANSPORT": "1",  # nanoidp speaks plain HTTP
        "ONEVALET_PLUGINS": PLUGINS,
        "ONEVALET_FETCH_HOSTS": f"{imap},{server.host}",
    }


async def _grant(server: Nanoidp) -> str:
    """Return a refresh token, as a person's browser and our callback get one."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    asked = {"response_type": "code", "client_id": CLIENT, "redirect_uri": BACK, "state": "s"}
    asked |= {"scope": "openid email offline_access", "code_challenge": challenge, "code_challenge_method": "S256"}
    led_to = await server.log_in(f"{server.url}/authorize?{urlencode(asked)}")
    [code] = parse_qs(urlsplit(led_to).query)["code"]
    given = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "code_verifier": verifier}
    headers = {"Authorization": aiohttp.encode_basic_auth(CLIENT, SECRET)}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{server.url}/token", data=given) as answer,
    ):
        return str((await answer.json())["refresh_token"])


async def _tenant(harness: Harness) -> str:
    return await read_text(harness, _TENANT, harness.people[0].phone)


async def _keep(harness: Harness, store: CredentialStore, tenant: str, refresh: str, *, minutes: float) -> None:
    """Store the account with a token that ends in so many minutes, and let it be due."""
    until = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
    account: JsonObject = {"access_token": "over", "refresh_token": refresh, "expires_at": until, "scopes": []}
    await store.save(tenant, "work", account | {"address": "ann@idp.example"})
    await execute(harness, _DUE)


async def _refreshed(store: CredentialStore, tenant: str, before: str) -> str:
    """Return the refresh token that a worker stores in place of the one before."""

    async def another() -> str:
        stored = await _stored(store, tenant)
        return "" if stored == before else stored

    return await eventually(another, "a token in place of the one before")


async def _stored(store: CredentialStore, tenant: str) -> str:
    account = await store.get(tenant, "work")
    assert account is not None
    return str(account["refresh_token"])


def _answered(harness: Harness) -> bool:
    return any("acted" in send.text for send in sends(harness.folder / "providers.jsonl") if send.accepted)
