"""The reason why a file cannot be used, in a plain sentence for the person."""

from core.files.kinds import FileFailure
from core.files.types import MAX_BYTES
from core.language.catalogue import gettext, gettext_noop

_SENTENCES = {
    FileFailure.TOO_LARGE: gettext_noop("The file {name} is too large: I can take up to {limit} MB."),
    FileFailure.GONE: gettext_noop("I cannot get the file {name}: it no longer exists."),
    FileFailure.UNREACHABLE: gettext_noop("I could not download the file {name}. Please send it again in a moment."),
    FileFailure.BROKEN: gettext_noop("I cannot read the file {name}: it is damaged, or not what it claims to be."),
    FileFailure.TOO_MUCH: gettext_noop("I cannot read the file {name}: it takes too much time or memory."),
    FileFailure.UNREAD: gettext_noop("I could not read the file {name} just now. Please send it again later."),
    FileFailure.LOCKED: gettext_noop("I cannot read the file {name}: it is locked with a password."),
    FileFailure.NO_TEXT: gettext_noop("I cannot read the file {name}: there is no text in it, perhaps only scans."),
    FileFailure.UNKNOWN: gettext_noop("I cannot read the file {name}: I do not know that kind of file."),
    FileFailure.NO_READER: gettext_noop("I cannot read the file {name}: I do not know that kind of file."),
    FileFailure.VIDEO: gettext_noop("I cannot watch videos. Please send a picture in place of the file {name}."),
    FileFailure.FULL: gettext_noop("I have no room to keep the file {name} at the moment."),
    FileFailure.UNSHOWN: gettext_noop("I have kept the file {name}, but nothing here can read it."),
}
_UNNAMED = {
    FileFailure.UNSHOWN: gettext_noop("I have kept your file, but nothing here can read it."),
    FileFailure.VIDEO: gettext_noop("I cannot watch videos. Please send a picture instead."),
}


def why_not(failure: FileFailure, name: str, number: int) -> str:
    """Return the sentence that says why a file was not read; a file without a name goes by its number."""
    sentence = _UNNAMED.get(failure, _SENTENCES[failure]) if not name else _SENTENCES[failure]
    return gettext(
        sentence,
        name=called(name, number),
        limit=MAX_BYTES // 2**20,
    )


def called(name: str, number: int) -> str:
    """Return the name of a file in a sentence: its own, or its number in the message."""
    return f"“{name}”" if name else str(number)
