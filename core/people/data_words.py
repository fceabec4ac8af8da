"""The words for all that is kept of a person: a card then asks whether they mean it."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import UNLISTED, ChatCommand

EXPORT = ChatCommand(
    name="export",
    words={
        "en": ("export my data",),
        "es": ("exporta mis datos",),
        "de": ("exportiere meine daten",),
        "fr": ("exporte mes données",),
        "pt": ("exporte os meus dados",),
        "zh": ("导出我的数据",),
    },
    help=gettext_noop("get all that I keep about you"),
    channels=UNLISTED,
    answer="core.turns.words.person:export",
    checked=False,
)
FORGET = ChatCommand(
    name="forget",
    words={
        "en": ("forget me",),
        "es": ("olvídame",),
        "de": ("vergiss mich",),
        "fr": ("oublie-moi",),
        "pt": ("esqueça-me",),
        "zh": ("忘记我",),
    },
    help=gettext_noop("have me delete all that I keep about you"),
    channels=UNLISTED,
    answer="core.turns.words.person:forget",
    checked=False,
)
WORDS = (EXPORT, FORGET)
