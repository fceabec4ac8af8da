"""The sentence in place of a missing text."""

from core.language.catalogue import gettext


def no_text() -> str:
    return gettext("(no text)")
