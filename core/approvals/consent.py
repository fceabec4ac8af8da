"""Where a tool or an agent asks for a person's consent to one exact action; nothing here approves anything."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.json_types import JsonObject
from core.messaging.messages import FormField

CANCELLED = "User cancelled this action."
"""What the model reads of an action that was not approved (seed 13.4)."""


class ConsentState(StrEnum):
    """What has become of a request for consent."""

    GRANTED = "granted"
    PENDING = "pending"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Described:
    """An action as people see it: `told` are details in the tool's or agent's own words, `seconds` its time."""

    summary: str
    told: JsonObject = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    quiet: frozenset[str] = frozenset()
    """Arguments that are empty unless somebody fills them in, and need not be shown then."""
    form: tuple[FormField, ...] = ()
    seconds: float = 1800.0
    editable: bool = True


@dataclass(frozen=True, slots=True)
class ConsentTo:
    """One exact action. `place` names the call in its turn (`call_place`), `arguments` are all that it runs with.

    `describe` says what a card shows of arguments, beside all of them, and `form` in what they can be changed.
    `check` takes arguments and changes of them, and gives those to run with; it raises `core.errors.ToolError` with
    what is wrong, for the person.
    """

    place: str
    name: str
    arguments: JsonObject
    describe: Callable[[JsonObject], Awaitable[Described]]
    check: Callable[[JsonObject, JsonObject], JsonObject]
    risk: str = ""
    note: str = ""
    """Why consent is asked although it is not always, for the card."""
    asks: str = ""
    """What an agent asks by itself, in its own words; the card shows it in full, and it is bound."""
    state: JsonObject = field(default_factory=dict)
    """What that agent kept meanwhile, which decides what it does then, and is bound too."""
    begun: bool = False
    """Whether it began before, in time: how long it has taken since then says nothing."""


@dataclass(frozen=True, slots=True)
class Consent:
    """Where a consent stands.

    `arguments` are those that were approved, to run with instead of all others. `text` is what the model is told
    where it is refused; `changed` what it is told of changes that the person made, empty without any.
    """

    state: ConsentState
    text: str = ""
    arguments: JsonObject | None = None
    changed: str = ""


class Consents(Protocol):
    """The requests for consent of one turn."""

    async def ask(self, what: ConsentTo) -> Consent:
        """Ask, or tell where an earlier request for the same call stands."""
        ...

    async def ran(self, place: str, outcome: str) -> None:
        """Write down that an approved action has run."""
        ...

    def decided_at(self, prefix: str) -> datetime | None:
        """Return when a call, by the beginning of its place, was approved; None where it was not."""
        ...


def place_order(place: str) -> tuple[int, ...]:
    """Return what sorts places as their calls stand in the turn."""
    return tuple(int(number) for number in re.findall(r"(?<![^/.#:])\d+(?![^/.#:])", place))


def call_place(agent_path: str, step: int, call_index: int, name: str = "") -> str:
    """Name a call in its turn; without its name, the beginning that all its requests have."""
    return f"{agent_path}/" * bool(agent_path) + f"{step}.{call_index}/{name}"
