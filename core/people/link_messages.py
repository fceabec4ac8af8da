"""Texts about links: the question before a link, and the messages to all places of both people after it."""

from collections.abc import Sequence

from core.language.catalogue import gettext, gettext_noop, ngettext
from core.people.chat_names import ChatIdentity, places_in_words
from core.people.link_codes import AGREED, shown_code

UNDO = gettext_noop("Was that not you? Write UNLINK within a day, and it is taken back.")


def link_question(places: Sequence[ChatIdentity], code: str, more: str = "") -> str:
    """Return the question to the person who typed a code; `more` is added to it."""
    sentences = [
        gettext(
            "This code links you with {places}: from there, everything that I keep for you can be read and I can be "
            "told to act for you.",
            places=places_in_words(places),
        ),
        more,
        gettext("If somebody asked you to write this code, stop here: nothing was linked."),
        ngettext(
            "If that place is yours, write: {words}",
            "If those places are yours, write: {words}",
            len(places),
            words=f"LINK {shown_code(code.upper().replace('-', ''))} {AGREED}",
        ),
    ]
    return " ".join(filter(None, sentences))


def linked_with(places: Sequence[ChatIdentity]) -> str:
    """Return the answer to a person who agreed to a link; without places if a turn is resumed."""
    if not places:
        linked = gettext("Linked: both channels are yours from now on, with all that I keep for you.")
        return f"{linked} {gettext(UNDO)}"
    return f"{gettext('Linked.')} {now_linked(places)}"


def now_linked(places: Sequence[ChatIdentity]) -> str:
    """Return the message to the other places, about the places of the other person."""
    reads = ngettext(
        "{places} now reads and acts for you.",
        "{places} now read and act for you.",
        len(places),
        places=places_in_words(places),
    )
    return f"{reads} {gettext(UNDO)}"


def taken_back(gone: Sequence[ChatIdentity], still: Sequence[ChatIdentity]) -> str:
    """Return the message to each side of a link that was undone; `still`: its other places."""
    sentences = [
        ngettext(
            "Taken back: {places} no longer reads or acts for you, and each has again what it had before.",
            "Taken back: {places} no longer read or act for you, and each has again what it had before.",
            len(gone),
            places=places_in_words(gone),
        ),
        gettext("Tasks made in between are paused; accounts connected in between have to be connected again."),
        gettext("Still with you: {places}.", places=places_in_words(still)) if still else "",
    ]
    return " ".join(filter(None, sentences))
