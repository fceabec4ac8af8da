"""People on one channel who may live together: Ada, Grace and Lena, one worker, and the news that it tells them."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from abilities.household.children import ChildTier
from abilities.household.households import Households
from abilities.household.shared import SharedInHousehold
from abilities.household.telling import follow_deeds
from abilities.household.tools import show_household
from abilities.lists import lists
from core.clock import Clock
from core.db.database import Database
from core.tools.sharing import Sharing
from core.tools.tool import Tool
from core.turns.services import ForTurn
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, says, wants

TIER = ChildTier("child", ("member", "guest"))
"""The tier of children where there is one."""
CODE = re.compile(r"[2-9A-Z]{3}-[2-9A-Z]{3}-[2-9A-Z]{3}")


@dataclass(slots=True, kw_only=True)
class Living(Approving):
    """One worker's parts, with what households are told. `tenants`: those of the people by their keys."""

    tenants: dict[str, str] = field(default_factory=dict)

    async def work(self) -> None:
        """Do all that is to be done, what people are told unasked included."""
        await Approving.work(self)
        await follow_deeds(self.delivery.store.database, self.notifier)
        await self.delivery.deliver()

    @property
    def notifier(self) -> NotificationService:
        """Return what sends people news."""
        store = self.delivery.store
        notes = NotificationStore(store.database, store.make_id)
        return NotificationService(notes, [self.delivery.channel.name], store.wakeups, self.clock, store.make_id)

    async def ask(self, text: str, person: str = "ada") -> str:
        """Let a person write; return all that they read then."""
        before = self.count(person)
        await self.say(text, person)
        return self.heard(person, before)

    async def call(self, person: str, tool: str, **given: object) -> str:
        """Let a person say something for which the model calls a tool; return the tool's result."""
        self.model = FakeModel([wants((tool, given)), says("Very well.")])  # type: ignore[arg-type]
        await self.ask(f"please {tool}", person)
        return str(self.model.told()[-1])

    def count(self, person: str) -> int:
        """Return how many messages a person has had."""
        return len(self.delivery.channel.bubbles(person))

    def heard(self, person: str, before: int = 0) -> str:
        """Return what a person has read since. A text message has plain quotation marks."""
        texts = [bubble.text.replace("\\", "") for bubble in self.delivery.channel.bubbles(person)[before:]]
        return re.sub(r'"([^"\n]*)"', r"“\1”", "\n".join(texts))

    async def invited(self, by: str = "ada", role: str = "") -> str:
        """Return a code that a member was given."""
        found = CODE.search(await self.ask(f"household invite {role}".strip(), by))
        assert found is not None
        return found[0]

    async def joins(self, person: str, by: str = "ada", role: str = "") -> str:
        """Let a person join by an invitation; return what they read at last."""
        code = await self.invited(by, role)
        await self.ask(f"household join {code}", person)
        return await self.ask(f"household join {code} agree", person)

    async def roles(self) -> dict[str, str]:
        """Return the roles of all members of any household, by their names."""
        rows = await self.delivery.store.admin.fetch(
            "select t.name, m.role from household_members m join tenants t on t.tenant_id = m.tenant_id"
            " order by m.joined_at, m.tenant_id"
        )
        return {row["name"]: row["role"] for row in rows}


def services_of(database: Database, clock: Clock, tier: ChildTier | None = None) -> dict[type, ForTurn]:
    """Return the services that the ability brings, as its declaration makes them."""

    def of(tenant_id: str, turn_id: str) -> Households:
        return Households(database, clock, tenant_id, turn_id, tier)

    return {Households: of, Sharing: lambda tenant_id, turn_id: SharedInHousehold(of(tenant_id, turn_id))}


@asynccontextmanager
async def open_living(channel: str, database_url: str, *, twice: bool = False) -> AsyncIterator[Living]:
    """Open it all on an empty database; `twice`: on one whose every answer is lost once. Three have written before."""
    clock = StandingClock()
    async with open_approving(HARNESSES[channel], database_url, clock, twice=twice) as plain:
        system = Living(plain.delivery, clock)
        system.more = [show_household, *(tool for tool in vars(lists).values() if isinstance(tool, Tool))]
        system.options = {"services": services_of(plain.delivery.store.database, clock)}
        for person in ("ada", "grace", "lena"):
            await arrive(system, person)
        yield system


async def arrive(system: Living, person: str) -> None:
    """Let somebody write for the first time; they go by the name that the channel may not tell."""
    tenants = system.delivery.store.db.tenants
    before = set(await tenants.column("tenant_id"))
    system.model = FakeModel([says("Hello.")])
    await system.say("hello", person)
    (tenant,) = set(await tenants.column("tenant_id")) - before
    system.tenants[person] = str(tenant)
    await tenants.change({"name": person.capitalize()}, tenant_id=tenant)
