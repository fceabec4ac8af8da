"""Yes and no, as they are shown to people and as people write them."""

from core.language.catalogue import LANGUAGES, gettext, gettext_noop, translations

_YES, _NO = gettext_noop("yes"), gettext_noop("no")


def yes_or_no(value: bool) -> str:
    """Return the word for a truth value in the person's language."""
    return gettext(_YES if value else _NO)


def read_yes_or_no(text: str) -> bool | None:
    """Read yes or no in any language: it may have been shown before the reader changed theirs. None: neither."""
    word = text.strip().casefold()
    if any(word == translations(language).gettext(_YES).casefold() for language in LANGUAGES):
        return True
    return False if any(word == translations(language).gettext(_NO).casefold() for language in LANGUAGES) else None
