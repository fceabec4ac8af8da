"""Two people on one channel who must both agree: Ada asks, Grace decides too, and Lena lives elsewhere."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from abilities.joint.deciders import HouseholdDeciders
from abilities.joint.settling import Settling
from abilities.joint.tools import ask_both
from core.approvals.other_deciders import OtherDeciders
from core.json_types import JsonObject
from core.messaging.messages import Press
from tests.abilities.household.living import Living, open_living
from tests.contract.canaries import PEOPLE
from tests.contract.harness import Bubble
from tests.core.builders import FakeModel, says, wants
from tests.core.language.english import in_every_language

MAIL: JsonObject = {"to": "inn@example.com", "subject": "A room", "body": "Two nights, please."}
ASKED: JsonObject = {"who": "Grace", "action": "send_mail", "arguments": MAIL}


@dataclass(slots=True, kw_only=True)
class Together(Living):
    """The same, with the work on joint consents."""

    async def work(self) -> None:
        """Do all that is to be done; each round may find what the one before has made due."""
        await Living.work(self)
        for _ in range(8):
            if not await self.delivery.store.one(
                "select count(*) from find_joint($1) where due_at <= clock_timestamp()", self.clock.now()
            ):
                return
            await self.settling.once()
            await Living.work(self)
        raise AssertionError("there is always something to do")

    @property
    def settling(self) -> Settling:
        """Return the work on joint consents, as another process would do it."""
        store, channel = self.delivery.store, self.delivery.channel
        channels = {channel.name: channel.sender} | self.others
        return Settling(store.database, self.clock, store.wakeups, self.approvals, channels, self.notifier)

    async def both(self, *more: Any, person: str = "ada", **other: Any) -> None:
        """Let somebody want a mail sent if Grace agrees; `more`: what the model says after the first answer."""
        self.model = FakeModel([wants(("ask_both", ASKED | other)), *(more or [says("That is that.")])])
        await self.ask("send it if Grace agrees too", person)

    async def yes(self, person: str) -> str:
        """Let somebody approve by the exact word; return all that they read then."""
        return await self.ask(f"OK {await self.code_of(person)}", person)

    async def no(self, person: str) -> str:
        """Let somebody refuse; return all that they read then."""
        return await self.ask(f"NO {await self.code_of(person)}", person)

    async def code_of(self, person: str) -> str:
        """Return the code of a person's newest approval."""
        rows = await self.approvals_of(person)
        return str(rows[-1]["code"])

    async def approvals_of(self, person: str) -> list[dict[str, Any]]:
        """Return a person's approvals, the oldest first."""
        rows = await self.delivery.store.admin.fetch(
            "select a.* from approvals a where a.tenant_id = $1"
            " order by (select min(u.id) from approval_audit u where u.approval_id = a.id)",
            self.tenants[person],
        )
        return [dict(row) for row in rows]

    async def states_of(self, person: str) -> list[str]:
        """Return the states of a person's approvals."""
        return [str(row["state"]) for row in await self.approvals_of(person)]

    async def joint(self) -> list[tuple[str, str]]:
        """Return the states of all joint consents, and why they ended."""
        rows = await self.delivery.store.admin.fetch(
            "select state, reason from joint_consents order by made_at, approval_id"
        )
        return [(row["state"], row["reason"]) for row in rows]

    def card_of(self, person: str) -> Bubble:
        """Return the newest message with buttons of a person, or the newest with a code."""
        seen = self.delivery.channel.bubbles(person)
        with_buttons = [bubble for bubble in seen if bubble.buttons]
        return with_buttons[-1] if with_buttons else next(one for one in reversed(seen) if "OK " in one.text)

    async def presses(self, label: str, person: str, card: Bubble | None = None) -> None:
        """Let a person press a button of their newest card, or of another, and see to it."""
        card = card or self.card_of(person)
        labels = [button for button, _ in card.buttons]
        at = next(at for at, shown in enumerate(labels) if shown in in_every_language(label))
        await self.delivery.channel.press(card, at, person)
        await self.delivery.channel.settled()
        await self.work()

    async def forges(self, token: str, person: str) -> str | None:
        """Let a person's client send a token of its own making; return what it is shown."""
        channel, who = self.delivery.channel, next(one for one in PEOPLE if one.key == person)
        sender = who.slack_user if channel.name == "slack" else str(who.telegram_user)
        press = Press(channel.address(person), sender, (f"press:{person}:{token}",), token)
        said = (await channel.sink.accept(press)).said
        await self.work()
        return said


@asynccontextmanager
async def open_together(channel: str, database_url: str, *, twice: bool = False) -> AsyncIterator[Together]:
    """Open it all; Ada and Grace live together, and Lena elsewhere."""
    async with open_living(channel, database_url, twice=twice) as plain:
        store, name = plain.delivery.store, plain.delivery.channel.name
        system = Together(plain.delivery, plain.clock, tenants=plain.tenants)
        system.more = [*plain.more, ask_both]

        def others(tenant_id: str, _: str) -> HouseholdDeciders:
            return HouseholdDeciders(store.database, plain.clock, tenant_id, (name,))

        system.options = {"services": plain.options["services"] | {OtherDeciders: others}}
        await store.db.tenants.change({"timezone": "UTC"})
        await system.ask("household create Rose Cottage")
        await system.joins("grace")
        yield system
