"""What stands where a message has no text."""

from core.language.catalogue import gettext


def no_text() -> str:
    return gettext("(no text)")
