"""Events of other services: taken in by webhooks, kept, and handed to who waits for them."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING

from onevalet.ability import Ability, Commands, OpeningFoundation, WebFoundation, WorkFoundation

if TYPE_CHECKING:
    from aiohttp.web import RouteDef
    from typer import Typer

    from onevalet.doctor.types import Probe


def _commands() -> "Typer":
    from abilities.events.cli import events_app

    return events_app


def _probes() -> "Sequence[Probe]":
    from abilities.events.probes import PROBES

    return PROBES


def _opens(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
    from abilities.events.opening import open_bus

    open_bus(stack, foundation)


def _routes(stack: AsyncExitStack, foundation: WebFoundation) -> "Sequence[RouteDef]":
    from abilities.events.way_in import open_routes

    return open_routes(stack, foundation)


def _around(foundation: WorkFoundation) -> AbstractAsyncContextManager[None]:
    from abilities.events.opening import run_services

    return run_services(foundation)


ABILITY = Ability(
    name="events",
    commands=(Commands("events", "People", _commands),),
    probes=_probes,
    opens=_opens,
    routes=_routes,
    around=_around,
)
