"""The word that takes back earlier actions."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import ChatCommand

UNDO = ChatCommand(
    name="undo",
    words={
        "en": ("undo",),
        "es": ("deshacer",),
        "de": ("rückgängig",),
        "fr": ("défaire",),
        "pt": ("desfazer",),
        "zh": ("撤销",),
    },
    argument=r" ?(?:(?:task|tarea|aufgabe|tâche|tarefa) |任务 ?)?#?([0-9]{1,9}|[a-z][0-9]{0,2})",
    help=gettext_noop("take back what I did last"),
    answer="core.turns.words.undo:take_back",
    checked=False,
)
"""Takes back the newest action, by a letter an earlier action, or by a number the newest action on that task; with
other words it is for the assistant."""
WORDS = (UNDO,)


def undo_word() -> str:
    """Return the word by which a person takes back an action, in their language."""
    return UNDO.word()
