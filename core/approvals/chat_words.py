"""The words about approvals, besides the deciding words (`core.approvals.exact_replies`)."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import NOWHERE, Channels, ChatCommand

PENDING = ChatCommand(
    name="pending",
    words={"en": ("pending",)},
    help=gettext_noop("what waits for your decision"),
    answer="core.turns.words.approvals:list_pending",
)
AGAIN = ChatCommand(
    name="again",
    words={"en": ("again",)},
    argument=" ([2-9][A-Z][2-9A-Z]?)",
    help=gettext_noop("be asked again for what has expired"),
    channels=Channels(alone=NOWHERE, menu=frozenset()),
    answer="core.turns.words.approvals:ask_again",
    example="AGAIN 7K",
)
WORDS = (PENDING, AGAIN)
