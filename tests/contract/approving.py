"""An system that asks for approval: real inbox, turns, delivery and redraws over one harness, and a scripted model."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from core.approvals.store import ApprovalStore
from core.inbox.inbox import Inbox
from core.json_types import JsonObject
from core.loop.config import ReactLoopConfig
from core.messaging.channels import NotificationChannel
from core.people.commands import PersonCommands
from core.tools.storage import Storage
from core.tools.tool import AnyTool, Risk, tool
from core.turns.orchestrator import Orchestrator
from jobs.delivery.card_updates import Redraws
from jobs.delivery.redraws import RedrawRunner
from jobs.delivery.runner import DeliveryRunner
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from jobs.upkeep.schedule import advance_approvals
from operations.console.sign_in import ConsoleSignIn
from tests.clocks import StandingClock
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.for_people import assert_nothing_for_the_model
from tests.contract.harness import Bubble, ChannelHarness, open_harness
from tests.core.builders import FakeModel, says, wants
from tests.core.harness import OPEN, TwiceDatabase, opened
from tests.core.language.english import in_every_language

CONFIG = ReactLoopConfig(llm_retry_base_delay=0.001, llm_streaming=False, llm_outage_patience=0)
MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?"}
# Under a clock that stands still, approvals share their time; the audit counts them.
_IN_ORDER = " from approvals a order by (select min(u.id) from approval_audit u where u.approval_id = a.id)"


@dataclass(slots=True)
class Approving:
    """One worker's parts over a delivery harness; `sent` is what the tool that needs approval did."""

    delivery: DeliveryHarness
    clock: StandingClock
    model: Any = field(default_factory=lambda: FakeModel([]))
    sent: list[dict[str, str]] = field(default_factory=list)
    more: list[AnyTool] = field(default_factory=list)
    risk: Risk = ""
    options: dict[str, Any] = field(default_factory=dict)
    people: PersonCommands | None = None
    console: ConsoleSignIn | None = None
    codes_only: frozenset[str] = frozenset()
    channels: dict[str, NotificationChannel] = field(default_factory=dict)
    """Those that a turn knows of; empty: none, so that nothing shows that it is at work."""
    others: dict[str, NotificationChannel] = field(default_factory=dict)
    """Channels besides the harness's on which cards are redrawn."""

    @property
    def approvals(self) -> ApprovalStore:
        """Return the store of approvals."""
        return ApprovalStore(self.delivery.store.database, self.delivery.store.wakeups, self.codes_only)

    @property
    def orchestrator(self) -> Orchestrator:
        """Create a new orchestrator, as another process would."""
        return Orchestrator(
            self.model,
            tools=[replace(send_mail, fn=self._send, risk=self.risk), *self.more],
            approvals=self.approvals,
            clock=self.clock,
            **{"config": CONFIG, "storage": Storage(self.delivery.store.database), **self.options},
        )

    async def say(self, text: str, person: str = "ada") -> None:
        """Let a person write, and see to all of it."""
        await self.delivery.channel.said(text, person)
        await self.work()

    async def work(self) -> None:
        """Run what waits, send what is owed, and draw what is due, until nothing is left."""
        store, name = self.delivery.store, self.delivery.channel.name
        redraws = RedrawRunner(
            Redraws(store.database), {name: self.delivery.channel.sender} | self.others, clock=self.clock
        )
        while True:
            lease = await self.turn()
            await self.delivery.deliver()
            if await store.one("select exists (select from approvals)"):
                await advance_approvals(self.approvals, self.clock, store.make_id)
                await self.delivery.deliver()
            drawing = await redraws.claim(None)
            if drawing:
                await redraws.run(drawing)
            if not (lease or drawing):
                return

    async def turn(self) -> bool:
        """Run one turn; False where none waits."""
        store = self.delivery.store
        turns = TurnRunner(
            store.turns,
            self.orchestrator,
            store.wakeups,
            self.channels,
            store.make_id,
            "w1",
            TurnFeatures(self.people, approvals=self.approvals, console=self.console),
        )
        lease = await turns.claim(None)
        if lease:
            await turns.run(lease)
        return lease is not None

    async def press(self, label: str, card: Bubble | None = None, person: str = "ada") -> None:
        """Let a person press a button of the newest card that has it."""
        card = card or self.card()
        labels = [button for button, _ in card.buttons]
        at = next(at for at, shown in enumerate(labels) if shown in in_every_language(label))
        await self.delivery.channel.press(card, at, person)
        await self.delivery.channel.settled()

    async def decide(self, label: str) -> None:
        """Let the person decide: by button, or by exact word where there are none; and see to it."""
        if not self.delivery.channel.has_buttons:
            await self.say({"Approve": "OK", "Cancel": "NO"}[label] + f" {await self.code()}")
        else:
            await self.press(label)
            await self.work()

    def card(self) -> Bubble:
        """Return the newest message with buttons, or the newest of all where there are none."""
        seen = self.delivery.channel.bubbles()
        return next((bubble for bubble in reversed(seen) if bubble.buttons), seen[-1])

    async def code(self) -> str:
        """Return the newest approval's code."""
        return str(await self.delivery.store.one("select code" + _IN_ORDER + " desc"))

    async def states(self) -> list[object]:
        """Return the approvals' states, the oldest first."""
        return await self.delivery.store.column("select state" + _IN_ORDER)

    def last(self) -> str:
        """Return what the person reads last."""
        return self.delivery.channel.bubbles()[-1].text

    async def _send(self, to: str, subject: str, body: str = "") -> str:
        self.sent.append({"to": to, "subject": subject, "body": body})
        return f"Sent to {to}."


@tool(needs_approval=True)
async def send_mail(to: str, subject: str, body: str = "") -> str:
    """Send a mail."""
    raise NotImplementedError  # each system has its own; what it takes is read once, which is slow


@asynccontextmanager
async def open_approving(
    kind: type[ChannelHarness],
    database_url: str,
    clock: StandingClock,
    *,
    twice: bool = False,
    codes_only: frozenset[str] = frozenset(),
) -> AsyncIterator[Approving]:
    """Open it all on an empty database; `twice`: on one whose every answer is lost once."""
    async with opened(database_url, TwiceDatabase(database_url) if twice else None) as store:
        inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, clock=clock, codes_only=codes_only)
        async with open_harness(kind, inbox) as harness:
            delivery = DeliveryHarness(
                store, harness, DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1", clock=clock)
            )
            yield Approving(delivery, clock, codes_only=codes_only)
            await assert_nothing_for_the_model(store)


@asynccontextmanager
async def open_asked(kind: type[ChannelHarness], database_url: str) -> AsyncIterator[Approving]:
    """Open a system in which Ada was asked to approve a mail, and Grace is somebody else."""
    async with open_approving(kind, database_url, StandingClock()) as system:
        system.model.script = [says("Hello Grace."), wants(("send_mail", MAIL))]
        await system.say("hello", "grace")
        await system.say("mail sam about lunch")
        yield system
