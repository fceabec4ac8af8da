"""The reason why a picture or a recording is not seen or heard, in a plain sentence for the person."""

from abilities.files.words import LISTEN
from core.files.kinds import FileFailure
from core.files.sentences import called, why_not
from core.files.types import MAX_SECONDS
from core.language.catalogue import gettext, gettext_noop

_SENTENCES = {
    FileFailure.AUDIO: gettext_noop("I cannot listen to sound yet. Please write to me what the file {name} says."),
    FileFailure.UNHEARD: gettext_noop(
        "I could not listen to the recording {name}. I have kept it: write “{again}” and I will try once more."
    ),
    FileFailure.TOO_LONG: gettext_noop("The recording {name} is too long: I can listen to up to {minutes} minutes."),
    FileFailure.SILENT: gettext_noop("I heard no words in the recording {name}."),
    FileFailure.UNSEEN: gettext_noop("I cannot see pictures. Please write to me what the file {name} shows."),
}
_UNNAMED = {
    FileFailure.AUDIO: gettext_noop("I cannot listen to sound yet. Please write to me what it says."),
    FileFailure.UNHEARD: gettext_noop(
        "I could not listen to your voice message. I have kept it: write “{again}” and I will try once more."
    ),
    FileFailure.TOO_LONG: gettext_noop("Your voice message is too long: I can listen to up to {minutes} minutes."),
    FileFailure.SILENT: gettext_noop("I heard no words in your voice message."),
    FileFailure.UNSEEN: gettext_noop("I cannot see pictures. Please write to me what it shows."),
}


def why_unsensed(failure: FileFailure, name: str, number: int) -> str:
    """Return the sentence for a file, as `core.files.sentences.why_not` does for the store's failures."""
    sentence = (_SENTENCES if name else _UNNAMED).get(failure)
    if sentence is None:
        return why_not(failure, name, number)
    return gettext(sentence, name=called(name, number), minutes=MAX_SECONDS // 60, again=LISTEN.word())
