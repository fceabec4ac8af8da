"""Events of other services: taken in by webhooks, kept, and handed to who waits for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onevalet.ability import Ability, Commands

if TYPE_CHECKING:
    from typer import Typer

    from onevalet.doctor.types import Probe


def _commands() -> "Typer":
    from abilities.events.cli import events_app

    return events_app


def _probes() -> "Sequence[Probe]":
    from abilities.events.probes import PROBES

    return PROBES


ABILITY = Ability(name="events", commands=(Commands("events", "People", _commands),), probes=_probes)
