"""Runs every case over every channel and checks all that is logged."""

from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from core.turns.orchestrator import Orchestrator
from providers.models.litellm_client import LiteLLMClient
from tests.approvals.signed_posts import SignedPosts
from tests.contract.approving import Approving
from tests.contract.canaries import PEOPLE, WEBHOOK_SECRET, LogWatch, leaks
from tests.contract.channel_harnesses import EVERYWHERE, HARNESSES
from tests.contract.delivery_harness import DeliveryHarness, open_delivery
from tests.contract.email_harness import MailWorld, open_mail_world
from tests.contract.harness import PUBLIC_URL, WORLD, ChannelHarness, open_harness
from tests.scripted_model import ScriptedModel, echo
from tests.servers.dovecot import Dovecot


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a case over every channel that is not exempt from it."""
    if "channel" not in metafunc.fixturenames:
        return
    reasons = {name for mark in metafunc.definition.iter_markers("exempt") for name in mark.kwargs}
    names = [] if metafunc.definition.get_closest_marker("only_by_mail") else [*EVERYWHERE]
    if not names or metafunc.definition.get_closest_marker("also_by_mail"):
        names.append("email")
    metafunc.parametrize("channel", [name for name in names if name not in reasons])


@pytest.fixture
def mail_servers(request: pytest.FixtureRequest) -> tuple[Dovecot, str] | None:
    """Return the servers that a case over email needs; they start outside of any event loop."""
    parameters = getattr(getattr(request.node, "callspec", None), "params", {})
    if parameters.get("channel") != "email":
        return None
    return request.getfixturevalue("dovecot"), request.getfixturevalue("database_url")


@pytest.fixture(autouse=True)
async def mail_world(
    mail_servers: tuple[Dovecot, str] | None, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MailWorld | None]:
    """Serve mail to the cases that run over email."""
    if mail_servers is None:
        yield None
        return
    async with open_mail_world(*mail_servers, monkeypatch) as world:
        yield world


@pytest.fixture(autouse=True)
def log_watch(capfd: pytest.CaptureFixture[str]) -> Iterator[LogWatch]:
    """Fail a case that logs or prints a secret, a number or a text."""
    watch = LogWatch()
    watch.begin()
    yield watch
    logged = watch.end()
    printed = capfd.readouterr()
    assert leaks(logged + printed.out + printed.err) == []


@pytest.fixture
async def harness(channel: str) -> AsyncIterator[ChannelHarness]:
    """Yield the channel connected to its provider, with an inbox in memory."""
    async with open_harness(HARNESSES[channel]) as opened:
        yield opened


@pytest.fixture
async def delivery(channel: str, database_url: str) -> AsyncIterator[DeliveryHarness]:
    """Yield the channel connected to its provider, with the real inbox and outbox."""
    async with open_delivery(HARNESSES[channel], database_url) as opened:
        yield opened


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedModel]:
    """Serve a model that repeats what it is told."""
    async with ScriptedModel(echo) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-zqcanary-model-key")
        yield server


@pytest.fixture
async def orchestrator(model: ScriptedModel) -> AsyncIterator[Orchestrator]:
    """Yield the real orchestrator before the scripted model."""
    client = LiteLLMClient("openai/scripted")
    await client.warm_up()
    yield Orchestrator(client, "You are a valet.")
    await client.close()


@pytest.fixture
async def posts(system: Approving) -> AsyncIterator[SignedPosts]:
    """Yield hands that post to the gateway of the module's system."""
    async with aiohttp.ClientSession() as http:
        harness = system.delivery.channel
        channels = {person.key: harness.address(person.key).peer for person in PEOPLE}
        yield SignedPosts(WORLD, [harness.gateway], http, channels, WEBHOOK_SECRET, PUBLIC_URL)
