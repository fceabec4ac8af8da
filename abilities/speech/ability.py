"""Answers by voice: to voice notes where the person wants that, and for one answer by a word."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.speech.chat_words import ALOUD, SILENT
from core.language.catalogue import gettext_noop
from core.people.switches import Switch
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, calls, named
from onevalet.foundations import OpeningFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn
    from onevalet.settings import Settings


def _idle(settings: "Settings") -> str:
    from abilities.speech.settings import SpeechSettings

    return "" if settings.of(SpeechSettings).speech_model else SILENT


VOICE = Switch(
    gettext_noop("voice"),
    words=("voz", "stimme", "voix", "语音"),
    title="Voice notes are answered by voice too",
    idle=_idle,
)


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.speech.opening import open_services

    return open_services(foundation)


# The length of a recording is read as that of a person's own.
ABILITY = Ability(
    name="speech",
    needs=("documents",),
    settings=named("abilities.speech.settings:SPEECH"),
    loads=calls("abilities.speech.opening:load_model"),
    tools=("abilities.speech.tools",),
    services=_services,
    words=(ALOUD,),
    switches=(VOICE,),
    tables=(
        PersonTable(
            "spoken_answers",
            Belonging(Merge.MOVE),
            (("outbound_id", "outbound", "id"),),
            Archiving(Archived.LEFT_OUT),
        ),
    ),
    probes=named("abilities.speech.probes:PROBES"),
    path=calls("abilities.speech.path:read_path"),
    work=calls("abilities.speech.opening:open_work"),
)
