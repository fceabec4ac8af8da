"""The parts of a worker, built in five steps from its settings."""

import os
import socket
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

import structlog

from core.errors import StoreUnavailable
from core.ids import make_id
from core.messaging.holding import Holding
from core.messaging.outbox import Outbox
from core.turns.store import TurnStore
from jobs.delivery.receipt_notes import ReceiptNotes
from jobs.delivery.rendering import SentFiles
from jobs.delivery.runner import DeliveryRunner
from jobs.later.queueing import LaterJobs
from jobs.turns.runner import TurnRunner
from jobs.upkeep.clock_check import CheckedClock
from onevalet.foundations import WorkFoundation
from onevalet.settings import Settings
from onevalet.supervision.worker_start import WorkerStart
from onevalet.wiring.abilities import described_collections
from onevalet.wiring.ability_work import join_assistant
from onevalet.wiring.assistant import Assistant, open_assistant
from onevalet.wiring.connections import Connections, open_connections, redis_url
from onevalet.wiring.file_store import build_links
from onevalet.wiring.outbound import NOTHING, Brought, Outbound, open_outbound
from onevalet.wiring.secret_keys import secret_keys
from onevalet.wiring.turn_features import build_turn_features

LANE_LEASE = timedelta(seconds=10)
"""How long the turn of a dead worker waits until another worker continues it."""
OUTBOX_LEASE = timedelta(seconds=20)
"""Longer than a provider call may take."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """The parts of a worker, in the order in which they are built: each needs those before it."""

    name: str
    connections: Connections
    clock: CheckedClock
    assistant: Assistant
    outbound: Outbound
    foundation: WorkFoundation
    """The dependencies of the abilities' work."""
    turns: TurnRunner
    delivery: DeliveryRunner

    @classmethod
    async def open(
        cls, stack: AsyncExitStack, settings: Settings, start: WorkerStart, brought: Brought = NOTHING
    ) -> Self:
        """Build the parts; `stack` closes them."""
        # In a container each process has its predecessor's number: the run's id tells them apart.
        name = f"{socket.gethostname()}:{os.getpid()}/{make_id('run')}"
        # 1. The connections, and the clock, which is compared with the database's.
        connections = await stack.enter_async_context(
            open_connections(settings, "onevalet worker", patience=15.0, size=20)
        )
        later = LaterJobs(redis_url(settings))
        await later.start()
        stack.push_async_callback(later.stop)
        connections.wakeups.queue_later(later)
        clock = CheckedClock(settings.onevalet_clock, connections.database)
        # 2. The ways out, and the assistant, which answers.
        outbound = await stack.enter_async_context(open_outbound(connections, clock, brought))
        assistant = await stack.enter_async_context(open_assistant(connections, clock, outbound.rooms))
        # 3. The abilities, which need both.
        foundation = join_assistant(assistant, name, outbound.service)
        # 4. The turns.
        store = TurnStore(
            connections.database,
            make_id,
            LANE_LEASE,
            outbound.channels,
            start.quarantine,
            described=described_collections(),
        )
        await _end_leases(store, start)
        features = build_turn_features(stack, connections, assistant, outbound, clock)
        wakeups, channels = connections.wakeups, outbound.channels
        turns = TurnRunner(store, assistant.orchestrator, wakeups, channels, make_id, name, features)
        # 5. The delivery of the outbox, filled by turns and notifications.
        outbox = Outbox(connections.database, make_id, OUTBOX_LEASE)
        notes = ReceiptNotes(redis_url(settings))
        stack.push_async_callback(notes.close)
        sent_files = SentFiles(assistant.files, build_links(settings, secret_keys(settings)))
        holding = foundation.opened.find(Holding)
        delivery = DeliveryRunner(
            outbox, channels, name, clock=clock, notes=notes, files=sent_files, later=wakeups, holding=holding
        )
        return cls(name, connections, clock, assistant, outbound, foundation, turns, delivery)


async def _end_leases(store: TurnStore, start: WorkerStart) -> None:
    for dead in start.dead:
        try:
            await store.end_leases(dead.worker, dead.hung_on)
        except StoreUnavailable:
            _log.warning("leases_not_ended", worker=dead.worker)  # they run out by themselves
