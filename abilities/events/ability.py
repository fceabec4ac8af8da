"""Events of other services: taken in by webhooks, stored, and handed to their subscribers."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING

from abilities.events.tables import TABLES
from onevalet.ability import Ability, Commands, Repeated
from onevalet.foundations import OpeningFoundation, WebFoundation, WorkFoundation

if TYPE_CHECKING:
    from aiohttp.web import RouteDef
    from typer import Typer

    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.people.merge import MergeHook
    from operations.doctor.types import Probe


def _merge_hooks(_: "Clock", credentials: "CredentialStore") -> "Sequence[MergeHook]":
    from abilities.events.merge import EventSourceMerge

    return [EventSourceMerge(credentials)]


def _commands() -> "Typer":
    from abilities.events.cli import events_app

    return events_app


def _probes() -> "Sequence[Probe]":
    from abilities.events.probes import PROBES

    return PROBES


def _opens(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
    from abilities.events.opening import open_bus

    open_bus(stack, foundation)


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.events.opening import open_work

    return open_work(foundation)


def _routes(stack: AsyncExitStack, foundation: WebFoundation) -> "Sequence[RouteDef]":
    from abilities.events.way_in import open_routes

    return open_routes(stack, foundation)


def _around(foundation: WorkFoundation) -> AbstractAsyncContextManager[None]:
    from abilities.events.opening import run_services

    return run_services(foundation)


ABILITY = Ability(
    name="events",
    tables=TABLES,
    merge_hooks=_merge_hooks,
    commands=(Commands("events", "People", _commands),),
    probes=_probes,
    opens=_opens,
    work=_work,
    routes=_routes,
    around=_around,
)
