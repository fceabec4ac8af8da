"""Runs of tasks that miss an account: nobody is there, so they wait, and tell once."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.prompts import LinkAsker
from abilities.accounts.services import Services
from abilities.accounts.waiting import WaitingForAccounts
from abilities.tasks.kinds.schedule import ScheduleTrigger
from core.agents.pool import Pool
from core.credentials.store import CredentialStore
from core.turns.tools import RUN_PATIENCE
from tests.abilities.accounts.waiting.harness import ASKED, Links, mailbox
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.clocks import NOON
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import says, wants
from tests.core.credentials.harness import new_key, store_with
from tests.plugins.mailbox import OPENED, read_inbox

SUMMARY = "Summarise my mail"
READS = wants(("read_inbox", {}))


@dataclass
class House:
    """A person without accounts, whose task reads mail."""

    system: Proactive
    keeper: CredentialStore

    async def plan(self, trigger: ScheduleTrigger) -> None:
        """Have the mail be summarised when this is due."""
        await self.system.engine.create_task(
            tenant_id=self.system.tenant, trigger=trigger, title=SUMMARY, action={"instruction": SUMMARY}
        )

    async def connect(self) -> bool:
        """Connect a mailbox; return whether anything waited for it."""
        store = self.system.delivery.store
        await self.keeper.save(self.system.tenant, "email", mailbox("ann@example.org"))
        return await WaitingForAccounts(store.database, store.wakeups).connected(self.system.tenant)


@pytest.fixture
async def house(database_url: str, redis_url: str) -> AsyncIterator[House]:
    """Yield the house, at noon of 21 November 2026, UTC."""
    OPENED.clear()
    async with open_proactive(HARNESSES["telegram"], database_url, redis_url) as system:
        database = system.delivery.store.database
        keeper = store_with(database, new_key())
        system.more.append(read_inbox)
        system.options |= {
            "credentials": keeper,
            "accounts": Accounts(keeper, Services.of()),
            "account_asker": LinkAsker(database, Links()),
        }
        system.model.script[:] = [says("Hello.")]
        await system.work()
        yield House(system, keeper)


async def test_a_run_that_misses_its_account_tells_once_and_goes_on(house: House) -> None:
    system = house.system
    await house.plan(ScheduleTrigger(cron="0 14 * * *"))
    first = await system.is_at(NOON + timedelta(hours=2), READS)
    assert ASKED.splitlines()[0] in first.replace("\\", "")
    assert await system.is_at(NOON + timedelta(days=1, hours=2), READS) == ""
    assert await system.runs(SUMMARY) == ["SKIPPED", "PENDING_APPROVAL"], "the later one waits in place of the first"
    assert OPENED == []
    assert await house.connect()
    assert await system.is_at(NOON + timedelta(days=1, hours=3), says("One mail.")) == "One mail."
    assert OPENED == ["read_inbox ann@example.org"]
    assert await system.runs(SUMMARY) == ["SKIPPED", "COMPLETED"]
    assert await system.is_at(NOON + timedelta(days=2, hours=2), READS, says("Two mails.")) == "Two mails."


async def test_a_run_that_waited_too_long_ends_with_a_word(house: House) -> None:
    system, store = house.system, house.system.delivery.store
    await house.plan(ScheduleTrigger(at=(NOON + timedelta(hours=2)).replace(tzinfo=None), timezone="UTC"))
    assert "connect it here" in await system.is_at(NOON + timedelta(hours=2), READS)
    late = NOON + timedelta(hours=2, minutes=1) + RUN_PATIENCE
    assert await Pool(store.database, store.wakeups).expire(late) == 1
    assert await system.is_at(late, says("I could not read your mail.")) == "I could not read your mail."
    assert "no account was connected in time" in system.model.told()[-1]
    assert not await house.connect()
    assert OPENED == []
