"""The tasks of a worker: the engine, the executors of runs, and the runner that takes due tasks."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

from abilities.events.bus import EventBus
from abilities.events.past_mail import PastMail
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.for_others import DUE, settle_wishes
from abilities.tasks.retention import prune_runs
from abilities.tasks.runner import TriggerRunner
from abilities.tasks.runs.condition_checks import ConditionChecks
from abilities.tasks.runs.executors import RunExecutors
from abilities.tasks.runs.notifications import Notices
from abilities.tasks.runs.read_tools import OrchestratorTools
from abilities.tasks.service import SPARED
from abilities.tasks.types import ActionExecutor
from core.errors import ConfigError
from core.http.pages import PageReader
from core.ids import make_id
from core.journal.types import Effect
from core.notifications.types import Notifier
from core.turns.orchestrator import Orchestrator
from core.turns.runs import Runs
from core.turns.services import TaskEngine
from onevalet.ability import Repeated, Work
from onevalet.foundations import OpeningFoundation, PluginClasses, WorkFoundation


@dataclass(frozen=True, slots=True)
class Triggers:
    """`runs` does the work of runs within turns, `runner` starts the runs that are due."""

    runs: RunExecutors
    runner: TriggerRunner


def open_engine(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
    """Offer the engine, with the executors that plugins bring."""
    engine = TriggerEngine(
        foundation.database,
        make_id,
        foundation.clock,
        foundation.wakeups,
        event_bus=foundation.opened.get(EventBus),
        executors=executors_of(foundation.plugins),
    )
    engine.currency = foundation.settings.onevalet_currency
    foundation.opened.add(TriggerEngine, engine)
    foundation.opened.add(TaskEngine, engine)


def join_turns(foundation: WorkFoundation) -> None:
    """Offer the executors of runs."""
    opened = foundation.opened
    opened.get(TriggerEngine).mail = opened.find(PastMail)
    pages = opened.find(PageReader)
    triggers = build_triggers(opened.get(TriggerEngine), foundation.orchestrator, foundation.notifier, pages)
    opened.add(Triggers, triggers)
    opened.add(Runs, triggers.runs)


def open_work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Work | Repeated]:
    """Return the work of tasks: runs are fired, their notices handed over, old runs deleted."""
    engine = foundation.opened.get(TriggerEngine)
    runner, store = foundation.opened.get(Triggers).runner, engine.store
    kept = timedelta(days=foundation.settings.onevalet_kept_days)
    runner.watched = True
    return [
        Work("events to tasks", runner.listen),
        Work("due tasks", runner.take, "tasks", runner.look, by_peoples_clock=True),
        Work("notices of runs", runner.tell, "notices", runner.notices.wake),
        Repeated("runs after quiet hours", timedelta(minutes=5), engine.make_up, SPARED, by_peoples_clock=True),
        Repeated(
            "reminders for others",
            timedelta(minutes=5),
            lambda: settle_wishes(engine, foundation.notifier),
            DUE,
            by_peoples_clock=True,
        ),
        Repeated("old runs", timedelta(minutes=10), lambda: prune_runs(store, kept), for_all=True),
    ]


def build_triggers(
    engine: TriggerEngine, orchestrator: Orchestrator, notifier: Notifier, pages: PageReader | None = None
) -> Triggers:
    """Create both, over the same engine. `pages` reads pages of the web that are watched."""
    notices = Notices(engine.store, notifier, later=engine.later)
    reading = OrchestratorTools(orchestrator, engine.store, make_id, pages)
    engine.check_watches_with(reading.check)
    looking = ConditionChecks(engine, reading, engine.clock, make_id)
    engine.try_watches_with(looking.first_look)
    runs = RunExecutors(engine, orchestrator, notifier, notices, reading)
    return Triggers(runs, TriggerRunner(engine, looking, notices, engine.clock))


def executors_of(plugins: PluginClasses) -> Sequence[ActionExecutor]:
    """Create an executor of each class that plugins bring; raise `ConfigError` for two of the same name."""
    made: dict[str, ActionExecutor] = {}
    for kind in plugins.of(ActionExecutor, "execute"):
        if not kind.name or kind.name in made or kind.effect not in tuple(Effect):
            reason = f"the name {kind.name!r} is another's" if kind.name else "it has no name"
            reason = reason if kind.effect in tuple(Effect) else f"effect={kind.effect!r} is not known"
            raise ConfigError(f"The executor {kind.__module__}.{kind.__qualname__} cannot be used: {reason}.")
        made[kind.name] = plugins.make(kind)
    return list(made.values())
