"""A person whose assistant writes to others: Ada is let in, Grace and the others are nobody here."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from abilities.contacts import keeping
from abilities.outreach.outreach import Outreach
from abilities.outreach.reading_answers import read_answers
from abilities.outreach.writing import MessageSomeoneAgent
from core.agents.registry import AgentRegistry
from core.inbox.inbox import Inbox
from core.people.access_policy import Access
from core.people.people import People
from core.tools.message_access import MessageAccess
from core.tools.storage import Storage
from core.tools.tool import Tool
from jobs.delivery.runner import DeliveryRunner
from jobs.upkeep.schedule import release_notifications
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.clocks import StandingClock
from tests.contract.approving import Approving
from tests.contract.canaries import PEOPLE
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.for_people import assert_nothing_for_the_model
from tests.contract.harness import Bubble, open_harness
from tests.core.harness import opened

BY_KEY = {person.key: person for person in PEOPLE}


@dataclass(slots=True, kw_only=True)
class Writing(Approving):
    """One worker's parts, with messages to others and what they answer; `tenant` is Ada's."""

    tenant: str = "tn_ada"

    async def work(self) -> None:
        """Do all that is to be done, what people are told unasked included."""
        await Approving.work(self)
        store, name = self.delivery.store, self.delivery.channel.name
        notes = NotificationStore(store.database, store.make_id)
        service = NotificationService(notes, [name], store.wakeups, self.clock, store.make_id)
        if await release_notifications(service, self.clock):
            await self.delivery.deliver()

    async def answer(self, text: str, person: str = "grace") -> None:
        """Let somebody else write, and see to all of it."""
        await self.say(text, person)

    def key(self, person: str) -> str:
        """Return what the channel knows somebody by."""
        return key_of(self.delivery.channel.name, person)

    def read(self, person: str = "grace") -> list[str]:
        """Return what somebody was sent, without how the stranger that they were was greeted."""
        return [bubble.text for bubble in self.sent_to(person)]

    def sent_to(self, person: str = "grace") -> list[Bubble]:
        bubbles = self.delivery.channel.bubbles(person)
        return [bubble for bubble in bubbles if not re.search(r"[2-9A-Z]{4}-[2-9A-Z]{4}", bubble.text)]

    async def admit(self, person: str, tenant: str) -> None:
        """Let somebody in, as the operator does."""
        channel = self.delivery.channel
        address = {"channel": channel.name, "account": channel.account, "user_key": self.key(person)}
        await self.delivery.store.database.call(
            "select seed_person($1,$2,$3,$4,'','member')", tenant, [address], [f"idn_{person}"], BY_KEY[person].name
        )


def key_of(channel: str, person: str) -> str:
    """Return what a channel knows somebody by."""
    found = BY_KEY[person]
    return {"sms": found.phone, "slack": found.slack_user, "telegram": str(found.telegram_user)}[channel]


@asynccontextmanager
async def open_writing(channel: str, database_url: str, access: Access | None = None) -> AsyncIterator[Writing]:
    """Open it all on an empty database, with Ada let in. Telegram's people have started the bot."""
    clock = StandingClock()
    async with opened(database_url) as store:
        inbox = Inbox(store.database, store.wakeups, store.make_id, access or Access(), clock=clock)
        async with open_harness(HARNESSES[channel], inbox) as harness:
            ways = {harness.name: harness.sender}
            delivery = DeliveryHarness(store, harness, DeliveryRunner(store.outbox, ways, "w1", clock=clock))
            system = Writing(delivery, clock)
            tools = [tool for tool in vars(keeping).values() if isinstance(tool, Tool)]
            system.more = [*tools, read_answers]
            system.options = {
                "agents": AgentRegistry([MessageSomeoneAgent]),
                "storage": Storage(store.database),
                "people": People(store.database, store.make_id, clock),
                "services": {
                    MessageAccess: Outreach(store.database, store.wakeups, store.make_id, clock, ways).for_turn
                },
            }
            if channel == "telegram":
                for person in ("ada", "grace", "lena"):
                    await harness.act("start", person)
                    await harness.settled()
                await delivery.deliver()
            await system.admit("ada", system.tenant)
            yield system
            await assert_nothing_for_the_model(store)
