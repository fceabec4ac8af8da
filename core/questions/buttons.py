"""The buttons of a question: their payload, and the reader of it. Pure."""

import re

from core.ids import PARTITION
from core.language.catalogue import gettext
from core.messaging.messages import CHOICE, Action
from core.questions.types import SKIP, Asked

_BUTTON = re.compile(rf"{CHOICE}(?P<choice>s|[0-9]{{1,2}})\.(?P<token>{PARTITION}[A-Za-z0-9_-]{{22}})")


def actions(asked: Asked, token: str) -> tuple[Action, ...]:
    """Return a button for each choice, and a button that leaves the question out if that is allowed."""
    choices = [Action(label, _button(str(at), token)) for at, label in enumerate(asked.labels)]
    skip = [Action(gettext("Skip"), _button("s", token))] if asked.skip else []
    return (*choices, *skip)


def read_choice(data: str) -> tuple[int, str] | None:
    """Read a button of a question: the number of its choice, or `SKIP`, and the token; None for any other button."""
    match = _BUTTON.fullmatch(data)
    if match is None:
        return None
    return SKIP if match["choice"] == "s" else int(match["choice"]), match["token"]


def _button(choice: str, token: str) -> str:
    return f"{CHOICE}{choice}.{token}"
