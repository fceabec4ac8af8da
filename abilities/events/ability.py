"""Events of other services: taken in by webhooks, stored, and handed to their subscribers."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.events.tables import TABLES
from onevalet.ability import Ability, Commands, Repeated, calls, named
from onevalet.foundations import WorkFoundation

if TYPE_CHECKING:
    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.people.merge import MergeHook


def _merge_hooks(_: "Clock", credentials: "CredentialStore") -> "Sequence[MergeHook]":
    from abilities.events.merge import EventSourceMerge

    return [EventSourceMerge(credentials)]


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.events.opening import open_work

    return open_work(foundation)


ABILITY = Ability(
    name="events",
    tables=TABLES,
    merge_hooks=_merge_hooks,
    commands=(Commands("events", "People", named("abilities.events.cli:events_app")),),
    probes=named("abilities.events.probes:PROBES"),
    opens=calls("abilities.events.opening:open_bus"),
    work=_work,
    routes=calls("abilities.events.way_in:open_routes"),
    around=calls("abilities.events.opening:run_services"),
)
