"""The word that leads to the console."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import ChatCommand

CONSOLE = ChatCommand(
    name="console",
    words={"en": ("console",)},
    help=gettext_noop("all that I did"),
    answer="core.turns.words.console:to_console",
)
WORDS = (CONSOLE,)
