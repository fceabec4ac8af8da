"""Texts about links: the question before one, and the messages to all places of both people after it."""

from collections.abc import Sequence

from core.people.link_codes import AGREED, shown_code
from core.people.place_names import Place, places_in_words

UNDO = "Was that not you? Write UNLINK within a day, and it is taken back."
LINKED_BEFORE = f"Linked: both channels are yours from now on, with all that I keep for you. {UNDO}"
"""Used where the other place is no longer known, because a turn is resumed."""


def link_question(places: Sequence[Place], code: str, more: str = "") -> str:
    """Return the question to the person who typed a code; `more` is added to it."""
    there = "those places are yours" if len(places) > 1 else "that place is yours"
    return (
        f"This code links you with {places_in_words(places)}: from there, everything that I keep for you can be read "
        f"and I can be told to act for you.{more and ' '}{more} If somebody asked you to write this code, stop here: "
        f"nothing was linked. If {there}, write: LINK {shown_code(code.upper().replace('-', ''))} {AGREED}"
    )


def linked_with(places: Sequence[Place]) -> str:
    """Return the answer to the person who agreed to a link."""
    return f"Linked. {now_linked(places)}"


def now_linked(places: Sequence[Place]) -> str:
    """Return the message to the other places, about the places of the other person."""
    reads = "now read and act" if len(places) > 1 else "now reads and acts"
    return f"{places_in_words(places)} {reads} for you. {UNDO}"


def taken_back(gone: Sequence[Place], still: Sequence[Place]) -> str:
    """Return the message to each side of a link that was undone; `still`: its other places."""
    reads = "no longer read or act" if len(gone) > 1 else "no longer reads or acts"
    text = (
        f"Taken back: {places_in_words(gone)} {reads} for you, and each has again what it had before. Tasks made in "
        "between are paused; accounts connected in between have to be connected again."
    )
    return f"{text} Still with you: {places_in_words(still)}." if still else text
