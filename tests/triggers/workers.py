"""Fork workers of the trigger engine quickly: everything is imported once.

Each line on standard input is an order as JSON: {"start": name} -> {"pid": 1}; {"end": pid, "signal": 9} -> {"pid": 1}.
"""

import asyncio
import gc
import json
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog

from abilities.events.bus import EventBus
from abilities.events.types import Event
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.runner import TriggerRunner
from abilities.tasks.runs.condition_checks import ConditionChecks
from abilities.tasks.runs.executors import RunExecutors
from abilities.tasks.runs.notifications import Notices
from abilities.tasks.runs.read_tools import OrchestratorTools
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.messaging.outbox import Outbox
from core.queue.wakeups import RedisWakeups
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from core.turns.types import TurnRequest, TurnResult, TurnState
from jobs.delivery.runner import DeliveryRunner
from jobs.supervision import Part
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from jobs.worker import WorkerProcess
from tests.abilities.tasks.conversation_notifier import ConversationNotifier
from tests.core.builders import FakeModel


class Instant(Orchestrator):
    """Answers at once."""

    async def handle_message(self, request: TurnRequest) -> TurnResult:
        """Say that it is done."""
        return TurnResult(TurnState.DONE, f"done in {os.getpid()}")


class Slow(TriggerEngine):
    """Takes ten milliseconds over each event, and writes down that it began."""

    async def _on_event(self, event: Event) -> None:
        async with self._database.tenant(event.tenant_id) as connection:
            await connection.execute("insert into begun (event_id, pid) values ($1, $2)", event.id, os.getpid())
        await asyncio.sleep(0.01)
        await super()._on_event(event)


def main() -> None:
    """Obey until standard input ends."""
    options = json.loads(sys.argv[1])
    gc.collect()
    gc.freeze()
    _tell({"ready": True})
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            _tell({"pid": _start(order["start"], options)})
        else:
            os.kill(order["end"], order["signal"])
            os.waitpid(order["end"], 0)
            _tell({"pid": order["end"]})


def _start(name: str, options: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        log = os.open(options["log"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        asyncio.run(_work(name, options))
    finally:
        os._exit(70)
    return 0


async def _work(name: str, options: dict[str, Any]) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    lease = timedelta(seconds=options["lease"])
    clock, database = Clock(Path(options["clock"])), Database(options["database"], name=name)
    wakeups = RedisWakeups(options["redis"])
    await wakeups.start()
    bus = EventBus(options["redis"], database, make_id, handle_within=lease)
    engine = Slow(database, make_id, clock, wakeups, event_bus=bus if options.get("handles") else None)
    orchestrator = Instant(FakeModel([]), trigger_engine=engine, clock=clock)
    notifier = ConversationNotifier(database, wakeups)
    notices = Notices(engine.store, notifier, lease)
    runs = RunExecutors(engine, orchestrator, notifier, notices)
    looking = ConditionChecks(engine, OrchestratorTools(orchestrator, engine.store, make_id), clock, make_id)
    turns = TurnRunner(
        TurnStore(database, make_id, lease), orchestrator, wakeups, {}, make_id, name, TurnFeatures(runs=runs)
    )
    delivery = DeliveryRunner(Outbox(database, make_id, lease), {}, name)
    runner = TriggerRunner(engine, looking, notices, clock)
    parts = (Part("events", runner.listen), Part("due tasks", runner.take), Part("notices", runner.tell))
    process = WorkerProcess(options["redis"], turns, delivery, parts)
    process.start()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    os._exit(0)


def _tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
