"""The work of abilities in a worker beside its turns: a loop over the declarations."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from core.budgets.budgeted_model import BudgetedModel
from core.budgets.self_started import MayAsk, OutsideQuietHours, SelfStarted, SparedCalls
from core.queue.claims import ClaimedWork
from core.queue.due import DueWatch
from jobs.later.cron import Chore
from jobs.supervision import Part
from notify.service import NotificationService
from onevalet.ability import Repeated, Work
from onevalet.ability_registry import all_abilities
from onevalet.foundations import WorkFoundation
from onevalet.wiring.assistant import Assistant


@dataclass(frozen=True, slots=True)
class AbilityWork:
    """The parts that a worker runs, the rows that it claims, and its periodic chores."""

    parts: list[Part] = field(default_factory=list)
    claimed: list[ClaimedWork[Any]] = field(default_factory=list)
    chores: list[Chore] = field(default_factory=list)


def join_assistant(assistant: Assistant, worker: str, service: NotificationService) -> WorkFoundation:
    """Open the abilities' objects that need the assistant; return the dependencies of their work."""
    below = assistant.foundation
    foundation = WorkFoundation(
        below.settings,
        below.database,
        below.http,
        below.clock,
        below.accounts,
        below.wakeups,
        below.redis_url,
        below.tool_http,
        below.plugins,
        below.opened,
        below.channels,
        worker,
        service,
        service.send,
        assistant.orchestrator,
        assistant.orchestrator.momex,
        BudgetedModel(assistant.small_model, below.database, assistant.orchestrator.budgets),
    )
    for ability in all_abilities():
        if ability.joins is not None:
            ability.joins(foundation)
    return foundation


def open_work(stack: AsyncExitStack, foundation: WorkFoundation, watch: DueWatch) -> AbilityWork:
    """Return the work of all abilities, which `watch` calls when it is due; `stack` closes it."""
    spared = foundation.opened.find(SparedCalls)
    found, may_ask = AbilityWork(), OutsideQuietHours(foundation.database, foundation.clock, spared)
    loads = (ability.work for ability in all_abilities() if ability.work is not None)
    for work in (work for load in loads for work in load(stack, foundation)):
        _add(work, found, watch, may_ask)
    return found


def _add(work: Work | Repeated | ClaimedWork[Any], found: AbilityWork, watch: DueWatch, may_ask: MayAsk) -> None:
    # Nobody waits for the rest of it, which is self-started: its model calls keep to people's quiet hours.
    if isinstance(work, ClaimedWork):
        # The worker's process has the watch call it.
        found.claimed.append(work if work.awaited else replace(work, run=SelfStarted(may_ask, work.run)))
        return
    if isinstance(work, Work):
        found.parts.append(Part(work.name, SelfStarted(may_ask, work.run)))
        if work.due:
            watch.call(work.due, work.look, by_peoples_clock=work.by_peoples_clock)
        return
    once = SelfStarted(may_ask, work.once)
    found.chores.append(Chore(work.name, work.every, once, work.due, work.by_peoples_clock, work.for_all))


@asynccontextmanager
async def around_work(foundation: WorkFoundation) -> AsyncIterator[None]:
    """Run the abilities' `around` inside the block. Raises `ConfigError` if any does not start."""
    async with AsyncExitStack() as stack:
        for ability in all_abilities():
            if ability.around is not None:
                await stack.enter_async_context(ability.around(foundation))
        yield
