"""A task tells on the channel that the person named for it, wherever it was made and whatever they prefer."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from core.inbox.inbox import Inbox
from core.json_types import JsonObject
from jobs.delivery.runner import DeliveryRunner
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import SATURDAY, repeats
from tests.contract.channel_harnesses import SmsHarness, TelegramHarness
from tests.contract.harness import ChannelHarness, open_harness
from tests.core.builders import says, wants
from tests.core.harness import OPEN


@dataclass(slots=True)
class TwoChannels:
    """Ada's texts, on which she makes her tasks, and her Telegram chat."""

    system: Proactive
    chat: ChannelHarness

    async def told_at(self, moment: int) -> dict[str, list[str]]:
        """Let it be a later minute past 14:00; return what arrives, by channel."""
        both = {"sms": self.system.delivery.channel, "telegram": self.chat}
        seen = {name: len(channel.bubbles()) for name, channel in both.items()}
        await self.system.is_at(SATURDAY.replace(hour=14) + timedelta(minutes=moment))
        return {name: [one.text for one in channel.bubbles()[seen[name] :]] for name, channel in both.items()}


@pytest.fixture
async def ada(database_url: str, redis_url: str) -> AsyncIterator[TwoChannels]:
    """Yield Ada in Berlin; it is Saturday, 21 November 2026, 13:00."""
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        store = system.delivery.store
        inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, clock=system.clock)
        async with open_harness(TelegramHarness, inbox) as chat:
            where = chat.address()
            await store.db.identities.change({"account": where.account, "user_key": where.peer}, id="elsewhere")
            await store.db.conversations.change({"account": where.account, "peer": where.peer}, id="talk-elsewhere")
            await store.db.tenants.change({"timezone": "Europe/Berlin"})
            system.others = {"telegram": chat.sender}
            senders = {"sms": system.delivery.channel.sender, "telegram": chat.sender}
            system.delivery.runner = DeliveryRunner(store.outbox, senders, "w1")
            system.model.script = [says("Hello.")]
            await chat.said("hello")
            await system.work()
            yield TwoChannels(system, chat)


@pytest.mark.parametrize("named", ["sms", "telegram"])
@pytest.mark.parametrize("preferred", ["sms", "telegram"])
async def test_a_task_tells_on_the_channel_that_was_named_for_it(ada: TwoChannels, named: str, preferred: str) -> None:
    pill: JsonObject = {"what": "take the pill", "cron": "30 14 * * *", "remind_only": True}
    plant: JsonObject = {"what": "water the plant", "cron": "40 14 * * *", "remind_only": True}
    await ada.system.hears(
        "write me there", wants(("set_preference", {"name": "channel", "value": preferred})), says("OK")
    )
    await ada.system.hears("pills", wants(("ScheduleTask", {**pill, "channel": named})), repeats)
    await ada.system.hears("plant", wants(("ScheduleTask", plant)), repeats)
    nothing: dict[str, list[str]] = {"sms": [], "telegram": []}
    assert await ada.told_at(30) == {**nothing, named: ["Reminder: take the pill"]}
    assert await ada.told_at(40) == {**nothing, preferred: ["Reminder: water the plant"]}
