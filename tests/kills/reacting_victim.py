"""A process that receives a reaction, or answers thanks, and kills itself on the way; its words are URL and ORDER.

ORDER is JSON. `point`: the function of the database before or after which it dies. With `reaction`, a reaction comes
in; with `telegram`, the URL of an emulated Bot API, the waiting turn is run.
"""

import asyncio
import json
import os
import signal
import sys
from datetime import timedelta
from typing import Any

import asyncpg

from abilities.reactions.thanks import Thanks
from core.db.database import Database
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.messaging.inbound import Reaction
from core.messaging.messages import Address
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.runner import TurnRunner
from notify.telegram.send import TelegramNotification
from onevalet.wiring.abilities import use_abilities
from tests.contract.canaries import TELEGRAM
from tests.core.builders import FakeModel
from tests.core.harness import OPEN, RecordedWakeups


class DyingDatabase(Database):
    """A database at one of whose statements the process dies."""

    def __init__(self, url: str, point: str) -> None:
        super().__init__(url)
        self._function, _, self._when = point.partition(" ")

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run the statement, and die before it or once it is committed."""
        here = f"{self._function}(" in statement
        if here and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        rows = await super().rows(statement, *args)
        if here:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows


def reaction_of(told: dict[str, Any]) -> Reaction:
    """Return the reaction that an order has."""
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    values["address"] = Address(**told["address"])
    return Reaction(**values)


def main() -> None:
    """Do what is asked until death."""
    use_abilities()
    asyncio.run(_work(sys.argv[1], json.loads(sys.argv[2])))
    sys.exit("it was to die")


async def _work(url: str, order: dict[str, Any]) -> None:
    database, wakeups = DyingDatabase(url, order["point"]), RecordedWakeups()
    if told := order.get("reaction"):
        await Inbox(database, wakeups, make_id, OPEN).accept(reaction_of(told))
        return
    sender = TelegramNotification(bot_token=TELEGRAM.bot_token, api_url=order["telegram"])
    thanks = Thanks({"telegram": sender})
    orchestrator = Orchestrator(FakeModel([]), services={Thanks: lambda _tenant, _turn: thanks})
    store = TurnStore(database, make_id, timedelta(seconds=30))
    turns = TurnRunner(store, orchestrator, wakeups, {}, make_id, "victim")
    lease = await turns.claim(None)
    assert lease is not None
    await turns.run(lease)
