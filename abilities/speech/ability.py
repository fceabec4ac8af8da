"""Answers by voice: to voice notes where the person wants that, and for one answer by a word."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from abilities.speech.chat_words import ALOUD, SILENT
from core.language.catalogue import gettext_noop
from core.people.switches import Switch
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, OwnSettings
from onevalet.foundations import OpeningFoundation, WorkFoundation

if TYPE_CHECKING:
    from core.queue.claims import ClaimedWork
    from core.turns.services import ForTurn
    from onevalet.settings import Settings
    from operations.doctor.types import Probe
    from operations.paths.types import PathReader


def _idle(settings: "Settings") -> str:
    from abilities.speech.settings import SpeechSettings

    return "" if settings.of(SpeechSettings).speech_model else SILENT


VOICE = Switch(
    gettext_noop("voice"),
    words=("voz", "stimme", "voix", "语音"),
    title="Voice notes are answered by voice too",
    idle=_idle,
)


def _settings() -> OwnSettings[Any]:
    from abilities.speech.settings import SPEECH

    return SPEECH


def _loads(settings: "Settings") -> None:
    from abilities.speech.opening import load_model

    load_model(settings)


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.speech.opening import open_services

    return open_services(foundation)


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> "Sequence[ClaimedWork[Any]]":
    from abilities.speech.opening import open_work

    return open_work(stack, foundation)


def _probes() -> "Sequence[Probe]":
    from abilities.speech.probes import PROBES

    return PROBES


def _path() -> "PathReader":
    from abilities.speech.path import PATH

    return PATH


# The length of a recording is read as that of a person's own.
ABILITY = Ability(
    name="speech",
    needs=("documents",),
    settings=_settings,
    loads=_loads,
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
    probes=_probes,
    path=_path,
    work=_work,
)
