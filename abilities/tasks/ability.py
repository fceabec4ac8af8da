"""What makes the assistant write first: reminders, tasks that recur, wait for an event, or watch a value."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onevalet.ability import Ability, Commands

if TYPE_CHECKING:
    from typer import Typer

    from onevalet.doctor.types import Probe


def _commands() -> "Typer":
    from abilities.tasks.cli import tasks_app

    return tasks_app


def _probes() -> "Sequence[Probe]":
    from abilities.tasks.probes import PROBES

    return PROBES


ABILITY = Ability(
    name="tasks",
    needs=("events",),
    tools=("abilities.tasks.tools",),
    commands=(Commands("tasks", "People", _commands),),
    probes=_probes,
)
