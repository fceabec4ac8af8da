"""A system whose tools need accounts, over Telegram: what waits is the same on every channel."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from abilities.accounts.accounts import Accounts
from abilities.accounts.prompts import ConnectLink, LinkAsker
from abilities.accounts.services import Services
from abilities.accounts.waiting import WaitingForAccounts
from core.agents.registry import AgentRegistry
from core.credentials.store import CredentialStore
from core.json_types import JsonObject
from core.tools.account_access import MissingAccess
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import FakeModel, Step
from tests.core.credentials.harness import new_key, store_with
from tests.plugins.mailbox import (
    OPENED,
    REFUSING,
    AnswerMailAgent,
    SumUpMailAgent,
    count_mail,
    look_for_mail,
    post_mail,
    read_inbox,
)

IMAP: JsonObject = {"host": "imap.example.org", "port": 993}
ASKED = (
    "To read your mail I need your mailbox: connect it here: https://valet.example.com/connect/1\n"
    "The link works for 15 minutes. For a new one, write: connect"
)


def mailbox(address: str, *, reads: bool = True, sends: bool = True) -> JsonObject:
    """Return the credentials of a mailbox."""
    sender: JsonObject = {"host": "smtp.example.org"} if sends else {}
    return {"user": address, "password": "secret", "from": address} | sender | ({"imap": IMAP} if reads else {})


@dataclass
class Links:
    """Links to connect accounts, numbered."""

    wanted: list[MissingAccess] = field(default_factory=list)
    choices: tuple[str, ...] = ()

    async def parts(self, tenant_id: str, wanted: MissingAccess) -> tuple[MissingAccess, ...]:
        return (wanted,)

    async def link(self, tenant_id: str, conversation_id: str | None, wanted: MissingAccess) -> ConnectLink | None:
        self.wanted.append(wanted)
        return ConnectLink(f"https://valet.example.com/connect/{len(self.wanted)}", self.choices, wanted.account)


@dataclass
class Needing:
    """A system whose tools need accounts."""

    system: Approving
    keeper: CredentialStore
    links: Links
    clock: StandingClock

    async def tenant(self) -> str:
        """Return the only person."""
        return await self.system.delivery.store.db.person()

    async def connect(self, address: str, name: str = "primary", *, reads: bool = True, sends: bool = True) -> bool:
        """Connect a mailbox; return whether anything waited for it."""
        store, tenant = self.system.delivery.store, await self.tenant()
        await self.keeper.save(tenant, "email", mailbox(address, reads=reads, sends=sends), name)
        goes_on = await WaitingForAccounts(store.database, store.wakeups).connected(tenant)
        await self.system.work()
        return goes_on

    def answers(self, *answers: Step) -> None:
        """Have the model answer so from now on."""
        self.system.model = FakeModel(list(answers))

    async def said(self) -> list[str]:
        """Return what the person was told, in order."""
        texts = await self.system.delivery.store.db.outbound.column("text", order="seq")
        return [str(text) for text in texts if str(text)]


@asynccontextmanager
async def open_needing(database_url: str) -> AsyncIterator[Needing]:
    """Yield the system, with one person who has no account."""
    OPENED.clear()
    REFUSING.clear()
    clock = StandingClock()
    async with open_approving(HARNESSES["telegram"], database_url, clock) as system:
        keeper, links = store_with(system.delivery.store.database, new_key()), Links()
        accounts = Accounts(keeper, Services.of())
        system.more = [read_inbox, count_mail, post_mail, look_for_mail]
        system.options = {
            "agents": AgentRegistry([AnswerMailAgent, SumUpMailAgent]),
            "credentials": keeper,
            "accounts": accounts,
            "account_asker": LinkAsker(system.delivery.store.database, links),
        }
        await system.delivery.meet()
        yield Needing(system, keeper, links, clock)
