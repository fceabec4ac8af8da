"""What people read about a link: the question before it, and what every place of both is told after it."""

from collections.abc import Sequence

from core.people.link_codes import AGREED, shown_code
from core.people.place_names import Place, places_in_words

UNDO = "Was that not you? Write UNLINK within a day, and it is taken back."
LINKED_BEFORE = f"Linked: from now on I take both places for you, with all that I keep for you. {UNDO}"
"""Said where the other place is not known any more: a turn was taken up again."""


def link_question(places: Sequence[Place], code: str, more: str = "") -> str:
    """Return the question that is asked where a code was typed; `more`: what else the person should know."""
    there = "those places are yours" if len(places) > 1 else "that place is yours"
    return (
        f"This code links you with {places_in_words(places)}: from there, everything that I keep for you can be read "
        f"and I can be told to act for you.{more and ' '}{more} If somebody asked you to write this code, stop here: "
        f"nothing was linked. If {there}, write: LINK {shown_code(code.upper().replace('-', ''))} {AGREED}"
    )


def linked_with(places: Sequence[Place]) -> str:
    """Return what is said where the link was agreed to."""
    return f"Linked. {now_linked(places)}"


def now_linked(places: Sequence[Place]) -> str:
    """Return what the other places are told, each about those of the other person."""
    reads = "now read and act" if len(places) > 1 else "now reads and acts"
    return f"{places_in_words(places)} {reads} for you. {UNDO}"


def taken_back(gone: Sequence[Place], still: Sequence[Place]) -> str:
    """Return what each side is told when a link was taken back; `still`: its places beside the one that reads this."""
    reads = "no longer read or act" if len(gone) > 1 else "no longer reads or acts"
    text = (
        f"Taken back: {places_in_words(gone)} {reads} for you, and each has again what it had before. Tasks made in "
        "between are paused; accounts connected in between have to be connected again."
    )
    return f"{text} Still with you: {places_in_words(still)}." if still else text
