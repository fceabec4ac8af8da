"""A question to a person, as a tool or an agent puts it, and as it was sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from core.errors import ToolFailed
from core.json_types import Json, JsonObject

MAX_TEXT = 1_000
MAX_CHOICE = 200
MAX_CHOICES = 20
MAX_AT_ONCE = 8
SKIP = -1
"""The choice of a question that is left out."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question: up to 20 `choices`, of which the person takes a single one.

    `free`: their own words count too, as they do if there are no choices. `skip`: they may leave it out. Raises
    `ValueError` for a text over 1,000 characters, and for choices that are empty, twice there, too many or over 200.
    """

    text: str
    choices: Sequence[str] = ()
    free: bool = False
    skip: bool = False

    def __post_init__(self) -> None:
        choices = tuple(choice.strip() for choice in self.choices)
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "text", self.text.strip())
        if not 0 < len(self.text) <= MAX_TEXT:
            raise ValueError(f"A question has 1 to {MAX_TEXT} characters.")
        if len(choices) == 1 or len(choices) > MAX_CHOICES:
            raise ValueError(f"A question has 2 to {MAX_CHOICES} choices, or none.")
        if not all(0 < len(choice) <= MAX_CHOICE for choice in choices):
            raise ValueError(f"A choice has 1 to {MAX_CHOICE} characters.")
        if len({choice.casefold() for choice in choices}) < len(choices):
            raise ValueError("Each choice of a question is there once.")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was sent: `name` is its field's, `labels` are the shown choices, `values` their meanings.

    `keys` are the words that a person may type for each label, and last for leaving the question out.
    """

    name: str
    text: str
    labels: tuple[str, ...] = ()
    values: tuple[Json, ...] = ()
    free: bool = False
    skip: bool = False
    keys: tuple[str, ...] = ()

    @property
    def has_choices(self) -> bool:
        """Return whether there is anything to press."""
        return bool(self.labels) or self.skip

    def value_of(self, choice: int) -> Json:
        """Return the value of a choice: null for `SKIP`."""
        return None if choice == SKIP else self.values[choice]

    def to_json(self) -> JsonObject:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._pairs()}

    def _pairs(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in _NAMES]

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> "Asked":
        known = {name: value for name, value in stored.items() if name in _NAMES}
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in known.items()})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class AskedOf:
    """A question to be shown with buttons: the waiting call that asks it, and the token of its buttons."""

    asked: Asked
    agent_id: str
    token: str


_NAMES = ("name", "text", "labels", "values", "free", "skip", "keys")


def read_asks(stored: object) -> tuple[Asked, ...]:
    """Return the questions of a waiting call as its row holds them."""
    rows = cast("list[Mapping[str, Json]]", stored) if isinstance(stored, list) else []
    return tuple(map(Asked.from_json, rows))


class PersonAsked(ToolFailed):
    """A call has to wait for its person's answers; `context.ask` raises it, and the call runs again with them.

    A tool lets it pass, and does nothing that lasts before it asks.
    """

    def __init__(self, asks: Sequence[Asked]) -> None:
        super().__init__("The person has been asked.")
        self.asks = tuple(asks)
