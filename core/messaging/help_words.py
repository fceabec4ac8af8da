"""The words for our own texts: the rest of a long text, and the list of words."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import Channels, ChatCommand

_BY_SMS = frozenset({"sms"})

MORE = ChatCommand(
    name="more",
    words={"en": ("more",)},
    help=gettext_noop("the rest of a long answer"),
    channels=Channels(alone=_BY_SMS, listed=_BY_SMS, menu=frozenset()),
    answer="core.turns.words.talk:the_rest",
    checked=False,
)
"""The word for the rest of a long text, if a rest is kept; otherwise it is ordinary text."""
HELP = ChatCommand(
    name="help",
    words={"en": ("help",)},
    help=gettext_noop("all words"),
    channels=Channels(alone=frozenset({"sms", "email"})),
    answer="core.turns.words.talk:the_list",
    loosely=True,
)
WORDS = (MORE, HELP)
