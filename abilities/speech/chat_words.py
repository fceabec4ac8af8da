"""The word by which a person has an answer spoken."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import UNLISTED, ChatCommand

SILENT = gettext_noop("I cannot speak yet: no voice is set up for me.")
ALOUD = ChatCommand(
    name="aloud",
    words={
        "en": ("say it aloud", "read it aloud"),
        "es": ("dilo en voz alta",),
        "de": ("sag es laut", "lies es vor"),
        "fr": ("dis-le à voix haute",),
        "pt": ("diga em voz alta",),
        "zh": ("读出来",),
    },
    help=gettext_noop("hear my last answer"),
    channels=UNLISTED,
    answer="abilities.speech.answers:say_aloud",
    loosely=True,
)
