"""The words about actions without asking."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import A_NUMBER, UNLISTED, Channels, ChatCommand

CONSENTS = ChatCommand(
    name="consents",
    words={
        "en": ("consents",),
        "es": ("consentimientos",),
        "de": ("einwilligungen",),
        "fr": ("consentements",),
        "pt": ("consentimentos",),
        "zh": ("授权列表",),
    },
    help=gettext_noop("what I do unasked"),
    # By SMS the list has no room for it: a consent's own messages name its words.
    channels=Channels(unlisted=frozenset({"sms"})),
    answer="core.turns.words.consents:list_consents",
)
WITHDRAW = ChatCommand(
    name="withdraw",
    words={
        "en": ("withdraw",),
        "es": ("retirar",),
        "de": ("widerrufen",),
        "fr": ("retirer",),
        "pt": ("retirar",),
        "zh": ("撤回",),
    },
    argument=A_NUMBER,
    help=gettext_noop("be asked again before I act"),
    channels=UNLISTED,
    answer="core.turns.words.consents:withdraw",
)
"""Ends the person's standing consents; REVOKE, CANCEL and END are the carriers' words by SMS."""
WORDS = (CONSENTS, WITHDRAW)
