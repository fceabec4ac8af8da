"""The triggers of a worker, built: the engine, what its runs are done by, and what keeps it going."""

from dataclasses import dataclass
from datetime import timedelta

from core.clock import Clock
from core.db.database import Database
from core.events.bus import EventBus
from core.ids import make_id
from core.notifications.types import Notifier
from core.queue.wakeups import Wakeups
from core.triggers.engine import TriggerEngine
from core.triggers.runs.condition_checks import Looking
from core.triggers.runs.executors import RunExecutors
from core.triggers.runs.notifications import Notices
from core.triggers.runs.read_tools import OrchestratorTools
from core.turns.orchestrator import Orchestrator
from jobs.runs import KEPT, RunUpkeep
from jobs.supervision import Part
from jobs.triggers import TriggerRunner


@dataclass(frozen=True, slots=True)
class Triggers:
    """`runs` does the work of runs within turns, `runner` takes what is due, `parts` run for ever."""

    runs: RunExecutors
    runner: TriggerRunner
    parts: tuple[Part, ...]


def build_engine(redis_url: str, database: Database, wakeups: Wakeups, clock: Clock) -> TriggerEngine:
    """Make the engine with a bus of its own; whoever builds it closes `engine.event_bus`."""
    return TriggerEngine(database, make_id, clock, wakeups, event_bus=EventBus(redis_url, database, make_id))


def build_triggers(
    engine: TriggerEngine, orchestrator: Orchestrator, notifier: Notifier, kept: timedelta = KEPT
) -> Triggers:
    """Make what a worker runs of the triggers; runs are kept for so long once they are over."""
    notices = Notices(engine.store, notifier)
    reading = OrchestratorTools(orchestrator, engine.store, make_id)
    engine.watch_with(reading)
    looking = Looking(engine, reading, engine.clock, make_id)
    runs = RunExecutors(engine, orchestrator, notifier, notices)
    runner = TriggerRunner(engine, looking, notices, engine.clock)
    return Triggers(runs, runner, (*runner.parts(), Part("old runs", RunUpkeep(engine.store, kept).run)))
