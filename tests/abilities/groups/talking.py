"""A group of three with the assistant: Ada owns the installation, Grace runs the group, Lena is a member."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from abilities.groups.groups import Groups
from abilities.groups.settling import Settling
from abilities.groups.tools import ask_in_own_chat, say_in_group
from abilities.lists import lists
from core.tools.tool import AnyTool, Tool
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, says

ON = "groups on"


@dataclass(slots=True, kw_only=True)
class Talking(Approving):
    """One worker's parts, with the group."""

    tenants: dict[str, str] = field(default_factory=dict)

    async def work(self) -> None:
        """Do all that is to be done, the settling of groups included."""
        await Approving.work(self)
        await self.settle()
        await self.delivery.deliver()

    async def settle(self) -> None:
        """Settle the groups that asked."""
        store, channel = self.delivery.store, self.delivery.channel
        notes = NotificationStore(store.database, store.make_id)
        notifier = NotificationService(notes, [channel.name], store.wakeups, self.clock, store.make_id)
        await Settling(store.database, store.wakeups, {channel.name: channel.sender}, notifier).once()

    async def write(self, text: str, person: str = "grace", *, mention: bool = True, reply_to: str = "") -> list[str]:
        """Let somebody write in the group; return what is said there then."""
        before = len(self.heard())
        await self.post(text, person, mention=mention, reply_to=reply_to)
        await self.work()
        return self.heard()[before:]

    async def post(
        self, text: str, person: str = "grace", *, mention: bool = True, reply_to: str = ""
    ) -> dict[str, Any]:
        """Let somebody write in the group, and wait only until it came in."""
        harness = self.delivery.channel
        told = await harness.group_say(text, person, mention=mention, reply_to=reply_to)
        await harness.settled()
        return told

    def heard(self) -> list[str]:
        """Return what was said in the group by the assistant, in order."""
        return self.delivery.channel.group_texts()

    def told(self, person: str) -> list[str]:
        """Return what a person has read in their own chat."""
        return [bubble.text.replace("\\", "") for bubble in self.delivery.channel.bubbles(person)]

    async def turned_on(self) -> None:
        """Let Grace ask for it, and Ada allow it."""
        await self.write(ON)
        await self.say("groups allow 1", "ada")

    def last_in_group(self) -> str:
        """Return the provider's id of the assistant's last message in the group."""
        return self.delivery.channel.group_ids()[-1]

    @property
    def title(self) -> str:
        """Return the group's name."""
        return "general" if self.delivery.channel.name == "slack" else "Simulated group"

    async def state(self) -> object:
        """Return the state of the only group; None for none."""
        return await self.delivery.store.one("select max(state) from group_chats")

    async def count(self, query: str) -> int:
        """Return a number from the database, over all people."""
        return int(str(await self.delivery.store.one(query)))


@asynccontextmanager
async def open_talking(channel: str, database_url: str, *, twice: bool = False) -> AsyncIterator[Talking]:
    """Open it all; the three have written to the assistant before, and Mortal has not."""
    clock = StandingClock()
    async with open_approving(HARNESSES[channel], database_url, clock, twice=twice) as plain:
        system = Talking(delivery=plain.delivery, clock=clock)
        store = plain.delivery.store
        system.more = [ask_in_own_chat, say_in_group, *_tools(vars(lists).values())]
        services = {Groups: lambda tenant, turn: Groups(store.database, store.wakeups, tenant, turn)}
        system.options = {"services": services}
        for person in ("ada", "grace", "lena"):
            before = set(await store.db.tenants.column("tenant_id"))
            system.model = FakeModel([says("Hello.")])
            await system.say("hello", person)
            (tenant,) = set(await store.db.tenants.column("tenant_id")) - before
            system.tenants[person] = str(tenant)
        await store.db.tenants.change({"language": ""})
        await store.db.tenants.change({"role": "owner"}, tenant_id=system.tenants["ada"])
        yield system


def _tools(values: Iterable[object]) -> list[AnyTool]:
    return [value for value in values if isinstance(value, Tool)]
