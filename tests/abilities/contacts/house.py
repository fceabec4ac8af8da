"""A person who knows people, here and in address books on a real Radicale, and the calls that a model would make."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from abilities.contacts.directory import People, people_of
from core.agents.standard_agent import StandardAgent
from core.credentials.types import Account, OpenAccount
from core.errors import AccountMissing, RefusedLogin, ToolFailed
from core.http.guarded_client import GuardedClient
from core.http.types import HttpResponse
from core.tools.context import ToolExecutionContext
from core.tools.tool import Tool
from onevalet.testing import MemoryStorage, StandingClock, make_context
from tests.agents.services import no_loop
from tests.servers.radicale import Radicale


def card(uid: str, name: str, *lines: str) -> str:
    """Return a vCard as another program writes it."""
    more = "".join(f"{line}\r\n" for line in lines)
    return f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{uid}\r\nFN:{name}\r\nN:{name};;;;\r\n{more}END:VCARD\r\n"


@dataclass(slots=True)
class Connected:
    """The accounts of one person."""

    opened: list[OpenAccount]
    refusals: list[RefusedLogin] = field(default_factory=list)

    async def list(self, need: str = "") -> Sequence[Account]:
        return [one.account for one in self.opened]

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        for one in self.opened:
            if account_name in ("", one.account.name):
                return one
        raise AccountMissing("Connect an account first.", need)

    async def refused(self, login: RefusedLogin) -> bool:
        self.refusals.append(login)
        return True


@dataclass(slots=True)
class Said:
    """What the person has written, who lives in the United States."""

    words: list[str] = field(default_factory=list)
    channels: Sequence[str] = ("sms",)

    async def own_words(self) -> Sequence[str]:
        return self.words

    async def region(self) -> str:
        return "US"


@dataclass(slots=True)
class Counting:
    """The guarded client, with the method and the size of each request's answer; `away`: no server answers."""

    client: GuardedClient
    away: bool = False
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def request(self, method: str, url: str, **more: Any) -> HttpResponse:
        if self.away:
            raise ToolFailed("The server does not answer.")
        response = await self.client.request(method, url, **more)
        self.asked.append((method, len(response.body)))
        return response


@dataclass(slots=True)
class House:
    """One person's contacts. `undo` takes back what the last call offered."""

    radicale: Radicale
    http: Counting
    connected: Connected
    said: Said = field(default_factory=Said)
    storage: MemoryStorage = field(default_factory=MemoryStorage)
    clock: StandingClock = field(default_factory=StandingClock)
    calls: int = 0
    last: ToolExecutionContext = field(default_factory=make_context)

    def context(self, key: str = "") -> ToolExecutionContext:
        self.calls += 1
        self.last = make_context(
            idempotency_key=key or f"turn.0.{self.calls}",
            http=self.http,
            accounts=self.connected,
            person=self.said,
            messages=self.said,
            storage=self.storage,
            clock=self.clock,
        )
        return self.last

    async def told(self, tool: Tool[..., Any], key: Any = "", **arguments: Any) -> str:
        """Return what a tool tells the model."""
        return await tool.run(tool.parse(arguments), self.context(key))

    async def people(self, *, ask: bool = True) -> People:
        return await people_of(self.context(), ask=ask)

    async def names(self) -> list[str]:
        return [contact.name for contact in (await self.people()).contacts]

    async def undo(self, tool: Tool[..., Any]) -> str:
        """Take back what the last call offered."""
        [offer] = self.last.undo.offered
        assert offer.tool == tool.name
        return await self.told(tool, **offer.arguments)

    async def asks(self, agent: type[StandardAgent], **values: str) -> StandardAgent | str:
        """Call an agent; return it where it waits for approval, else what it asks."""
        inputs = agent.valet.inputs
        made = agent(
            self.context(), no_loop, values={name: inputs[name].check(value) for name, value in values.items()}
        )
        found = await made.ask_first()
        return next(iter(found.values())) if found else made


@asynccontextmanager
async def open_house(radicale: Radicale) -> AsyncIterator[House]:
    client = GuardedClient(allowed_hosts=[radicale.host])
    try:
        yield House(radicale, Counting(client), Connected([radicale.account()]))
    finally:
        await client.close()
