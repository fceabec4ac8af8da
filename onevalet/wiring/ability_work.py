"""What abilities have a worker do beside its turns: one loop over the declarations."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from onevalet.ability import Work, WorkFoundation
from onevalet.ability_registry import all_abilities
from onevalet.wiring.http import build_http, guarded_client
from onevalet.wiring.worker_parts import WorkerParts


def open_work(stack: AsyncExitStack, parts: WorkerParts) -> Sequence[Work]:
    """Return the work of all abilities; `stack` closes it."""
    settings, assistant = parts.connections.settings, parts.assistant
    foundation = WorkFoundation(
        settings,
        parts.connections.database,
        partial(guarded_client, settings),
        clock=parts.clock,
        worker=parts.name,
        accounts=assistant.accounts.for_tenant,
        events=assistant.engine.event_bus,
        notifier=parts.outbound.service,
        tool_http=partial(build_http, settings),
    )
    loads = (ability.work for ability in all_abilities() if ability.work is not None)
    return [work for load in loads for work in load(stack, foundation)]
