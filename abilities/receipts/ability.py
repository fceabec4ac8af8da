"""Receipts: the acts in a person's name, with the consent behind each, in a file that anybody can check."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import WITHOUT_SLASHES, Channels, ChatCommand
from core.people.table_rules import Archived, Archiving, Belonging, Merge, PersonTable
from onevalet.ability import Ability, Commands, calls, named
from onevalet.foundations import OpeningFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn

_PERIOD = r" ([0-9]{1,3}(?: ?[^\W\d_]{1,6})?|[0-9]{4}(?:-[0-9]{2})?|[^\W\d_]{2,10}\.?(?: (?:de )?[0-9]{4})?)"
"""A number of days, a month or a year; other words are for the assistant."""


def _services(stack: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.receipts.store import Receipts

    return {Receipts: lambda tenant_id, _: Receipts(foundation.database, foundation.clock, tenant_id)}


ABILITY = Ability(
    name="receipts",
    tools=("abilities.receipts.tools",),
    services=_services,
    words=(
        ChatCommand(
            name="receipts",
            words={
                "en": ("receipts",),
                "de": ("belege", "quittungen"),
                "es": ("recibos",),
                "fr": ("reçus", "recus"),
                "pt": ("recibos",),
                "zh": ("回执",),
            },
            help=gettext_noop("what I did in your name, and by which consent"),
            argument=_PERIOD,
            channels=Channels(alone=WITHOUT_SLASHES, unlisted=frozenset({"sms"})),  # its list is long enough
            answer="abilities.receipts.words:list_receipts",
        ),
    ),
    tables=(
        # Elsewhere it would be signed as that installation's: whoever moves takes the signed file along.
        PersonTable(
            "receipts", Belonging(Merge.MOVE), follows=(("turn_id", "turns", "id"),), archive=Archiving(Archived.TOLD)
        ),
    ),
    commands=(Commands("receipts", "Consent", named("abilities.receipts.cli:receipts_app")),),
    pages=named("abilities.receipts.pages:PAGES"),
    probes=named("abilities.receipts.probes:PROBES"),
    path=calls("abilities.receipts.path:read_path"),
)
