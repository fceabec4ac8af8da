"""HALT ALL: an owner stops turns, tasks and deliveries of the whole installation, and lifts that by a code."""

from typing import TYPE_CHECKING

from abilities.halts.chat_words import WORDS
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Commands, calls, named

if TYPE_CHECKING:
    pass


ABILITY = Ability(
    name="halts",
    words=WORDS,
    tables=(
        PersonTable("halt_words", Belonging(Merge.MOVE), (("id", "inbound", "id"),), archive=Archiving(Archived.TOLD)),
    ),
    commands=(
        Commands("halt", "Run", named("abilities.halts.cli:halt_app"), alone=True),
        Commands("lift", "Run", named("abilities.halts.cli:lift_app"), alone=True),
    ),
    probes=named("abilities.halts.probes:PROBES"),
    work=calls("abilities.halts.everywhere:open_work"),
)
