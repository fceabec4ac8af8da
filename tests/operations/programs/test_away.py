"""Promises 1 and 14: Postgres stops while a program asks; it is told what to do, and nothing is asked twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult

from core.approvals.store import ApprovalStore
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.people.access_policy import Access, Policy
from core.queue.wakeups import NoWakeups
from onevalet.ability_registry import all_abilities
from onevalet.migrating import migrate
from onevalet.servers.postgres import Postgres
from operations.programs.asking import ProgramRequests
from operations.programs.sdk import build_server
from operations.programs.tokens import Client as Program
from operations.programs.tokens import ClientTokens
from operations.programs.tools import LONGEST_WAIT, ClientTools
from operations.programs.types import ClientTool
from tests.core.harness import opened
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.services import private_postgres

pytestmark = pytest.mark.slow  # a Postgres of its own

AWAY = "The assistant cannot be reached just now."
ASKED = {"message": "When is the dentist?", "request_id": "r1"}


AGAIN = "Ask again in a moment with the same request_id, 'r1': what was taken in already is not asked twice."


@dataclass(slots=True)
class Front:
    """A program's way to what it asks, over a Postgres that may stop."""

    postgres: Postgres
    database: Database
    tokens: ClientTokens
    secret: str
    known: Program | None = None
    """Who asks, where that was found before Postgres stopped."""

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Client]:
        """Connect the program."""
        database, clock = self.database, Clock()
        inbox = Inbox(database, NoWakeups(), make_id, Access(Policy.ALLOWLIST), clock=clock)
        approvals = ApprovalStore(database, NoWakeups())
        asking = ProgramRequests(database, inbox)
        tools = ClientTools(asking, approvals, database, None, of_abilities(database))
        async with Client(build_server(tools, self._who, "0")) as client:
            yield client

    async def asked(self) -> int:
        """Return how much has been asked."""
        async with opened(self.postgres.url) as store:
            return await store.db.inbound.count()

    async def _who(self, _: Any) -> Program | None:
        return self.known or await self.tokens.client(self.secret, Clock().now())


def of_abilities(database: Database) -> list[ClientTool]:
    """Return what abilities let programs do."""
    return [tool for ability in all_abilities() if ability.client_tools for tool in ability.client_tools(database)]


@pytest.fixture
async def front() -> AsyncIterator[Front]:
    async with private_postgres() as postgres:
        await migrate(postgres.url)
        async with opened(postgres.url) as store:
            await store.db.tenants.add(tenant_id="ann")
        database = Database(postgres.url, patience=0.5)
        tokens = ClientTokens(database, make_id, [b"key"])
        made = await tokens.make("ann", "laptop", Clock().now(), None)
        assert made is not None
        yield Front(postgres, database, tokens, made.secret)
        await database.close()


async def calls(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    """Return what a tool tells, and whether that is an error."""
    told: CallToolResult = await client.call_tool(tool, arguments)
    return str(getattr(told.content[0], "text", "")), bool(told.is_error)


async def test_promises_1_and_14_a_program_is_told_to_ask_again(front: Front) -> None:
    async with front.connect() as client:
        asking = asyncio.create_task(calls(client, "ask", **ASKED))
        await eventually(front.asked, "what was asked")
        front.known = await front.tokens.client(front.secret, Clock().now())
        await front.postgres.stop()
        assert await asking == (f"{AWAY} {AGAIN}", True)
        for known in (front.known, None):  # in the middle of a call, and before it
            front.known = known
            assert await calls(client, "ask", **ASKED) == (f"{AWAY} {AGAIN}", True)
            text, failed = await calls(client, "ask", message="When is the dentist?")
            assert failed
            assert text.endswith("give a request_id of your own: with one, a repeat is asked only once.")
            for tool in ("list_pending_approvals", *(each.name for each in of_abilities(front.database))):
                assert await calls(client, tool) == (f"{AWAY} Try again in a moment.", True)
    await front.postgres.start()
    front.database._patience = PATIENCE
    async with front.connect() as client:
        at_once = calls(client, "ask", **ASKED, wait_seconds=0)
        text, failed = await asyncio.wait_for(at_once, LONGEST_WAIT - 5)  # nobody answers here
        wrong, refused = await calls(client, "get_answer", id=text.split(" id: ")[1], wait_seconds=LONGEST_WAIT + 1)
    assert (text.split(" id:")[0], failed) == ("Not answered yet: call get_answer with this id.", False)
    assert (refused, "wait_seconds" in wrong) == (True, True)
    assert await front.asked() == 1
