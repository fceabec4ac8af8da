"""A person whose assistant acts for them: with a card, by a standing consent, unasked, and with an unknown end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date
from functools import partial

from abilities.receipts.store import ReceiptReader, Receipts
from abilities.receipts.types import Days, Receipt
from agents import consents
from core.agents.registry import AgentRegistry
from core.clock import Clock
from core.tools.tool import Tool, tool
from onevalet import AgentResult, AgentStatus, InputField, StandardAgent, valet
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.test_standing_consent import post_update

ALWAYS = Days(date(2020, 1, 1), date(2040, 12, 31))
MAIL = {"to": "bo@example.com", "subject": "Lunch"}


@valet(name="BookAgent", effect="once")
class BookAgent(StandardAgent):
    """Book a table."""

    place = InputField("Where?")

    def needs_approval(self) -> bool:
        return True

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(status=AgentStatus.COMPLETED, raw_message=f"Booked at {self.place}.")


@asynccontextmanager
async def open_acting(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system; `sent` is what was done."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        database = system.delivery.store.database

        @tool(name="ring", effect="once")
        async def ring(bell: str) -> str:
            """Ring a bell."""
            system.sent.append({"bell": bell})
            return f"Rang {bell}."

        @tool(name="jot", effect="idempotent")
        async def jot(text: str) -> str:
            """Jot something down."""
            return f"Jotted {text}."

        @tool(name="look", effect="read")
        async def look() -> str:
            """Look."""
            return "Nothing there."

        @tool(name="launch", effect="once", needs_approval=True)
        async def launch(what: str) -> str:
            """Launch something, of which nobody hears again."""
            system.sent.append({"what": what})
            raise RuntimeError("no answer")

        tools = [each for each in vars(consents).values() if isinstance(each, Tool)]
        system.more = [ring, jot, look, launch, post_update(system), *tools]
        system.options = {
            "agents": AgentRegistry([consents.AllowWithoutAskingAgent, BookAgent]),
            "services": {Receipts: lambda tenant_id, _: Receipts(database, Clock(), tenant_id)},
        }
        yield system


async def tenant_of(system: Approving) -> str:
    """Return the person's id."""
    return str(await system.delivery.store.one("select tenant_id from tenants order by created_at limit 1"))


async def reader_of(system: Approving, tenant: str = "") -> ReceiptReader:
    """Return the reader of a person's receipts."""
    tenant = tenant or await tenant_of(system)
    return ReceiptReader(partial(system.delivery.store.database.tenant_rows, tenant), UTC)


async def receipts_of(system: Approving, tenant: str = "") -> list[Receipt]:
    """Return a person's receipts, the oldest first."""
    reader = await reader_of(system, tenant)
    receipts = [receipt async for receipt in reader.in_order(ALWAYS)]
    assert (await reader.count(ALWAYS)).receipts == len(receipts)
    assert [one.told for one in await reader.newest(ALWAYS, len(receipts) + 1)] == [
        one.told for one in reversed(receipts)
    ]
    return receipts


async def file_bytes(system: Approving, tenant: str = "") -> bytes:
    """Return the file of a person's receipts."""
    from abilities.receipts.receipts_file import Head, written
    from tests.abilities.receipts.made import BEGAN, KEY

    tenant = tenant or await tenant_of(system)
    reader = await reader_of(system, tenant)
    head = Head(tenant, ALWAYS, BEGAN, "0.1.0")
    return b"".join([line async for line in written(head, reader.in_order(ALWAYS), KEY)])


def only(receipts: list[Receipt], tool: str) -> Receipt:
    """Return the one receipt of a tool."""
    (found,) = [receipt for receipt in receipts if receipt.tool == tool]
    return found
