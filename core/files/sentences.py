"""Why a file cannot be used, in one plain sentence for the person."""

from core.documents.kinds import FileFailure
from core.files.chat_words import LISTEN
from core.files.types import MAX_BYTES, MAX_SECONDS
from core.language.catalogue import gettext, gettext_noop

_SENTENCES = {
    FileFailure.TOO_LARGE: gettext_noop("The file {name} is too large: I can take up to {limit} MB."),
    FileFailure.GONE: gettext_noop("I cannot get the file {name}: it is not there any more."),
    FileFailure.UNREACHABLE: gettext_noop("I could not download the file {name}. Please send it again in a moment."),
    FileFailure.BROKEN: gettext_noop("I cannot read the file {name}: it is damaged, or not what it says it is."),
    FileFailure.TOO_MUCH: gettext_noop("I cannot read the file {name}: it takes too much time or memory."),
    FileFailure.UNREAD: gettext_noop("I could not read the file {name} just now. Please send it again later."),
    FileFailure.LOCKED: gettext_noop("I cannot read the file {name}: it is locked with a password."),
    FileFailure.NO_TEXT: gettext_noop("I cannot read the file {name}: there is no text in it, perhaps only scans."),
    FileFailure.UNKNOWN: gettext_noop("I cannot read the file {name}: I do not know that kind of file."),
    FileFailure.NO_READER: gettext_noop("I cannot read the file {name}: I do not know that kind of file."),
    FileFailure.AUDIO: gettext_noop("I cannot listen to sound yet. Please write to me what the file {name} says."),
    FileFailure.UNHEARD: gettext_noop(
        "I could not listen to the recording {name}. I have kept it: write “{again}” and I will try once more."
    ),
    FileFailure.TOO_LONG: gettext_noop("The recording {name} is too long: I can listen to up to {minutes} minutes."),
    FileFailure.SILENT: gettext_noop("I heard no words in the recording {name}."),
    FileFailure.VIDEO: gettext_noop("I cannot watch videos. Please send a picture in place of the file {name}."),
    FileFailure.UNSEEN: gettext_noop("I cannot see pictures. Please write to me what the file {name} shows."),
    FileFailure.FULL: gettext_noop("I have no room to keep the file {name} at the moment."),
}
_UNNAMED = {
    FileFailure.AUDIO: gettext_noop("I cannot listen to sound yet. Please write to me what it says."),
    FileFailure.UNHEARD: gettext_noop(
        "I could not listen to your voice message. I have kept it: write “{again}” and I will try once more."
    ),
    FileFailure.TOO_LONG: gettext_noop("Your voice message is too long: I can listen to up to {minutes} minutes."),
    FileFailure.SILENT: gettext_noop("I heard no words in your voice message."),
    FileFailure.VIDEO: gettext_noop("I cannot watch videos. Please send a picture instead."),
    FileFailure.UNSEEN: gettext_noop("I cannot see pictures. Please write to me what it shows."),
}


def why_not(failure: FileFailure, name: str, number: int) -> str:
    """Return the sentence for a file; one without a name is called by its number in the message."""
    sentence = _UNNAMED.get(failure, _SENTENCES[failure]) if not name else _SENTENCES[failure]
    return gettext(
        sentence,
        name=f"“{name}”" if name else str(number),
        limit=MAX_BYTES // 2**20,
        minutes=MAX_SECONDS // 60,
        again=LISTEN.word(),
    )
