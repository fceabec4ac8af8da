"""The texts by which an iPhone reacts to a text: SMS has no reactions of its own.

Source: public reports, such as github.com/FossifyOrg/Messages/issues/190; Apple documents none.
"""

from workbench.simulator.base import BadAction

_WORDS = {
    "like": ("Liked", "a like"),
    "dislike": ("Disliked", "a dislike"),
    "love": ("Loved", "a heart"),
    "laugh": ("Laughed at", "a laugh"),
    "emphasize": ("Emphasized", "an exclamation"),
    "question": ("Questioned", "a question mark"),
}


def tapback(reaction: str, quoted: str, *, taken_back: bool) -> str:
    """Return the text of a reaction. Raises `BadAction`."""
    if reaction not in _WORDS:
        raise BadAction(f'"reaction" must be one of {", ".join(_WORDS)}.')
    given, noun = _WORDS[reaction]
    return f"Removed {noun} from “{quoted}”" if taken_back else f"{given} “{quoted}”"
