"""An MCP server that wants each person's own login, at a real OAuth server: connected, refreshed, renewed, ended."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from abilities.accounts.services import Services
from abilities.accounts.tools import disconnect_account
from abilities.mcp.connections import Connections
from abilities.mcp.tools import McpTools
from core.credentials.types import StoredAccount
from core.http.guarded_client import GuardedClient
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelRequest, Role
from core.tools.accepted import Accepted, AcceptedDefinitions
from tests.abilities.accounts.connect.harness import browser, served
from tests.abilities.accounts.contract.test_connecting import Person
from tests.abilities.accounts.home_service import home_of
from tests.clocks import StandingClock
from tests.contract.approving import open_approving
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import FakeModel, says, wants
from tests.core.credentials.harness import new_key, store_with
from tests.servers.mcp import ScriptedMcp
from tests.servers.nanoidp import CLIENT, SECRET, Nanoidp

pytestmark = [pytest.mark.xdist_group("nanoidp"), pytest.mark.slow]

STATE = {"name": "state", "description": "Tell the light's state.", "reads": True, "says": "It is off."}
ASKS = wants(("home__state", {}))
NEED = "For that I need your home account: connect it here: "


@dataclass
class Owner:
    """A person, the MCP server that asks nanoidp whose each token is, and what is stored of their account."""

    person: Person
    script: ScriptedMcp

    async def asks(self, *steps: object) -> list[str]:
        """Ask for the light as the person; return what they read then."""
        return await self.person.writes("Is the light on?", ASKS, *steps)  # type: ignore[arg-type]

    async def stored(self) -> list[StoredAccount]:
        """Return their stored accounts."""
        person = self.person
        tenant = await person.system.delivery.store.db.person()
        return list(await person.pages.connecting.accounts.credentials.stored(tenant))

    async def credentials(self) -> JsonObject:
        """Return what opens their one account."""
        [stored] = await self.stored()
        assert stored.credentials is not None
        return stored.credentials

    async def goes_on(self) -> str:
        """Do the work that waits; return what they read last."""
        self.person.system.model = FakeModel([_echo])
        await self.person.system.work()
        return (await self.person.heard())[-1]


@pytest.fixture
async def owner(
    database_url: str, nanoidp: Nanoidp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Owner]:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # the test server speaks plain HTTP
    async with AsyncExitStack() as stack:
        system = await stack.enter_async_context(open_approving(SmsHarness, database_url, StandingClock()))
        store = system.delivery.store
        keeper, services = store_with(store.database, new_key()), Services.of([home_of(nanoidp)])
        pages = await stack.enter_async_context(
            served(store.database, keeper, services, nanoidp.host, wakeups=store.wakeups)
        )
        script = ScriptedMcp(tmp_path / "server.json")
        script.offers(STATE)
        server = stack.enter_context(script.over_http(account="home:mcp", read_only=("state",)))
        http = GuardedClient(allowed_hosts=[server.url.split("/")[2]])
        stack.push_async_callback(http.close)
        connections = Connections([server], http)
        accepted = AcceptedDefinitions(store.database, "mcp")
        for tool in await connections.tools("home"):
            await accepted.accept(Accepted("home", tool.name, tool.hash, tool.to_json()))
        asked = {"url": f"{nanoidp.url}/introspect", "client": CLIENT, "secret": SECRET}
        script.offers(STATE, introspects=asked)
        accounts = pages.connecting.accounts
        system.more = [disconnect_account]
        tools = McpTools([server], accepted, connections)
        system.options = {
            "credentials": keeper,
            "accounts": accounts,
            "account_asker": accounts.asker,
            "tool_sources": [tools],
        }
        system.model = FakeModel([says("Hello.")])
        await system.say("hello")
        yield Owner(Person(system, pages, await stack.enter_async_context(browser()), nanoidp), script)


async def test_promise_7_a_login_is_connected_refreshed_renewed_and_ended(owner: Owner, nanoidp: Nanoidp) -> None:
    await a_link_connects_and_the_call_goes_on(owner)
    await a_token_that_ran_out_is_refreshed_unseen(owner, nanoidp)
    await a_token_that_is_refused_is_told_and_renewed(owner, nanoidp)
    await disconnecting_ends_the_grant(owner, nanoidp)


async def a_link_connects_and_the_call_goes_on(owner: Owner) -> None:
    """The page asks for nothing that it would not use."""
    [told] = await owner.asks()
    assert NEED in told
    assert owner.script.calls == []
    page = await owner.person.signs_in(told)
    assert "ann@idp.example" in page
    assert "I may now" not in page
    assert "It is off." in await owner.goes_on()
    heard = await owner.person.heard()
    [receipt] = [text for text in heard if text.startswith("Connected: ann@idp.example (Home).")]
    assert "I may now" not in receipt
    assert [stored.service for stored in await owner.stored()] == ["home"]
    assert len(owner.script.calls) == 1


async def a_token_that_ran_out_is_refreshed_unseen(owner: Owner, nanoidp: Nanoidp) -> None:
    """The token is kept for the next call, and asked for again once it is over; the old one is not."""
    before, refreshes = await owner.credentials(), nanoidp.refreshes()[0]
    assert "It is off." in (await owner.asks(_echo))[-1]
    assert (await owner.credentials(), nanoidp.refreshes()[0]) == (before, refreshes)
    accounts = owner.person.pages.connecting.accounts.credentials
    [stored] = await owner.stored()
    tenant = await owner.person.system.delivery.store.db.person()
    await accounts.save(tenant, "home", before | {"expires_at": "2026-01-01T00:00:00+00:00"}, stored.name)
    assert "It is off." in (await owner.asks(_echo))[-1]
    after = await owner.credentials()
    assert nanoidp.refreshes()[0] == refreshes + 1
    assert after["access_token"] != before["access_token"]
    assert after["refresh_token"] != before["refresh_token"]


async def a_token_that_is_refused_is_told_and_renewed(owner: Owner, nanoidp: Nanoidp) -> None:
    """The grant ends at the server, before its time: the MCP server refuses the token that we still have."""
    known, calls = await owner.credentials(), len(owner.script.calls)
    for token in ("access_token", "refresh_token"):
        await _ask(nanoidp, "revoke", str(known[token]))
    [told] = await owner.asks()
    assert "connect it again here: " in told
    assert len(owner.script.calls) == calls
    await owner.person.signs_in(told)
    assert "It is off." in await owner.goes_on()
    assert len(owner.script.calls) == calls + 1
    assert len(await owner.stored()) == 1


async def disconnecting_ends_the_grant(owner: Owner, nanoidp: Nanoidp) -> None:
    """What opened it is forgotten here, and ended there."""
    known, system = await owner.credentials(), owner.person.system
    assert await _is_active(nanoidp, str(known["refresh_token"]))
    await owner.person.writes("disconnect ann@idp.example")
    assert await _is_active(nanoidp, str(known["refresh_token"])), "nothing ends before the person agrees"
    system.model = FakeModel([says("Done: it is disconnected.")])
    await system.decide("Approve")
    assert await owner.stored() == []
    assert not await _is_active(nanoidp, str(known["refresh_token"]))
    [told] = await owner.asks()
    assert NEED in told


def _echo(request: ModelRequest) -> ModelAnswer:
    """Answer with what the server said."""
    result = [message.text for message in request.messages if message.role is Role.TOOL][-1]
    return says("It is off." if "> It is off." in result else "I do not know.")


async def _is_active(nanoidp: Nanoidp, token: str) -> bool:
    return bool((await _ask(nanoidp, "introspect", token)).get("active"))


async def _ask(nanoidp: Nanoidp, what: str, token: str) -> JsonObject:
    headers = {"Authorization": aiohttp.encode_basic_auth(CLIENT, SECRET)}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{nanoidp.url}/{what}", data={"token": token}) as answer,
    ):
        assert answer.status == 200
        told: JsonObject = await answer.json() if what == "introspect" else {}
        return told
