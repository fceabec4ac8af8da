"""The triggers of a worker: the engine, the executors of its runs, and the runner that takes what is due."""

from dataclasses import dataclass

from abilities.events.bus import EventBus
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.runner import TriggerRunner
from abilities.tasks.runs.condition_checks import ConditionChecks
from abilities.tasks.runs.executors import RunExecutors
from abilities.tasks.runs.notifications import Notices
from abilities.tasks.runs.read_tools import OrchestratorTools
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.notifications.types import Notifier
from core.queue.wakeups import Wakeups
from core.turns.orchestrator import Orchestrator


@dataclass(frozen=True, slots=True)
class Triggers:
    """`runs` does the work of runs within turns, `runner` starts the runs that are due."""

    runs: RunExecutors
    runner: TriggerRunner


def build_engine(redis_url: str, database: Database, wakeups: Wakeups, clock: Clock) -> TriggerEngine:
    """Create the engine with an event bus of its own; the caller closes `engine.event_bus`."""
    return TriggerEngine(database, make_id, clock, wakeups, event_bus=EventBus(redis_url, database, make_id))


def build_triggers(engine: TriggerEngine, orchestrator: Orchestrator, notifier: Notifier) -> Triggers:
    notices = Notices(engine.store, notifier)
    reading = OrchestratorTools(orchestrator, engine.store, make_id)
    engine.check_watches_with(reading.check)
    looking = ConditionChecks(engine, reading, engine.clock, make_id)
    engine.try_watches_with(looking.first_look)
    runs = RunExecutors(engine, orchestrator, notifier, notices)
    return Triggers(runs, TriggerRunner(engine, looking, notices, engine.clock))
