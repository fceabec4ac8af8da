"""The words that steer the conversation itself."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import WITHOUT_SLASHES, Channels, ChatCommand

NEW = ChatCommand(
    name="new",
    words={"en": ("new",)},
    help=gettext_noop("start a new conversation"),
    channels=Channels(alone=WITHOUT_SLASHES),
    answer="core.turns.words.talk:afresh",
    loosely=True,
)
INTERRUPT = ChatCommand(
    name="stop",
    words={"en": ("stop", "halt")},
    help=gettext_noop("stop what I am doing"),
    channels=Channels(alone=WITHOUT_SLASHES),
    answer="core.turns.words.talk:nothing_runs",
    typed="halt",
    spoken=False,
    loosely=True,
)
"""The running turn is stopped as soon as the word comes in; by SMS, STOP itself is the carrier's word."""
START = ChatCommand(
    name="start",
    words={"en": ("start",)},
    help=gettext_noop("say hello"),
    channels=Channels(alone=frozenset({"email"}), listed=frozenset(), menu=frozenset({"telegram"})),
    answer="core.turns.words.talk:hello",
    spoken=False,
    loosely=True,
)
"""The command that Telegram sends when a person opens the chat."""
WORDS = (NEW, INTERRUPT, START)
