"""What the assistant does with files that people send: it sees, hears, reads, searches and sends them."""

from typing import TYPE_CHECKING

from abilities.files.words import LISTEN
from onevalet.ability import Ability, SensesFoundation

if TYPE_CHECKING:
    from core.files.showing import ShowsFiles


def _shows(foundation: SensesFoundation) -> "ShowsFiles":
    from abilities.files.hearing import Hearing
    from abilities.files.showing import FileShowing
    from abilities.files.vision import Vision

    return FileShowing(Vision(foundation.sees, foundation.eye), Hearing(foundation.ear))


ABILITY = Ability(name="files", needs=("documents",), tools=("abilities.files.tools",), words=(LISTEN,), shows=_shows)
