"""A worker that dies by SIGKILL at one statement of settling a group, or of a turn; it ends as usual past the last."""

import asyncio
import sys
from collections.abc import Mapping
from typing import cast

from abilities.groups.groups import Groups
from abilities.groups.settling import Settling
from abilities.groups.tools import ask_in_own_chat
from core.approvals.store import ApprovalStore
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.llm.types import ModelAnswer, ModelRequest, Role
from core.messaging.channels import NotificationChannel
from core.messaging.messages import Address
from core.tools.tool import tool
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


class Provider:
    """A provider of groups in which everybody may decide."""

    async def may_invite(self, group: Address, user_key: str) -> tuple[bool, str]:
        """Say so."""
        return True, "Us"


@tool(name="send_mail", needs_approval=True)
async def send_mail(to: str) -> str:
    """Send a mail."""
    return f"Sent to {to}."


def answer(request: ModelRequest) -> ModelAnswer:
    """Ask the member in their own chat, where a card is shown."""
    if request.messages[-1].role is Role.TOOL:
        return says("Very well.")
    in_group = "send_mail" not in {spec.name for spec in request.tools}
    return wants(("ask_in_own_chat", {"name": "Ann"})) if in_group else wants(("send_mail", {"to": "sam@example.org"}))


async def work(database: Database, name: str) -> None:
    """Settle all groups, and run all waiting turns."""
    clock, wakeups = Clock(), RecordedWakeups()
    notes = NotificationStore(database, make_id)
    notifier = NotificationService(notes, ["telegram"], wakeups, clock, make_id)
    channels = cast(Mapping[str, NotificationChannel], {"telegram": Provider()})
    await Settling(database, wakeups, channels, notifier).once()
    approvals = ApprovalStore(database, wakeups)
    runner = TurnRunner(
        TurnStore(database, make_id, LEASE),
        Orchestrator(
            FakeModel([answer] * 20),
            tools=[send_mail, ask_in_own_chat],
            approvals=approvals,
            clock=clock,
            services={Groups: lambda tenant, turn: Groups(database, wakeups, tenant, turn)},
        ),
        wakeups,
        {},
        make_id,
        name,
        TurnFeatures(None, approvals=approvals),
    )
    while lease := await runner.claim(None):
        await runner.run(lease)
    await database.close()


def main() -> None:
    """Work until the point."""
    url, point = sys.argv[1:]
    use_abilities()
    asyncio.run(work(DeadlyDatabase(url, point), f"victim {point}"))
