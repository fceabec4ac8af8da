"""The process around a worker's parts: its runners, its ways in to sweep, and its table of maintenance."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from core.agents.pool import Pool
from core.ids import make_id
from core.queue.due import DueWatch, DueWork
from jobs.delivery.card_updates import Redraws
from jobs.delivery.redraws import RedrawRunner
from jobs.supervision import Part, PartSupervisor
from jobs.upkeep.catchup import CatchUp
from jobs.upkeep.schedule import DUE_ANYWAY, Maintenance
from jobs.worker import WorkerProcess
from onevalet.wiring.ability_work import open_work
from onevalet.wiring.connections import redis_url
from onevalet.wiring.inbound import build_inbound
from onevalet.wiring.upkeep import kept_for, more_chores
from onevalet.wiring.worker_parts import WorkerParts


def build_process(
    stack: AsyncExitStack,
    parts: WorkerParts,
    ask_for_process: Callable[[], None] | None,
    note_stalls: Callable[[Sequence[str]], None] | None,
) -> WorkerProcess:
    """Create the process of a worker; `stack` closes the channels that it sweeps for missed messages."""
    connections, assistant, clock = parts.connections, parts.assistant, parts.clock
    settings, database = connections.settings, connections.database
    inbound = build_inbound(connections, clock)
    for channel in inbound:
        stack.push_async_callback(channel.stop)
    supervisor = PartSupervisor()
    maintenance = Maintenance(
        database=database,
        clock=clock,
        make_id=make_id,
        worker=parts.name,
        supervisor=supervisor,
        pool=Pool(database, connections.wakeups),
        approvals=assistant.approvals,
        notifications=parts.outbound.service,
        catch_up=CatchUp(inbound, connections.way_in, parts.name),
        kept=kept_for(settings),
        files=assistant.files,
        ask_for_process=ask_for_process,
        note_stalls=note_stalls,
    )
    redis, watch = redis_url(settings), DueWatch(database, clock)
    of_abilities = open_work(stack, parts.foundation, watch)
    chores = (*maintenance.table(), *maintenance.chores(), *more_chores(parts), *of_abilities.chores)
    redraws = RedrawRunner(Redraws(database), parts.outbound.channels, clock, DUE_ANYWAY, later=connections.wakeups)
    watch.call(DueWork.REDRAWS, redraws.look)
    upkeep = (Part("redraws", redraws.poll), *of_abilities.parts, *maintenance.parts())
    process = WorkerProcess(redis, parts.turns, parts.delivery, upkeep, of_abilities.claimed, supervisor, watch, chores)
    # A turn's messages go out from here, without a way through Redis.
    connections.wakeups.offer_deliveries(process.take_delivery)
    return process
