"""What a worker's tools are handed: the credentials of the turn's person, and the guarded way out."""

import asyncio
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.errors import AccountMissing, ConfigError, ToolFailed
from core.journal.in_memory import MemoryJournal
from core.people.tenant import TurnTenant
from core.tools.storage import Storage
from core.turns.types import FromPerson, Place, TurnRequest, TurnWork
from onevalet.settings import Settings
from onevalet.wiring.models import build_client
from onevalet.wiring.orchestrator import build_orchestrator
from tests.core.credentials.harness import add_people, new_key, store_with


@pytest.fixture
async def store(database_url: str) -> CredentialStore:
    admin = await asyncpg.connect(database_url)
    await add_people(admin, "ann", "bob")
    await admin.close()
    return store_with(Database(database_url, size=1), new_key())


async def test_promise_11_a_tool_gets_its_persons_credentials_and_guarded_client(
    store: CredentialStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hidden = "agents:\n  FlightSearchAgent:\n    expose_as_tool: false\n"
    await asyncio.to_thread((tmp_path / "agent_registry.yaml").write_text, hidden)
    for tenant in ("ann", "bob"):
        await store.save(tenant, "google", {"of": tenant})
    key = SecretStr("duffel_test_key")
    settings = Settings(
        _env_file=None,
        onevalet_model="",
        onevalet_fetch_hosts=(),
        onevalet_weather_url="http://127.0.0.1:9",
        onevalet_flights_key=key,
    )
    assert key.get_secret_value() in settings.secrets()
    database = store._database
    async with build_orchestrator(
        settings, Clock(), Storage(database), store, accounts=Accounts(store, Services.of())
    ) as orchestrator:
        request = TurnRequest(TurnWork("t", MemoryJournal()), TurnTenant("ann"), Place("sms"), FromPerson())
        context = orchestrator.tool_context(request, "send_email", "key")
        assert await context.credentials.get(context.tenant_id, "google") == {"of": "ann"}
        assert await context.person.needs_timezone()
        assert "Lisbon" in await context.person.prefer("timezone", "Lisbon")
        with pytest.raises(ToolFailed, match="keeps no files"):
            await context.files.list()
        with pytest.raises(AccountMissing):
            await context.accounts.open("mail.read")
        with pytest.raises(ToolFailed, match="Only this person's own"):
            await context.credentials.get("bob", "google")
        with pytest.raises(ToolFailed, match="not on the public internet"):
            await context.http.request("GET", "http://169.254.169.254/latest/meta-data/")
        with pytest.raises(ToolFailed, match="cannot be reached"):  # the operator named it, so it may be asked
            await context.http.request("GET", "http://127.0.0.1:9/v1/search")
        named = {"weather_url": "http://127.0.0.1:9", "flights_key": "duffel_test_key"}
        named |= dict.fromkeys(("search", "search_key", "search_url", "speech_model"), "")
        assert context.settings == named
        offered = [agent.name for agent in orchestrator.agents.offered()]
        assert "SendEmailAgent" in offered
        assert "FlightSearchAgent" not in offered
    await database.close()


async def test_a_host_that_is_none_is_named_with_its_setting(store: CredentialStore) -> None:
    settings = Settings(_env_file=None, onevalet_model="", onevalet_fetch_hosts=("http://intranet/",))
    with pytest.raises(ConfigError, match=r"^ONEVALET_FETCH_HOSTS cannot be used: 'http://intranet/' is no host"):
        async with build_orchestrator(settings, Clock(), Storage(store._database), store):
            pass


def test_a_model_that_fails_is_asked_to_think_less_where_set() -> None:
    efforts = {
        effort: [layer.reasoning_effort for layer in build_client(Settings(onevalet_reasoning_effort=effort)).layers]
        for effort in ("high", "minimal", "")
    }
    assert efforts == {"high": ["high", "low"], "minimal": ["minimal"], "": [""]}
