"""The word that takes back what was done."""

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
"""Takes back what was done last, by its letter what was done before, or by its number what was done to a task; with
other words it is for the assistant."""
WORDS = (UNDO,)


def undo_word() -> str:
    """Return the word by which a person takes back what was done, in their language."""
    return UNDO.word()
