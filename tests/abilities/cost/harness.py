"""A person with a phone, and maybe a Telegram chat, whose worker holds long answers back."""

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

from pydantic import SecretStr

from abilities.cost.held import end_waits
from abilities.cost.opening import answer_links, open_holding, open_services
from core.clock import Clock
from core.db.database import Database
from core.inbox.inbox import Inbox
from core.language.money import Currency
from core.messaging.capabilities import SegmentBudget
from core.messaging.channels import NotificationChannel
from core.messaging.holding import Holding
from jobs.delivery.runner import DeliveryRunner
from onevalet.foundations import Opened, OpeningFoundation
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES, TelegramHarness
from tests.contract.harness import ChannelHarness, open_harness
from tests.core.builders import says
from tests.core.harness import OPEN, Store

KEY = base64.b64encode(bytes(32)).decode()
WORDS = "".join(f"word{number:05d} " for number in range(210))  # 2,100 characters, 15 segments
URL = "https://valet.example.com"


def foundation_of(
    database: Database,
    clock: Clock,
    *,
    most: int = 12,
    url: str = URL,
    currency: str = "USD",
    channels: Mapping[str, NotificationChannel] | None = None,
) -> OpeningFoundation:
    """Return what a worker opens the ability with."""
    settings = SimpleNamespace(
        onevalet_secret_keys=(SecretStr(KEY),),
        public_url=url,
        onevalet_currency=Currency.read(currency),
        of=lambda _: SimpleNamespace(onevalet_sms_ask_segments=most),
    )
    foundation = SimpleNamespace(
        settings=settings, database=database, clock=clock, opened=Opened(), channels=channels or {}
    )
    return cast(OpeningFoundation, foundation)


def holding_of(foundation: OpeningFoundation) -> Holding:
    """Return the hold on deliveries, opened as a worker opens it."""
    open_holding(foundation)
    return foundation.opened.get(Holding)


@dataclass(slots=True)
class Phone:
    """The system behind a person's phone, and their other chat if they have one."""

    system: Approving
    foundation: OpeningFoundation
    chat: ChannelHarness | None = None

    @property
    def store(self) -> Store:
        return self.system.delivery.store

    @property
    def clock(self) -> StandingClock:
        return self.system.clock

    def reopen(self, **changes: Any) -> None:
        """Let another worker open the ability with other settings."""
        self.foundation = foundation_of(self.store.database, self.clock, **changes)
        self.system.options["services"] = open_services(self.foundation)
        self.system.delivery.runner = self.runner()

    def runner(self, name: str = "w1") -> DeliveryRunner:
        """Return the deliveries of a worker."""
        channel = self.system.delivery.channel
        senders = {channel.name: channel.sender} | ({"telegram": self.chat.sender} if self.chat else {})
        return DeliveryRunner(self.store.outbox, senders, name, clock=self.clock, holding=holding_of(self.foundation))

    def priced(self, *prices: tuple[str, str]) -> None:
        """Give segments a price by the beginnings of numbers."""
        sender = cast(Any, self.system.delivery.channel.sender)
        sender.budget = SegmentBudget(prices=tuple((begins, Decimal(price)) for begins, price in prices))

    async def hears(self, answer: str, text: str = "tell me all") -> list[str]:
        """Let the person write, and the model say this; return what they read."""
        self.system.model.script[:] = [says(answer)]
        return await self.says(text)

    async def says(self, text: str) -> list[str]:
        """Let the person write; return what they read."""
        seen = len(self.system.delivery.channel.bubbles())
        await self.system.say(text)
        return [bubble.text for bubble in self.system.delivery.channel.bubbles()[seen:]]

    async def waits(self, **time: float) -> list[str]:
        """Let time pass; return what the person reads then."""
        seen = len(self.system.delivery.channel.bubbles())
        self.clock.move(timedelta(**time))
        await end_waits(self.store.database, self.clock, self.store.wakeups, answer_links(self.foundation))
        await self.system.work()
        return [bubble.text for bubble in self.system.delivery.channel.bubbles()[seen:]]

    async def ways(self) -> list[object]:
        """Return what became of the held answers."""
        return await self.store.column("select way from held_answers order by asked_at")


@asynccontextmanager
async def open_phone(
    database_url: str, channel: str = "sms", *, chat: bool = False, twice: bool = False
) -> AsyncIterator[Phone]:
    """Open it all; the person has written before, in both places."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock(), twice=twice) as system:
        phone = Phone(system, foundation_of(system.delivery.store.database, system.clock))
        phone.reopen()
        await phone.hears("Hello.", "hello")
        if not chat:
            yield phone
            return
        store = phone.store
        inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, clock=system.clock)
        async with open_harness(TelegramHarness, inbox) as telegram:
            address = telegram.address()
            await store.admin.execute(
                "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
                " select tenant_id, 'tg', 'telegram', $1, $2, 'open' from tenants",
                address.account,
                address.peer,
            )
            phone.chat = telegram
            phone.reopen()
            system.model.script[:] = [says("Hello.")]
            await telegram.said("hello")
            await system.work()
            yield phone


def without(text: str, note: str = "(... more: reply MORE)") -> str:
    """Return a portion without the note at its end."""
    return text.removesuffix(note).strip()
