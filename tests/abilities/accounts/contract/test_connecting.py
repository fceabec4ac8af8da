"""An account is connected from a chat: asked for there, allowed in the phone's browser, told in the same chat once."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import pytest

from abilities.accounts.services import Services
from abilities.accounts.tools import choose_account, connect_account, disconnect_account, list_accounts
from core.json_types import Json, JsonObject
from core.llm.types import ModelAnswer, ModelRequest
from tests.abilities.accounts.connect.harness import LINK, Browser, Pages, browser, scoped, served, work
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, Step, says, wants
from tests.core.credentials.harness import new_key, store_with
from tests.plugins.mailbox import OPENED, read_inbox
from tests.servers.nanoidp import Nanoidp

pytestmark = pytest.mark.xdist_group("nanoidp")  # it takes a second to start


@dataclass
class Person:
    """A person with a chat and a phone's browser."""

    system: Approving
    pages: Pages
    phone: Browser
    nanoidp: Nanoidp

    async def writes(self, words: str, *steps: Step) -> list[str]:
        """Let them write while the model takes these steps; return what they read then."""
        seen = len(await self.heard())
        self.system.model = FakeModel([*steps])
        await self.types(words)
        assert self.system.model.script == [], "the model was asked for all of it"
        return (await self.heard())[seen:]

    async def types(self, words: str) -> None:
        """Let them write; what begins with /valet is Slack's own command."""
        if words.startswith("/valet"):
            await self.system.delivery.channel.act("command", text=words)
            await self.system.delivery.channel.settled()
            await self.system.work()
        else:
            await self.system.say(words)

    async def heard(self) -> list[str]:
        """Return what they were told, in order, as it is written before a channel renders it."""
        texts = await self.system.delivery.store.db.outbound.column("text", order="seq")
        return [str(text).replace("\\", "") for text in texts if str(text)]

    async def signs_in(self, told: str, choose: str = "", **allowed: str) -> str:
        """Open the link that they were told, go on, and agree at the service; return what the page says at last."""
        link = LINK.search(told)
        assert link is not None, told
        await self.phone.get(link[0])
        assert self.phone.status == 200
        if choose:
            await self.phone.submit(link[0], go="", choose=choose)
        away = await self.phone.submit(link[0], allowed)
        assert self.phone.status == 303, self.phone.page
        return await self.phone.get(await self.nanoidp.log_in(away))


@pytest.fixture
async def person(
    channel: str, database_url: str, nanoidp: Nanoidp, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Person]:
    """Yield a person to whom two services are offered."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # the test server speaks plain HTTP
    OPENED.clear()
    async with AsyncExitStack() as stack:
        system = await stack.enter_async_context(open_approving(HARNESSES[channel], database_url, StandingClock()))
        store = system.delivery.store
        keeper, services = store_with(store.database, new_key()), Services.of([work(nanoidp), scoped(nanoidp)])
        pages = await stack.enter_async_context(
            served(store.database, keeper, services, nanoidp.host, wakeups=store.wakeups)
        )
        accounts = pages.connecting.accounts
        system.more = [connect_account, list_accounts, choose_account, disconnect_account, read_inbox]
        system.options = {"credentials": keeper, "accounts": accounts, "account_asker": accounts.asker}
        system.model = FakeModel([says("Hello.")])
        await system.say("hello")
        yield Person(system, pages, await stack.enter_async_context(browser()), nanoidp)


def repeats_the_link(request: ModelRequest) -> ModelAnswer:
    """Answer with the link of the tool's result, as models do."""
    link = LINK.search(request.messages[-1].text)
    assert link is not None, request.messages[-1].text
    return says(f"Connect it here: {link[0]}")


async def test_connect_leads_to_an_account_and_is_told_once(person: Person) -> None:
    [told] = await person.writes("connect work")
    assert told.startswith("Connect Work here, within 15 minutes: http")
    deliveries = len(person.system.delivery.store.wakeups.deliveries)
    page = await person.signs_in(told, mail="on", calendar="on")
    assert "ann@idp.example" in page
    assert len(person.system.delivery.store.wakeups.deliveries) == deliveries + 1
    await person.phone.get(LINK.search(told)[0])  # type: ignore[index]
    assert person.phone.status == 404
    await person.system.work()
    receipt = (await person.heard())[-1]
    assert receipt.startswith("Connected: ann@idp.example (Work).")
    assert "disconnect ann@idp.example" in receipt
    assert sum("Connected:" in text for text in await person.heard()) == 1
    assert "ann@idp.example" in person.system.last()

    [listed] = await person.writes("accounts")
    assert "ann@idp.example (work): I may read and search your mail" in listed
    await person.writes("disconnect ann@idp.example")
    assert await person.pages.connecting.accounts.list(await tenant(person))
    person.system.model = FakeModel([says("Done: it is disconnected.")])
    await person.system.decide("Approve")
    assert await person.pages.connecting.accounts.list(await tenant(person)) == []
    assert [text for text in await person.writes("accounts") if text.startswith("Nothing is connected.")]


async def test_my_google_calendar_is_asked_for_its_calendar_alone(person: Person) -> None:
    asked: dict[str, Json] = {"service": "google", "kinds": ["calendar"]}
    [told] = await person.writes("connect my Google calendar", wants(("connect_account", asked)), repeats_the_link)
    link = LINK.search(told)
    assert link is not None
    page = await person.phone.get(link[0])
    assert "see your calendars" in page
    assert "mail" not in re.sub(r"<style>.*</style>", "", page, flags=re.DOTALL)
    away = parse_qs(urlsplit(await person.phone.submit(link[0])).query)
    assert away["scope"] == ["openid email offline_access calendar"]
    await person.signs_in(told)
    await person.system.work()
    assert (await person.heard())[-1].startswith("Connected: ann@idp.example (Google).\nI may now see your calendars")


async def test_what_waits_for_an_account_is_hurried_and_goes_on(person: Person) -> None:
    [told] = await person.writes("any mail?", wants(("read_inbox", {})))
    wakeups = person.system.delivery.store.wakeups
    before = len(wakeups.turns)
    await person.signs_in(told, choose="work")
    assert len(wakeups.turns) == before + 1
    person.system.model = FakeModel([says("One mail.")])
    await person.system.work()
    heard = await person.heard()
    assert [text.split("\n")[0] for text in heard[-2:]] == ["Connected: ann@idp.example (Work).", "One mail."]
    assert OPENED == ["read_inbox ann@idp.example"]


async def test_one_account_is_used_for_mail_once_it_is_chosen(person: Person) -> None:
    [told] = await person.writes("connect google as job")
    await person.signs_in(told, mail="on")
    login: JsonObject = {"user": "ann@home.example", "password": "x"}
    server: JsonObject = {"host": "smtp.home.example", "imap": {"host": "imap.home.example"}}
    await person.pages.store.save(await tenant(person), "email", login | server, "home")
    await person.system.work()
    asked = await person.writes("any mail?", wants(("read_inbox", {})))
    assert asked == ["Which account: home or job?"]
    chosen: dict[str, Json] = {"account": "job", "kinds": ["mail"]}
    await person.writes("job, and use it for mail", wants(("choose_account", chosen)), says("I will."))
    await person.writes("any mail now?", wants(("read_inbox", {})), says("One mail."))
    assert OPENED == ["read_inbox ann@idp.example"]
    [listed] = await person.writes("accounts")
    assert "Used for mail when none is named" in listed


async def tenant(person: Person) -> str:
    return await person.system.delivery.store.db.person()


async def test_an_unknown_service_is_answered_with_those_there_are(person: Person) -> None:
    slash = "/valet " if person.system.delivery.channel.name == "slack" else "/"
    only = "There is no service foo here, only work, google, email and caldav."
    assert await person.writes(f"{slash}connect foo") == [only]
    assert await person.writes(f"{slash}disconnect") == await person.writes("accounts")
    assert await person.writes(f"{slash}disconnect foo") == ["Nothing is connected."]
    assert await person.writes("connect us", says("With whom?")) == ["With whom?"]
    assert await person.writes("disconnect that idea", says("All right.")) == ["All right."]
    [told] = await person.writes(f"{slash}connect google as job")
    await person.signs_in(told, mail="on")
    await person.system.work()
    assert await person.writes(f"{slash}disconnect foo") == ["There is no account foo, only job."]
    [account] = await person.pages.connecting.accounts.list(await tenant(person))
    assert (account.service, account.name) == ("google", "job")
