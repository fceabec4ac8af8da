"""The word for the list of memories."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import WITHOUT_SLASHES, Channels, ChatCommand

MEMORY = ChatCommand(
    name="memory",
    words={"en": ("memory",)},
    help=gettext_noop("what I remember of what you told me"),
    channels=Channels(alone=WITHOUT_SLASHES),
    answer="abilities.memory.commands:what_is_remembered",
)
