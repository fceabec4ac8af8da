"""Reactions: kept as feedback on answers, and given in place of an answer to a mere thanks."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from core.language.catalogue import gettext_noop, ngettext_noop
from core.messaging.chat_words import NOWHERE, Channels, ChatCommand
from core.people.switches import Switch
from core.people.table_rules import Belonging, Merge, PersonTable
from onevalet.ability import Ability, calls, named
from onevalet.foundations import OpeningFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn

THANKS = Switch(
    gettext_noop("thanks"),
    words=("gracias", "danke", "merci", "obrigado", "谢谢"),
    title="Thanks are answered by a reaction",
)


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.reactions.thanks import Thanks

    thanks = Thanks(foundation.channels)
    return {Thanks: lambda _tenant, _turn: thanks}


ABILITY = Ability(
    name="reactions",
    services=_services,
    words=(
        ChatCommand(
            name="thanks",
            words={
                "en": ("thanks", "thank you", "thx", "thanks a lot"),
                "es": ("gracias", "muchas gracias"),
                "de": ("danke", "danke schön", "dankeschön", "vielen dank"),
                "fr": ("merci", "merci beaucoup"),
                "pt": ("obrigado", "obrigada", "muito obrigado", "muito obrigada"),
                "zh": ("谢谢", "谢谢你", "多谢"),
            },
            help=gettext_noop("a reaction from me in place of an answer"),
            channels=Channels(alone=frozenset({"slack", "telegram"}), listed=NOWHERE, menu=NOWHERE),
            answer="abilities.reactions.thanks:accept_thanks",
            spoken=False,
            loosely=True,
            switch=THANKS.name,
        ),
    ),
    switches=(THANKS,),
    tables=(
        PersonTable(
            "feedback",
            Belonging(Merge.MOVE, ngettext_noop("{number} reaction", "{number} reactions")),
            (("outbound_id", "outbound", "id"),),
        ),
    ),
    pages=named("abilities.reactions.pages:PAGES"),
    path=calls("abilities.reactions.path:read_path"),
)
