"""What abilities have a worker do beside its turns: one loop over the declarations."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

from core.queue.due import DueWatch
from jobs.periodic import Periodic
from jobs.supervision import Part
from onevalet.ability import Repeated, Work, WorkFoundation
from onevalet.ability_registry import all_abilities
from onevalet.wiring.http import build_http, guarded_client
from onevalet.wiring.worker_parts import WorkerParts


@dataclass(frozen=True, slots=True)
class AbilityWork:
    """The parts that a worker runs, and the rare work that one worker does for all."""

    parts: list[Part] = field(default_factory=list)
    chores: list[Periodic] = field(default_factory=list)


def open_work(stack: AsyncExitStack, parts: WorkerParts, watch: DueWatch) -> AbilityWork:
    """Return the work of all abilities, which `watch` calls when it is due; `stack` closes it."""
    settings, assistant = parts.connections.settings, parts.assistant
    foundation = WorkFoundation(
        settings,
        parts.connections.database,
        partial(guarded_client, settings),
        clock=parts.clock,
        accounts=assistant.accounts.for_tenant,
        worker=parts.name,
        events=assistant.engine.event_bus,
        notifier=parts.outbound.service,
        tool_http=partial(build_http, settings),
    )
    found = AbilityWork()
    loads = (ability.work for ability in all_abilities() if ability.work is not None)
    for work in (work for load in loads for work in load(stack, foundation)):
        _add(work, found, watch)
    return found


def _add(work: Work | Repeated, found: AbilityWork, watch: DueWatch) -> None:
    if isinstance(work, Work):
        found.parts.append(Part(work.name, work.run))
        watch.call(work.due, work.look, by_peoples_clock=work.by_peoples_clock)
        return
    periodic = Periodic(work.name, work.every, work.once)
    if work.for_all:
        found.chores.append(periodic)
        return
    found.parts.append(Part(work.name, periodic.run))
    if work.due:
        watch.call(work.due, periodic.look, by_peoples_clock=work.by_peoples_clock)
