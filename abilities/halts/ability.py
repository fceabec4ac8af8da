"""HALT ALL: an owner stops turns, tasks and deliveries of the whole installation, and lifts that by a code."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.halts.chat_words import WORDS
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Commands, Repeated
from onevalet.foundations import WorkFoundation

if TYPE_CHECKING:
    from typer import Typer

    from operations.doctor.types import Probe


def _halt() -> "Typer":
    from abilities.halts.cli import halt_app

    return halt_app


def _lift() -> "Typer":
    from abilities.halts.cli import lift_app

    return lift_app


def _probes() -> "Sequence[Probe]":
    from abilities.halts.probes import PROBES

    return PROBES


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.halts.everywhere import open_work

    return open_work(stack, foundation)


ABILITY = Ability(
    name="halts",
    words=WORDS,
    tables=(
        PersonTable("halt_words", Belonging(Merge.MOVE), (("id", "inbound", "id"),), archive=Archiving(Archived.TOLD)),
    ),
    commands=(Commands("halt", "Run", _halt, alone=True), Commands("lift", "Run", _lift, alone=True)),
    probes=_probes,
    work=_work,
)
