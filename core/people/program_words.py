"""The word about the programs to which people give access."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import UNLISTED, ChatCommand

CLIENTS = ChatCommand(
    name="mcp",
    words={"en": ("mcp",)},
    argument=r" (tokens?|token [^\s/].{0,60}|revoke #?[0-9]{1,9})",
    help=gettext_noop("which programs may ask me"),
    channels=UNLISTED,
    answer="core.turns.words.console:about_clients",
)
WORDS = (CLIENTS,)
