"""The words by which an owner halts all work and lets it go on; they count as soon as they are received."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import NOWHERE, UNLISTED, Channels, ChatCommand

HALT_ALL = ChatCommand(
    name="halt_all",
    words={"en": ("halt all",)},
    help=gettext_noop("stop all work, for everybody (for the owner)"),
    channels=UNLISTED,
    answer="abilities.halts.answers:refused",
    spoken=False,
)
LIFT = ChatCommand(
    name="lift",
    words={"en": ("lift",)},
    argument=r" ([0-9]{3}[- ]?[0-9]{3})",
    help=gettext_noop("let work go on, by the code of the halt"),
    channels=Channels(alone=NOWHERE, listed=NOWHERE, menu=NOWHERE),
    answer="abilities.halts.answers:not_halted",
    spoken=False,
)
WORDS = (HALT_ALL, LIFT)
