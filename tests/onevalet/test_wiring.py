"""What a worker's tools are handed: the credentials of the turn's person, and the guarded way out."""

import asyncpg
import pytest

from core.clock import Clock
from core.credentials import CredentialStore
from core.database import Database
from core.errors import ConfigError, ToolFailed
from core.journal import MemoryJournal
from core.storage import Storage
from core.turn_types import TurnRequest, TurnTenant
from onevalet.assistant import build_orchestrator
from onevalet.settings import Settings
from tests.core.credentials.house import add_people, new_key, store_with


@pytest.fixture
async def store(database_url: str) -> CredentialStore:
    eye = await asyncpg.connect(database_url)
    await add_people(eye, "ann", "bob")
    await eye.close()
    return store_with(Database(database_url, size=1), new_key())


@pytest.mark.timeout(90)
async def test_promise_11_a_tool_is_handed_its_persons_credentials_and_the_guarded_client(
    store: CredentialStore,
) -> None:
    for tenant in ("ann", "bob"):
        await store.save(tenant, "google", {"of": tenant})
    settings = Settings(_env_file=None, onevalet_model="", onevalet_fetch_hosts=())
    database = store._database
    async with build_orchestrator(settings, Clock(), Storage(database), store) as orchestrator:
        request = TurnRequest("t", TurnTenant("ann"), "sms", (), MemoryJournal())
        context = orchestrator.tool_context(request, "send_email", "key")
        assert await context.credentials.get(context.tenant_id, "google") == {"of": "ann"}
        with pytest.raises(ToolFailed, match="Only this person's own"):
            await context.credentials.get("bob", "google")
        with pytest.raises(ToolFailed, match="not on the public internet"):
            await context.http.request("GET", "http://169.254.169.254/latest/meta-data/")
    await database.close()


@pytest.mark.timeout(90)
async def test_a_host_that_is_none_is_named_with_its_setting(store: CredentialStore) -> None:
    settings = Settings(_env_file=None, onevalet_model="", onevalet_fetch_hosts=("http://intranet/",))
    with pytest.raises(ConfigError, match=r"^ONEVALET_FETCH_HOSTS cannot be used: 'http://intranet/' is no host"):
        async with build_orchestrator(settings, Clock(), Storage(store._database), store):
            pass
