"""The composition root: everything is built and wired here, from the settings, for each kind of process."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial

import structlog
from aiohttp import web

from core.agents.pool import Pool
from core.budgets.budgeted_model import BudgetedModel
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.clock_check import CheckedClock
from core.db.database import Database
from core.errors import ConfigError, StoreUnavailable
from core.events.bus import EventBus
from core.events.sources import EventSources
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.messaging.channels import Channel
from core.messaging.outbox import Outbox
from core.queue.quarantine import Suspects, suspects_wait
from core.queue.wakeups import RedisWakeups
from core.tools.storage import Storage
from core.turns.store import TurnStore
from onevalet.settings import Settings
from onevalet.supervision.loop_watch import worker_watch
from onevalet.supervision.worker_start import ALONE, WorkerStart
from onevalet.wiring.channels import build_channels, build_notification_channels, open_files
from onevalet.wiring.secret_keys import secret_keys

LANE_LEASE = timedelta(seconds=10)
"""How long a dead worker's turn waits to be taken over."""
OUTBOX_LEASE = timedelta(seconds=20)
"""Longer than a provider call may take."""

_log = structlog.get_logger()


def database_url(settings: Settings) -> str:
    """Return DATABASE_URL or say that it is missing."""
    if settings.database_url is None:
        raise ConfigError("DATABASE_URL is not set: give a Postgres address, or use `dev`, which brings one.")
    return settings.database_url.get_secret_value()


def redis_url(settings: Settings) -> str:
    """Return REDIS_URL or say that it is missing."""
    if settings.redis_url is None:
        raise ConfigError("REDIS_URL is not set: give a Redis address, or use `dev`, which brings one.")
    return settings.redis_url.get_secret_value()


@asynccontextmanager
async def open_web(
    settings: Settings, *, extra_routes: Iterable[web.AbstractRouteDef] = (), local: Container[str] = ()
) -> AsyncIterator[tuple[int, list[Channel]]]:
    """Serve the ways in inside the block; return the port and the channels.

    The channels named in `local` take requests from this machine only.
    """
    from channels.events.receive import EventRoutes
    from channels.http.app import build_app, serve
    from channels.http.hosts import check_hosts, served_hosts

    url, bell_url = database_url(settings), redis_url(settings)
    keys = secret_keys(settings)  # lacking here, it would be found out only by whoever connects a service
    async with AsyncExitStack() as stack:
        # Short patience: a provider comes back by itself, and must not wait for its answer.
        database = Database(url, patience=2.5, name="onevalet web")
        stack.push_async_callback(database.close)
        wakeups = RedisWakeups(bell_url)
        await wakeups.start()
        stack.push_async_callback(wakeups.stop)
        clock = Clock(settings.onevalet_clock)
        inbox = Inbox(
            database,
            wakeups,
            make_id,
            settings.access,
            clock=clock,
            waiting=settings.waiting,
            codes_only=settings.codes_only,
        )
        channels = build_channels(settings, inbox, database)
        bus = EventBus(bell_url, database)
        stack.push_async_callback(bus.close)
        events = EventRoutes(EventSources(database, CredentialStore(database, keys), make_id), bus)
        hosts = served_hosts(settings.host, settings.public_url, settings.onevalet_allowed_hosts)
        app = build_app(
            channels,
            ready=database.ready,
            extra_routes=[*events.routes(), *extra_routes],
            hosts=check_hosts(hosts, [channel for channel in channels if channel.name in local]),
        )
        port = await stack.enter_async_context(serve(app, settings.host, settings.port))
        for channel in channels:
            stack.push_async_callback(channel.stop)
            await channel.start()
        _log.info("web_started", port=port, channels=[channel.name for channel in channels], pid=os.getpid())
        yield port, channels


def check_worker(settings: Settings, *, demo: bool = False) -> None:
    """Refuse to be a worker without what every worker needs; raises `ConfigError`."""
    database_url(settings)
    redis_url(settings)
    if not settings.onevalet_model and not demo:
        raise ConfigError("ONEVALET_MODEL is not set: name a model, such as openai/gpt-5, and give its key.")
    secret_keys(settings)


@asynccontextmanager
async def open_worker(
    settings: Settings, *, demo: bool = False, life: WorkerStart = ALONE
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Run turns and deliveries inside the block. `demo`: the demo model may speak when none is configured.

    Return what to wait for until it ends by itself, as only a process for suspects does.
    """
    check_worker(settings, demo=demo)
    url, bell_url, keys = database_url(settings), redis_url(settings), secret_keys(settings)
    from core.approvals.card_updates import Redraws
    from core.approvals.store import ApprovalMerge, ApprovalStore
    from core.events.merge import EventSourceMerge
    from core.memory.merge import MemoryMerge
    from core.notifications.merge import MutedMerge
    from core.people.commands import PersonCommands
    from core.people.linking import Linking
    from core.people.people import People
    from core.people.profile import ProfileMerge
    from jobs.approvals import ApprovalUpkeep
    from jobs.catchup import CatchUp
    from jobs.delivery import DeliveryRunner
    from jobs.health import HealthReport
    from jobs.memory import MemoryRunner, MemoryUpkeep
    from jobs.profile import ProfileRunner
    from jobs.quarantine import SuspectsProcess, SuspectWatch
    from jobs.redraws import RedrawRunner
    from jobs.supervision import Part, Supervisor
    from jobs.tidying import Tidying
    from jobs.turns import TurnRunner
    from jobs.upkeep import Upkeep
    from jobs.worker import WorkerProcess
    from onevalet.wiring.memory import memory_work
    from onevalet.wiring.notifications import build_notifications
    from onevalet.wiring.orchestrator import build_orchestrator
    from onevalet.wiring.triggers import build_engine, build_triggers

    async with AsyncExitStack() as stack:
        # In a container each process has the number of the one before it: who died must not look like who came.
        worker = f"{socket.gethostname()}:{os.getpid()}/{make_id('run')}"
        database = Database(url, patience=15, size=20, name="onevalet worker")
        stack.push_async_callback(database.close)
        wakeups = RedisWakeups(bell_url)
        await wakeups.start()
        stack.push_async_callback(wakeups.stop)
        clock = CheckedClock(settings.onevalet_clock, database)
        approvals = ApprovalStore(database, wakeups, settings.codes_only)
        engine = build_engine(bell_url, database, wakeups, clock)
        if engine.event_bus is not None:
            stack.push_async_callback(engine.event_bus.close)
        keeper = CredentialStore(database, keys)
        files = await stack.enter_async_context(open_files(settings, database))
        orchestrator = await stack.enter_async_context(
            build_orchestrator(settings, clock, Storage(database), keeper, approvals, engine, files)
        )
        channels = build_notification_channels(settings)
        for channel in channels.values():
            stack.push_async_callback(channel.close)
        notifications = build_notifications(database, channels, wakeups, clock, settings.manners)
        kept = timedelta(days=settings.onevalet_runs_kept_days)
        triggers = build_triggers(engine, orchestrator, notifications.service, kept)
        memory = memory_work(orchestrator.momex, database, wakeups)
        # Whoever's tables want more in a merge than their rows moved adds a hook here (core.people.linking.MergeHook).
        merges = (MemoryMerge(), ProfileMerge(), ApprovalMerge(clock), EventSourceMerge(keeper), MutedMerge())
        linking = Linking(database, CredentialStore(database, keys), make_id, hooks=merges)
        people = PersonCommands(linking, People(database, make_id, clock))
        store = TurnStore(database, make_id, LANE_LEASE, channels, life.suspects)
        turns = TurnRunner(
            store,
            orchestrator,
            wakeups,
            channels,
            make_id,
            worker,
            people,
            triggers.runs,
            approvals,
            notifications.service.holds_cards,
        )
        for dead in life.dead:
            try:
                await store.end_leases(dead.worker, dead.hung_on)
            except StoreUnavailable:
                _log.warning("leases_not_ended", worker=dead.worker)  # they end by themselves
        if life.suspects is Suspects.ONLY:
            apart = SuspectsProcess(turns)
            apart.start()
            stack.push_async_callback(apart.stop)
            _log.info("suspects_process_started", worker=worker)
            yield apart.until_idle
            return
        delivery = DeliveryRunner(Outbox(database, make_id, OUTBOX_LEASE), channels, worker, clock=clock)
        inbox = Inbox(
            database,
            wakeups,
            make_id,
            settings.access,
            clock=clock,
            waiting=settings.waiting,
            codes_only=settings.codes_only,
        )
        ways_in = build_channels(settings, inbox, database)
        for way_in in ways_in:
            stack.push_async_callback(way_in.stop)
        redraws = RedrawRunner(Redraws(database), channels)
        supervisor = Supervisor()
        upkeep = [
            Part("approvals", ApprovalUpkeep(approvals, clock, make_id).run),
            Part("redraws", redraws.poll),
            Part("catch-up", CatchUp(ways_in, database, worker).run),
            Part("waiting agents", Upkeep(Pool(database, wakeups), clock).run),
            Part("tidying", Tidying(database, clock).run),
            Part("memory upkeep", MemoryUpkeep(memory, clock).run),
            Part("health", HealthReport(database, worker, clock, supervisor).run),
            *triggers.parts,
            *notifications.parts,
        ]
        if settings.onevalet_profile == "model" and settings.onevalet_model:
            model = BudgetedModel(orchestrator.llm_client, database, orchestrator.budgets)
            profiles = ProfileRunner(database, model, make_id, clock)
            upkeep.append(Part("profiles", profiles.run))
        if life.ask is not None:
            upkeep.append(Part("suspects", SuspectWatch(partial(suspects_wait, database), life.ask).run))
        process = WorkerProcess(bell_url, turns, delivery, upkeep, MemoryRunner(memory, worker), supervisor)
        process.start()
        stack.push_async_callback(process.stop)
        _log.info("worker_started", worker=worker, channels=sorted(channels))
        yield _for_ever


async def run_web(settings: Settings, stop: asyncio.Event) -> None:
    """Be a web process until told to stop."""
    try:
        async with open_web(settings):
            await stop.wait()
    except OSError as error:
        raise ConfigError(f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}.") from error


async def run_worker(settings: Settings, stop: asyncio.Event, life: WorkerStart = ALONE) -> None:
    """Be a worker process until told to stop, or until a process for suspects has none left."""
    async with worker_watch(settings, life) as watch, open_worker(settings, life=life) as until_ended:
        watch.begin_work()
        ends = [asyncio.ensure_future(stop.wait()), asyncio.ensure_future(until_ended())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()


async def _for_ever() -> None:
    await asyncio.Event().wait()
