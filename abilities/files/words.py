"""The word that has recordings listened to again."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import UNLISTED, ChatCommand

LISTEN = ChatCommand(
    name="listen",
    words={
        "en": ("again",),
        "es": ("otra vez",),
        "de": ("nochmal",),
        "fr": ("encore",),
        "pt": ("outra vez",),
        "zh": ("再试一次",),
    },
    help=gettext_noop("have me listen again to an unclear voice note"),
    channels=UNLISTED,
    answer="abilities.files.listening:listen_again",
    spoken=False,
    checked=False,
)
"""Asks to transcribe recordings again, if that has just failed; else it is a word like any other."""
