"""A call that misses its account, from the sentence with the link over the pages and back, on every channel."""

import re
from typing import cast

import pytest

from abilities.accounts.idle_grants import Renewals
from abilities.accounts.types import Service
from core.clock import Clock
from core.ids import make_id
from core.tools.context import ToolExecutionContext
from core.tools.tool import tool
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.abilities.accounts.connect.harness import LINK
from tests.abilities.accounts.contract.test_connecting import Person
from tests.abilities.accounts.contract.test_connecting import person as person
from tests.abilities.accounts.home_service import home_of
from tests.contract.email_harness import also_by_mail
from tests.core.builders import says, wants
from tests.plugins.mailbox import OPENED

pytestmark = pytest.mark.xdist_group("nanoidp")  # it takes a second to start

NEED = "To read your mail I need your mailbox: connect it here: "
AGAIN = "I no longer have access to your account ann@idp.example: connect it again here: "


@also_by_mail
async def test_what_misses_its_account_goes_on_once_it_is_there_or_renewed(person: Person, channel: str) -> None:
    await a_link_that_is_over_and_another_by_one_word(person)
    if channel != "email":  # where news begins a thread of its own, and what was connected is said on the page only
        await a_grant_that_ended_unnoticed_is_told_and_renewed(person)


@tool(effect="read", accounts=("mail.read", "home:mcp"))
async def dim_for_mail(context: ToolExecutionContext) -> str:
    """Dim the light when mail has come."""
    opened = [(await context.accounts.open(need)).account.service for need in ("mail.read", "home:mcp")]
    OPENED.append(" ".join(opened))
    return "It is dimmed."


async def test_a_call_that_needs_two_accounts_gets_a_link_for_each(person: Person) -> None:
    accounts = person.pages.connecting.accounts
    cast("dict[str, Service]", accounts.services.by_name)["home"] = home_of(person.nanoidp)
    person.system.more = [*person.system.more, dim_for_mail]
    [told] = await person.writes("dim it when there is mail", wants(("dim_for_mail", {})))
    asks, mail, home, later = told.split("\n")
    assert asks == "For that I need several accounts (mail and home). Connect each of them here:"
    assert re.fullmatch(rf"mail: {LINK.pattern} \(Work, Google or email\)", mail)
    assert re.fullmatch(rf"home: {LINK.pattern}", home)
    assert later == "The links work for 15 minutes. For a new one, write: connect"
    [again] = await person.writes("connect")
    assert again.startswith(asks)
    await person.signs_in(again.split("\n")[2])
    await person.system.work()
    assert OPENED == []
    still = (await person.heard())[-1]
    assert still.startswith("To read your mail I need your mailbox: connect it here: ")
    await person.signs_in(still, choose="work")
    await goes_on(person, "It is dimmed.")
    assert OPENED == ["work home"]


async def a_link_that_is_over_and_another_by_one_word(person: Person) -> None:
    """The link lives for minutes, and the call waits for a day."""
    [told] = await person.writes("any mail?", wants(("read_inbox", {})))
    assert told.startswith(NEED)
    assert told.endswith("\nThe link works for 15 minutes. For a new one, write: connect")
    await person.system.delivery.store.admin.execute("update connect_links set expires_at = now() - interval '1 s'")
    link = LINK.search(told)
    assert link is not None
    await person.phone.get(link[0])
    assert person.phone.status == 404
    [again] = await person.writes("connect")
    assert again.startswith(NEED)
    assert link[0] not in again
    await person.signs_in(again, choose="work")
    await goes_on(person, "One mail.")
    assert OPENED == ["read_inbox ann@idp.example"]


async def a_grant_that_ended_unnoticed_is_told_and_renewed(person: Person) -> None:
    """The person takes the grant back at its server, and nobody uses it until the sweep does."""
    store, accounts = person.system.delivery.store, person.pages.connecting.accounts
    tenant = await store.db.person()
    [stored] = await accounts.credentials.stored(tenant)
    service = accounts.services.get("work")
    assert accounts.tokens is not None
    assert service is not None
    assert service.client is not None
    assert stored.credentials is not None
    assert await accounts.tokens.servers.revoke(service.client, str(stored.credentials["refresh_token"]))
    ended = stored.credentials | {"expires_at": "2026-01-01T00:00:00+00:00"}
    await accounts.credentials.save(tenant, "work", ended, stored.name)
    await store.admin.execute("update credentials set attend_at = now()")
    notes, channel = NotificationStore(store.database, make_id), person.system.delivery.channel.name
    notifier = NotificationService(notes, [channel], store.wakeups, person.system.clock, make_id)
    seen = len(await person.heard())
    assert await Renewals(store.database, accounts, notifier, Clock()).once() == 1
    assert await Renewals(store.database, accounts, notifier, Clock()).once() == 0
    await person.system.work()
    [told] = (await person.heard())[seen:]
    assert told.startswith(AGAIN)
    assert "has to be connected again" in (await person.writes("accounts"))[0]
    [asked] = await person.writes("any mail now?", wants(("read_inbox", {})))
    assert asked.startswith(AGAIN)
    await person.signs_in(told)
    await goes_on(person, "Two mails.")
    assert await store.one("select count(*) from credentials where revoked_at is null") == 1


async def goes_on(person: Person, answer: str) -> None:
    """Let the turn that waits go on by itself, and answer."""
    person.system.model.script[:] = [says(answer)]
    await person.system.work()
    heard = await person.heard()
    assert [text.split("\n")[0] for text in heard[-2:]] == ["Connected: ann@idp.example (Work).", answer]
