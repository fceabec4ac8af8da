"""A worker that dies by SIGKILL at one statement of a turn, or of the work on joint consents; past the last it ends."""

import asyncio
import sys
from pathlib import Path
from typing import cast

from abilities.household.households import Households
from abilities.joint.deciders import HouseholdDeciders
from abilities.joint.settling import Settling
from abilities.joint.tools import ask_both
from core.approvals.other_deciders import OtherDeciders
from core.approvals.store import ApprovalStore
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.json_types import JsonObject
from core.llm.types import ModelAnswer, ModelRequest, Role
from core.messaging.channels import NotificationChannel
from core.tools.context import ToolExecutionContext
from core.tools.storage import Storage
from core.tools.tool import AnyTool, tool
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from notify.service import NotificationService
from notify.store import NotificationStore
from onevalet.wiring.abilities import use_abilities
from tests.abilities.household.victims import DeadlyDatabase
from tests.core.builders import FakeModel, says, wants
from tests.core.harness import LEASE, RecordedWakeups

ROOM: JsonObject = {"inn": "The Swan", "nights": 2}
_ROUNDS = 4


def booking(book: Path) -> AnyTool:
    """Return the tool that books, by its key: a repeat books nothing more."""

    @tool(name="book_room", effect="idempotent", needs_approval=True)
    async def book_room(inn: str, nights: int, context: ToolExecutionContext) -> str:
        """Book a room."""
        with book.open("a") as file:
            file.write(f"{context.idempotency_key} {inn} {nights}\n")
        return "Booked."

    return book_room


class Wanting(FakeModel):
    """A model that books if Grace agrees, and then says what came of it."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Ask both, until there is a result."""
        last = request.messages[-1]
        if last.role is Role.TOOL:
            return says(f"So: {last.text}")
        return wants(("ask_both", {"who": "Grace", "action": "book_room", "arguments": ROOM}))


def services_of(database: Database, clock: Clock) -> dict[type, object]:
    """Return the service that the ability brings, and that of the household."""
    return {
        OtherDeciders: lambda tenant_id, _: HouseholdDeciders(database, clock, tenant_id, ("sms",)),
        Households: lambda tenant_id, turn_id: Households(database, clock, tenant_id, turn_id),
    }


async def work(database: Database, name: str, book: Path) -> None:
    """Run all turns, and all that joint consents wait for, a few times over."""
    clock, wakeups = Clock(), RecordedWakeups()
    approvals = ApprovalStore(database, wakeups)
    runner = TurnRunner(
        TurnStore(database, make_id, LEASE),
        Orchestrator(
            Wanting([]),
            tools=[booking(book), ask_both],
            approvals=approvals,
            clock=clock,
            storage=Storage(database),
            services=services_of(database, clock),  # type: ignore[arg-type]
        ),
        wakeups,
        {},
        make_id,
        name,
        TurnFeatures(None, approvals=approvals),
    )
    notifier = NotificationService(NotificationStore(database, make_id), ["sms"], wakeups, clock, make_id)
    settling = Settling(database, clock, wakeups, approvals, {"sms": cast(NotificationChannel, object())}, notifier)
    for _ in range(_ROUNDS):
        while lease := await runner.claim(None):
            await runner.run(lease)
        await settling.once()
    await database.close()


def main() -> None:
    """Work until the point."""
    url, point, book = sys.argv[1:]
    use_abilities()
    asyncio.run(work(DeadlyDatabase(url, point), f"victim {point}", Path(book)))
