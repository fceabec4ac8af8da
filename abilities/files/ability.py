"""The assistant's work with files that people send: it sees, hears, reads, searches and sends them."""

from typing import TYPE_CHECKING

from abilities.files.words import LISTEN
from onevalet.ability import Ability, calls, named

if TYPE_CHECKING:
    pass


ABILITY = Ability(
    name="files",
    needs=("documents",),
    settings=named("abilities.files.settings:HEARING"),
    tools=("abilities.files.tools",),
    words=(LISTEN,),
    probes=named("abilities.files.probes:PROBES"),
    shows=calls("abilities.files.opening:open_showing"),
)
